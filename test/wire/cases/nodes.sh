# Nodes that go away in the middle of a run: a taint that a person sets is a fence, absence is none.
# shellcheck shell=bash disable=SC2154,SC2034,SC2030,SC2031,SC2119,SC2120

# A run whose apply has its engine on Node $node.
applying_on() { # NODE
    node=$1
    must POST /api/v1/nodes "{\"metadata\": {\"name\": \"$node\"}}"
    operator_ensure
    environment
    specification web
    await_run 'a run' '. != null'
    plan_it
    pod_comes apply
    must POST "$(core "pods/$pod/binding")" "$(jq -n --arg n "$pod" --arg node "$node" '{metadata: {name: $n}, target: {kind: "Node", name: $node}}')"
    pod_status Running "$RUNNING" "$RUNNING"
    runner_start
}

node_is() { # True, False or Unknown
    must PATCH "/api/v1/nodes/$node/status" "{\"status\": {\"conditions\": [{\"type\": \"Ready\", \"status\": \"$1\", \"reason\": \"Test\", \"lastTransitionTime\": \"2026-01-02T03:04:05Z\", \"lastHeartbeatTime\": \"2026-01-02T03:04:05Z\"}]}}"
}

fenced() {
    applying_on "off-$ns"
    node_is True
    must PATCH "/api/v1/nodes/$node" '{"spec": {"taints": [{"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"}]}}'
    sleep 1
    api GET "$(runs "$run")"
    equal 'a node whose kubelet is alive is not fenced by the taint' Applying "$(query .status.state)"
    # The run is woken by the node alone: nothing else changes.
    node_is Unknown
    await_state Failed 5
    equal 'its class' Lost "$(query .status.failure.class)"
    contains 'and why' "node $node is marked out of service" "$(query .status.failure.message)"
    await 'the claim is free' "$(claims)" "[.items[] | select(.spec.holderIdentity == \"$spec_uid\" and .metadata.annotations[\"runtimecloud.io/engine-pod-uid\"] != null)] == []"
    # The kubelet is not there to end it; Kubernetes' own collector deletes it by force.
    api DELETE "$(core "pods/$pod")" '{"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}'
    await_gone 'the pod is let go' "$(core "pods/$pod")"
    must DELETE "/api/v1/nodes/$node"
}

gone() {
    applying_on "gone-$ns"
    must DELETE "/api/v1/nodes/$node"
    sleep 1
    api GET "$(runs "$run")"
    equal 'a Node object that is gone proves nothing' Applying "$(query .status.state)"
    api GET "$(core "pods/$pod")"
    contains 'its pod is held' runtimecloud.io/engine "$(query '.metadata.finalizers | join(" ")')"
    pod_ends 143
    await_state Failed
}

scenario 'a node is fenced in the middle of an apply' fenced
scenario 'a Node object is deleted in the middle of an apply' gone
