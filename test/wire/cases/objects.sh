# Objects that are not what they should be: planted, lost, restored, deleted in every way.
# shellcheck shell=bash disable=SC2154,SC2034,SC2030,SC2031,SC2119,SC2120

# A run whose pod of PHASE has an engine.
engine_of() { # PHASE
    operator_ensure
    environment
    specification web
    await_run 'a run' '. != null'
    [ "$1" = plan ] || plan_it
    pod_comes "$1"
    pod_runs
    runner_start
}

twelve() { tr -d - <<<"$run_uid" | cut -c1-12; }

# The apply Job is foreseeable as soon as the run exists. plant_apply_job JQ: what we would make, with a
# container more.
plant_apply_job() {
    api GET "$(jobs "$job")"
    must POST "$(jobs)" "$(jq --arg n "rco-$(twelve)-a" "{apiVersion, kind, metadata: {name: \$n, labels: (.metadata.labels | .[\"runtimecloud.io/phase\"] = \"apply\"), annotations: .metadata.annotations},
        spec: (.spec | del(.selector) | .suspend = true | .template.metadata.labels = {\"runtimecloud.io/run-uid\": \"x\"} | .template.spec.containers += [{name: \"extra\", image: \"evil\"}])} | $1" <<<"$body")"
}

# Somebody looks at it: it is decided again.
poke() { must PATCH "$1" "{\"metadata\": {\"annotations\": {\"poked\": \"$RANDOM\"}}}"; }

planted_job() {
    engine_of plan
    plant_apply_job '.metadata.labels = null'
    end_of_plan
    await_state Applying
    await 'the run is stalled' "$(runs "$run")" 'any(.status.conditions[]?; .type == "Stalled" and .status == "True" and .reason == "ForeignObject")'
    contains 'names it' "Job rco-$(twelve)-a in namespace $ns was not made for this run" "$(condition Stalled)"
    equal 'nothing is recorded as its Job' plan "$(query .status.engine.phase)"
    event 'and tells' ProvisioningRun "$run" ForeignObject 'Find out who put it there'
    must DELETE "$(jobs "rco-$(twelve)-a")?propagationPolicy=Background"
    await_gone 'the planted Job is deleted' "$(jobs "rco-$(twelve)-a")"
    poke "$(runs "$run")"
    apply_it
    await_state Applied
    equal 'not stalled any more' 'null null null' "$(condition Stalled)"
}

end_of_plan() {
    small_artifacts
    runner_receipt
    pod_ends
}

# Labels, cause and the run's uid prove nothing: anybody can write them.
planted_job_with_labels() {
    local planted
    engine_of plan
    plant_apply_job .
    planted=$(query .metadata.uid)
    end_of_plan
    await 'the run is stalled' "$(runs "$run")" 'any(.status.conditions[]?; .type == "Stalled" and .status == "True" and .reason == "ForeignObject")'
    equal 'it waits for the name' Applying "$(query .status.state)"
    contains 'names it' "Job rco-$(twelve)-a in namespace $ns was not made for this run" "$(condition Stalled)"
    contains 'and what to do' "kubectl delete jobs rco-$(twelve)-a -n $ns" "$(condition Stalled)"
    api GET "$(jobs "rco-$(twelve)-a")"
    equal 'it is still there' "$planted null" "$(query '"\(.metadata.uid) \(.metadata.deletionTimestamp)"')"
    await_gone 'our own plan Job is deleted all the same' "$(jobs "rco-$(twelve)-p")"
    must DELETE "$(jobs "rco-$(twelve)-a")?propagationPolicy=Background"
    pod_comes apply
    equal 'the Job that applies is our own' engine "$(query '[.spec.containers[].name] | join(",")')"
}

# A finished run: what somebody puts under a name of its Jobs is theirs.
planted_job_after_the_end() {
    engine_of plan
    end_of_plan
    apply_it
    await_state Applied
    must POST "$(jobs)" "$(jq -n --arg n "rco-$(twelve)-a" --arg uid "$run_uid" --arg run "$run" '{apiVersion: "batch/v1", kind: "Job",
        metadata: {name: $n, labels: {"runtimecloud.io/run": $run, "runtimecloud.io/run-uid": $uid}},
        spec: {suspend: true, template: {spec: {restartPolicy: "Never", containers: [{name: "x", image: "x"}]}}}}')"
    local planted
    planted=$(query .metadata.uid)
    sleep 3
    api GET "$(jobs "rco-$(twelve)-a")"
    equal 'it stays' "$planted null" "$(query '"\(.metadata.uid) \(.metadata.deletionTimestamp)"')"
}

planted_anchor() {
    engine_of plan
    local first=$run first_uid=$run_uid first_pod=$pod
    specification second
    await_run 'a run that waits' '.status.reason == "VolumeBusy"'
    must POST "$(core configmaps)" "{\"metadata\": {\"name\": \"rco-$(twelve)\"}, \"data\": {\"run\": \"mine\"}}"
    local second=$run second_uid=$run_uid
    run=$first run_uid=$first_uid spec=web pod=$first_pod
    runner_receipt '.result = "Failed" | .failure = {class: "Auth", message: "x"} | del(.planFileDigest)'
    pod_ends
    run=$second run_uid=$second_uid
    await 'the run is stalled' "$(runs "$run")" 'any(.status.conditions[]?; .type == "Stalled" and .status == "True" and .reason == "ForeignObject")'
    contains 'names it' "ConfigMap rco-$(twelve) in namespace $ns was not made for this run" "$(condition Stalled)"
    equal 'no Job' 0 "$(count "$(jobs)?labelSelector=runtimecloud.io/run-uid=$run_uid")"
    must DELETE "$(core "configmaps/rco-$(twelve)")"
    poke "$(runs "$run")"
    await 'it goes on' "$(runs "$run")" '.status.engine.jobUid != null'
}

planted_run() {
    operator_ensure
    environment
    specification web '.spec.suspend = true'
    await_spec 'suspended' Suspended True
    local name="web-${spec_uid:0:5}-v1-b1"
    as=$OPERATOR_USER must POST "$(runs)" "$(jq --arg ns "$ns" --arg n "$name" '.metadata |= {name: $n, namespace: $ns, labels: .labels}' "$ROOT/test/chart/objects/run.json")"
    must PATCH "$(specs web)" '{"spec": {"suspend": false}}'
    await_spec 'something else under the name of the run' Stalled True ForeignObject
    contains 'is named' "ProvisioningRun $name exists and is not the one this specification would make" "$(condition Stalled)"
    equal 'and nothing is started' 0 "$(count "$(jobs)")"
    must DELETE "$(runs "$name")"
    await 'then its own run takes the name' "$(runs "$name")" ".spec.specificationId == \"$spec_uid\""
    run_it
    equal 'and applies' "$name" "$run"
}

planted_secrets() {
    operator_ensure
    local k
    for k in 1 2; do must POST "$(core secrets)" "{\"metadata\": {\"name\": \"rco-dev-pass-$k\"}, \"stringData\": {\"passphrase\": \"known to the planter\"}}"; done
    environment
    equal 'a planted passphrase is never used' rco-dev-pass-3 "$(query .status.passphrase.name)"
    api GET "$(core secrets/rco-dev-pass-3)"
    local uid
    uid=$(query .metadata.uid)
    api GET "$(envs dev)"
    equal 'its uid is recorded' "$uid" "$(query .status.passphrase.uid)"
}

taken_secrets() {
    operator_ensure
    local k
    for k in 1 2 3 4 5; do must POST "$(core secrets)" "{\"metadata\": {\"name\": \"rco-dev-hmac-$k\"}}"; done
    must POST "$(envs)" "$(object environment)"
    await 'five taken names need a person' "$(envs dev)" 'any(.status.conditions[]?; .type == "Stalled" and .reason == "SecretsTaken")'
    contains 'told which' 'Secrets rco-dev-hmac-1 to rco-dev-hmac-5 all exist' "$(condition Stalled)"
}

planted_volume() {
    operator_ensure
    must POST "$(core persistentvolumeclaims)" '{"metadata": {"name": "rco-state-dev"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}'
    must POST "$(envs)" "$(object environment)"
    await 'a claim of somebody else' "$(envs dev)" 'any(.status.conditions[]?; .type == "Stalled" and .reason == "StateFound")'
    contains 'says what to do' 'set spec.backend.claimName to rco-state-dev and spec.backend.passphraseSecretRef' "$(condition Stalled)"
    event 'as an Event too' Environment dev StateFound
    specification web
    await_spec 'no run on it' Ready False EnvironmentNotReady
    equal 'none' 0 "$(count "$(runs)")"
    must DELETE "$(core persistentvolumeclaims/rco-state-dev)"
    await 'without it, one is made' "$(envs dev)" 'any(.status.conditions[]?; .type == "Ready" and .status == "True")'
}

second_specification() {
    operator_ensure
    environment
    specification web '.spec.stackName = "shared"'
    run_it
    specification other '.spec.stackName = "shared"'
    local other_uid=$spec_uid
    await_run 'a run' '. != null'
    pod_comes plan
    pod_runs
    insist "$PATIENCE" POST start "$(start_body)"
    answers 'a second specification on a stack never starts' 409 "stack web/shared belongs to DeploymentSpecification $ns/web"
    await_state Failed
    equal 'its run has failed' 'Config StackClaimed' "$(query '"\(.status.failure.class) \(.status.reason)"')"
    pod_ends 1
    await_spec 'it is stalled' Stalled True StackClaimed
    event 'and told' DeploymentSpecification other StackClaimed 'make this one anew with another spec.stackName'
    must DELETE "$(specs web)"
    await_gone 'the first goes' "$(specs web)"
    spec=other spec_uid=$other_uid
    await_run 'it goes on by itself' '.metadata.name | endswith("-b2")'
    run_it
    ok 'on the stack that is free'
}

second_specification_elsewhere() {
    operator_ensure
    local backend=".spec.backend = {url: \"postgres://db.example.com/$ns\", passphraseSecretRef: {name: \"pass\"}}" first=$ns
    environment "$backend"
    specification web
    run_it
    ns=$first-b
    namespace "$ns"
    environment ".spec.backend = {url: \"postgres://DB.example.com/$first/\", passphraseSecretRef: {name: \"pass\"}}"
    specification web
    await_run 'a run in another namespace' '. != null'
    pod_comes plan
    pod_runs
    insist "$PATIENCE" POST start "$(start_body)"
    answers 'the same stack in another namespace, written differently' 409 "belongs to DeploymentSpecification $first/web"
    await_spec 'it is stalled' Stalled True StackClaimed
}

state_lost() {
    operator_ensure
    environment
    specification web
    run_it
    must DELETE "$(core persistentvolumeclaims/rco-state-dev)"
    await 'a lost state is said' "$(envs dev)" 'any(.status.conditions[]?; .type == "Stalled" and .reason == "StateLost")'
    contains 'and what would happen without it' 'programs would deploy everything a second time' "$(condition Stalled)"
    event 'as an Event' Environment dev StateLost
    must PATCH "$(specs web)" '{"metadata": {"annotations": {"runtimecloud.io/run-now": "now"}}}'
    await_spec 'no run meanwhile' Ready False EnvironmentNotReady
    equal 'none' 1 "$(count "$(runs)")"
    api GET "$(core persistentvolumeclaims/rco-state-dev)"
    equal 'it is never made anew' 404 "$code"
    must POST "$(core persistentvolumeclaims)" '{"metadata": {"name": "restored"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}'
    must PATCH "$(envs dev)" '{"spec": {"backend": {"claimName": "restored", "passphraseSecretRef": {"name": "rco-dev-pass-1"}}}}'
    await 'a person names the restored one' "$(envs dev)" 'any(.status.conditions[]?; .type == "Ready" and .status == "True") and .status.stateClaim.name == "restored"'
    await_run 'then it goes on' '.metadata.name | endswith("-b2")'
    equal 'on the restored claim' restored "$(query .spec.snapshot.backend.claimName)"
}

environment_again() {
    operator_ensure
    environment
    specification web
    run_it
    must DELETE "$(envs dev)"
    await 'in use' "$(envs dev)" 'any(.status.conditions[]?; .type == "Ready" and .reason == "InUse")'
    contains 'says by whom' '1 DeploymentSpecification(s) name this Environment, the first is web' "$(condition Ready)"
    await_spec 'the specification knows' Ready False EnvironmentDeleting
    must DELETE "$(specs web)"
    await_gone 'it goes with its last user' "$(envs dev)"
    event 'and says where the state is' Environment dev StateRetained rco-state-dev
    must POST "$(envs)" "$(object environment)"
    await 'one of the same name does not take it over' "$(envs dev)" 'any(.status.conditions[]?; .type == "Stalled" and .reason == "StateFound")'
    must PATCH "$(envs dev)" '{"spec": {"backend": {"claimName": "rco-state-dev", "passphraseSecretRef": {"name": "rco-dev-pass-1"}}}}'
    await 'unless a person says so' "$(envs dev)" 'any(.status.conditions[]?; .type == "Ready" and .status == "True")'
    specification web
    run_it
}

# From a backup: the same objects, under other uids. restore OBJECT
restore() { as=$OPERATOR_USER must POST "$(runs)" "$(jq '.metadata |= {name, namespace, labels, finalizers}' <<<"$1")"; }

restored_without_status() {
    operator_ensure
    environment
    specification web
    run_it
    await_spec 'applied' Ready True Succeeded
    api GET "$(runs "$run")"
    local copy=$body
    must DELETE "$(runs "$run")"
    await_gone 'gone' "$(runs "$run")"
    restore "$copy"
    await 'it is inert' "$(runs "$run")" 'any(.status.conditions[]?; .type == "Stalled" and .reason == "Restored")'
    sleep 1
    api GET "$(runs "$run")"
    equal 'it has no state' null "$(query .status.state)"
    equal 'nothing runs for it' 0 "$(count "$(jobs)")"
    must PATCH "$(specs web)" '{"metadata": {"annotations": {"runtimecloud.io/run-now": "now"}}}'
    await_run 'the specification goes on beside it' '.metadata.name | endswith("-b2")'
    changes=0 run_it
    must DELETE "$(runs "${run%2}1")"
    await_gone 'it can be deleted' "$(runs "${run%2}1")"
    # Its specification restored, too: another uid, so none of its runs is its own.
    api GET "$(specs web)"
    local spec_copy=$body
    api GET "$(runs "$run")"
    copy=$body
    must DELETE "$(specs web)"
    await_gone 'gone' "$(specs web)"
    must DELETE "$(runs "$run")"
    await_gone 'gone' "$(runs "$run")"
    restore "$copy"
    must POST "$(specs)" "$(jq '.metadata |= {name, namespace} | del(.status)' <<<"$spec_copy")"
    spec_uid=$(query .metadata.uid)
    await 'a run of the specification that was' "$(runs "$run")" 'any(.status.conditions[]?; .type == "Stalled" and .reason == "Restored")'
    await_run 'the restored specification makes its own' ".metadata.name | startswith(\"web-${spec_uid:0:5}-v1-b1\")"
}

# With the status that they had; nobody may look at them before it is there.
restored_with_status() {
    engine_of apply
    end_of_plan
    await_state Applied
    api GET "$(runs "$run")"
    local copy=$body name=$run state
    must DELETE "$(runs "$name")"
    await_gone 'gone' "$(runs "$name")"
    for state in Failed Planning; do
        operator_stop main
        restore "$copy"
        must PATCH "$(runs "$name")/status" '{"status": {"state": "Pending", "provisioningRunId": "00000000-0000-4000-8000-000000000000"}}'
        must PATCH "$(runs "$name")/status" "{\"status\": {\"state\": \"$state\"}}"
        operator_start main
        if [ $state = Planning ]; then
            await 'a run that was under way is inert' "$(runs "$name")" 'any(.status.conditions[]?; .type == "Stalled" and .reason == "Restored")'
        fi
        sleep 1
        api GET "$(runs "$name")"
        equal 'it stays what it was' "$state" "$(query .status.state)"
        equal 'nothing runs for it' 0 "$(count "$(jobs)")"
        must DELETE "$(runs "$name")"
        await_gone 'it can be deleted' "$(runs "$name")"
    done
    await_spec 'the specification is what it was' Ready True Succeeded
}

foreground_job_plan() {
    engine_of plan
    must DELETE "$(jobs "$job")" '{"kind": "DeleteOptions", "apiVersion": "batch/v1", "propagationPolicy": "Foreground"}'
    await 'the pod is told' "$(core "pods/$pod")" '.metadata.deletionTimestamp != null'
    pod_ends 137
    await_state Failed
    equal 'a plan that was taken away is lost' Lost "$(query .status.failure.class)"
    await_gone 'the pod goes' "$(core "pods/$pod")"
    await_gone 'the Job goes' "$(jobs "$job")"
    await 'the claim is free' "$(claims)" "[.items[] | select(.spec.holderIdentity == \"$spec_uid\" and .metadata.annotations[\"runtimecloud.io/engine-pod-uid\"] != null)] == []"
}

foreground_job_apply() {
    engine_of apply
    must DELETE "$(jobs "$job")" '{"kind": "DeleteOptions", "apiVersion": "batch/v1", "propagationPolicy": "Foreground"}'
    await 'the pod is told' "$(core "pods/$pod")" '.metadata.deletionTimestamp != null'
    sleep 1
    api GET "$(runs "$run")"
    equal 'the apply counts as going on' Applying "$(query .status.state)"
    small_artifacts
    runner_receipt
    pod_ends
    await_state Applied
    await_gone 'the pod goes' "$(core "pods/$pod")"
    await_gone 'the Job goes' "$(jobs "$job")"
}

foreground_run() {
    engine_of apply
    must DELETE "$(runs "$run")" '{"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Foreground"}'
    must DELETE "$(specs web)" '{"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Foreground"}'
    sleep 1
    api GET "$(core "pods/$pod")"
    equal 'the engine is left alone' null "$(query .metadata.deletionTimestamp)"
    small_artifacts
    runner_receipt
    pod_ends
    await_gone 'the run goes' "$(runs "$run")"
    await_gone 'the specification goes' "$(specs web)"
}

# After kubectl delete --force an engine can run on: the object stays until its end is known.
force_deleted() {
    engine_of apply
    must DELETE "$(core "pods/$pod")" '{"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}'
    sleep 1
    api GET "$(core "pods/$pod")"
    equal 'the pod is still there' true "$(query '.metadata.finalizers | index("runtimecloud.io/engine") != null')"
    api GET "$(runs "$run")"
    equal 'the apply goes on' Applying "$(query .status.state)"
    small_artifacts
    runner_receipt
    pod_ends
    await_state Applied
    await_gone 'then it goes' "$(core "pods/$pod")"
}

# Somebody takes even the finalizer away: nobody knows whether the engine runs on.
finalizer_taken() {
    engine_of apply
    must PATCH "$(core "pods/$pod")" '{"metadata": {"finalizers": null}}'
    must DELETE "$(core "pods/$pod")" '{"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}'
    await_gone 'the pod is gone' "$(core "pods/$pod")"
    await_state Failed
    contains 'the run is lost, and may have been applied' "Lost pod $pod, in which the engine was started, is gone" "$(query '"\(.status.failure.class) \(.status.failure.message)"')"
    await 'the stack stays locked' "$(runs "$run")" 'any(.status.conditions[]?; .type == "Stalled" and .reason == "EngineUnknown")'
    local remedy
    remedy=$(condition Stalled)
    contains 'with the remedy' 'kubectl delete lease rco-claim-' "$remedy"
    must PATCH "$(specs web)" '{"metadata": {"annotations": {"runtimecloud.io/run-now": "now"}}}'
    await_run 'another run' '.metadata.name | endswith("-b2")'
    pod_comes plan
    pod_runs
    gateway POST start "$(start_body)"
    answers 'which does not start' 503 'waits for another engine on this stack'
    # As a person would, from the sentence.
    remedy=$(sed -E 's/.*kubectl delete lease ([^ ]+) -n ([^ ]+).*/\1/' <<<"$remedy")
    must DELETE "$(claims "$remedy")"
    runner_start
    ok 'until a person has made sure'
}

namespace_deleted() {
    engine_of apply
    must DELETE "/api/v1/namespaces/$ns"
    await 'terminating' "/api/v1/namespaces/$ns" '.status.phase == "Terminating"'
    sleep 1
    api GET "$(core "pods/$pod")"
    check 'the pod is held until its engine has ended' [ "$code" = 200 ]
    pod_ends 143
    await_gone 'the namespace goes' "/api/v1/namespaces/$ns" 60
    equal 'no claim is left behind' 0 "$(count "$(claims)" ".spec.holderIdentity == \"$spec_uid\"")"
}

namespace_deleted_at_rest() {
    operator_ensure
    environment
    specification web
    run_it
    must DELETE "/api/v1/namespaces/$ns"
    await_gone 'the namespace goes' "/api/v1/namespaces/$ns" 60
    equal 'no claim is left behind' 0 "$(count "$(claims)" ".spec.holderIdentity == \"$spec_uid\"")"
}

scenario 'a planted Job' planted_job
scenario 'a planted Job with our labels' planted_job_with_labels
scenario 'a planted Job under a name of a finished run' planted_job_after_the_end
scenario 'a planted anchor' planted_anchor
scenario 'a planted run' planted_run
scenario 'planted Secrets' planted_secrets
scenario 'all names of Secrets are taken' taken_secrets
scenario 'a planted volume claim' planted_volume
scenario 'a second specification on a stack' second_specification
scenario 'the same from another namespace' second_specification_elsewhere
scenario 'the state claim is lost' state_lost
scenario 'an Environment is deleted and made again' environment_again
scenario 'runs restored without their status' restored_without_status
scenario 'runs restored with their status' restored_with_status
scenario 'foreground deletion of a Job that plans' foreground_job_plan
scenario 'foreground deletion of a Job that applies' foreground_job_apply
scenario 'foreground deletion of run and specification' foreground_run
scenario 'a pod is force-deleted' force_deleted
scenario 'a pod is torn away' finalizer_taken
scenario 'a namespace is deleted while it applies' namespace_deleted
scenario 'a namespace is deleted at rest' namespace_deleted_at_rest
