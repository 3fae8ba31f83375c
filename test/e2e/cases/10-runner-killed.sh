# The runner's pod is killed in the middle of an apply: the run says that something may have been applied, and the
# next run plans, clears the lock of the dead pod, and applies.
# shellcheck shell=bash disable=SC2154,SC2034
no_pods() { [ -z "$(k get jobs,pods -l "app.kubernetes.io/managed-by=runtime-cloud,runtimecloud.io/specification=$1" -o name)" ]; }
killed() { # WHAT CLASSES COMMAND...: the command gets the pod's name
    local name=$1 what=$1 classes=$2 run pod again gate
    shift 2
    environment "$name" >/dev/null
    commit=$(slow_program "$name" "$name")
    sed -i "s/{name: slow, namespace/{name: slow-$name, namespace/; s/app: slow/app: slow-$name/g" "$dir/$name/Pulumi.yaml"
    commit=$(commit "$name")
    specification "$name" "$name" "$commit" "{\"environmentId\": \"$name\"}" >/dev/null
    gate=slow-$name
    in_apply "$name" || return
    pod=$(get "prun/$run" .status.engine.podName)
    "$@" "$pod" >/dev/null 2>&1
    equal "$what: the run ends Failed" Failed "$(ended "$run")"
    matches "$what: class" "^($classes)\$" "$(get "prun/$run" .status.failure.class)"
    # A receipt knows what was done; without one nobody does.
    matches "$what: it says what may have been applied" '(part of it was|may have been) applied' "$(condition "prun/$run" Ready message)"
    matches "$what: and so does status" 'steps were done|may have been applied|shown by the next plan' "$(rc status "$name" -n "$ns")"
    note "$what: $(get "prun/$run" .status.failure)"
    check "$what: the pod and its Job go" until_true 90 no_pods "$name"
    equal "$what: the run stands alone until somebody asks" 1 "$(runs_of "$name")"
    keep_gate_open "$gate"
    run_now "$name"
    again=$(run_of "$name" 2)
    applies "$what: the next run plans and applies" "$again"
    kill "$gate_keeper"
    equal "$what: the next run made a plan first" 'a p' "$(jobs_made "$again" | sort | xargs)"
    equal "$what: what was deployed is there once" 1 "$(k get deployment "slow-$name" -o jsonpath='{.status.readyReplicas}')"
}
engine_pids() { # POD
    container_pids "$(k get pod "$1" -o json | jq -r '.status.containerStatuses[] | select(.name == "engine").containerID')"
}
delete_pod() { k delete pod "$1" --wait=false; }
force_delete() { k delete pod "$1" --grace-period=0 --force --wait=false; }
evict() {
    kubectl create --raw "/api/v1/namespaces/$ns/pods/$1/eviction" -f - <<JSON
{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "$1", "namespace": "$ns"}}
JSON
}
kill_engine() {
    # shellcheck disable=SC2046
    kill -KILL $(engine_pids "$1")
}
killed deleted 'Cancelled' delete_pod
killed forced 'Lost|Cancelled' force_delete
killed evicted 'Cancelled' evict
killed engine 'Lost' kill_engine
