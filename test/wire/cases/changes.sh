# What changes a specification, its runs and what they refer to, while they are in every state.
# shellcheck shell=bash disable=SC2154,SC2034,SC2030,SC2031,SC2119,SC2120

OTHER_COMMIT=bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb

# A specification whose run has an engine under way in PHASE.
run_with_engine() { # PHASE [NAME]
    operator_ensure
    api GET "$(envs dev)"
    [ "$code" = 200 ] || environment
    specification "${2:-web}"
    await_run 'a run' '. != null'
    [ "$1" = plan ] || plan_it
    pod_comes "$1"
    pod_runs
    runner_start
}

# The rest of a phase whose engine was started.
end_phase() { # [JQ-OF-RECEIPT]
    small_artifacts
    runner_receipt "${1:-.}"
    pod_ends
}

no_changes() {
    operator_ensure
    environment
    specification web
    changes=0 run_it
    equal 'a plan without changes ends as NoChanges' NoChanges "$(query .status.reason)"
    equal 'with an apply receipt of nothing' NoChanges "$(query .status.applyReceipt.result)"
    await_gone 'the Job of the plan goes' "$(jobs "$job")"
    equal 'no apply Job was ever made' 0 "$(audit ".verb == \"create\" and .objectRef.resource == \"jobs\" and .objectRef.namespace == \"$ns\" and (.objectRef.name | endswith(\"-a\"))" | grep -c .)"
    await_spec 'the specification is ready' Ready True Succeeded
}

outputs_only() {
    operator_ensure
    environment
    specification web
    await_run 'a run' '. != null'
    changes=0 plan_it '.outputsChanged = true'
    changes=0 apply_it
    await_state Applied
    equal 'changed outputs alone are applied' Succeeded "$(query .status.applyReceipt.result)"
}

new_version() {
    operator_ensure
    environment
    specification web
    run_it
    local first=$run
    must PATCH "$(specs web)" "{\"spec\": {\"programVersion\": \"$OTHER_COMMIT\"}}"
    await_run 'a new version makes a run' '.spec.specificationVersion == 2'
    equal 'of the new commit' $OTHER_COMMIT "$(query .spec.snapshot.program.commit)"
    plan_it
    apply_it
    await_state Applied
    await_spec 'ready' Ready True Succeeded
    contains 'the specification says version and commit' 'version 2 is applied (commit bbbbbbbbbbbb' "$(condition Ready)"
    equal 'applied version' 2 "$(query .status.appliedVersion)"
    api GET "$(runs "$first")"
    equal 'the old version stays readable' 'Applied aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' "$(query '"\(.status.state) \(.spec.snapshot.program.commit)"')"
    equal 'two runs' 2 "$(count "$(runs)")"
}

suspend_and_resume() {
    run_with_engine plan
    must PATCH "$(specs web)" '{"spec": {"suspend": true}}'
    await_state Cancelled
    equal 'suspension stops a plan' Suspended "$(query .status.reason)"
    gateway POST heartbeat "{\"runUid\": \"$run_uid\"}"
    equal 'the runner is told' Cancel "$(query .action)"
    pod_ends 1
    await_spec 'the specification says so' Suspended True Suspended
    contains 'and is not ready' 'False Suspended version 1 is not applied' "$(condition Ready)"
    must PATCH "$(specs web)" '{"spec": {"suspend": false}}'
    await_run 'it goes on with a new run' '.metadata.name | endswith("-v1-b2")'
    plan_it
    apply_it
    await_state Applied
    await_spec 'ready' Ready True Succeeded
    equal 'suspension made no version' 1 "$(query .status.appliedVersion)"
}

suspended_from_the_start() {
    operator_ensure
    environment
    specification web '.spec.suspend = true'
    await_spec 'it says that it is suspended' Suspended True Suspended
    equal 'no run' 0 "$(count "$(runs)")"
}

run_now() {
    operator_ensure
    environment
    specification web
    run_it
    await_spec 'ready' Ready True Succeeded
    must PATCH "$(specs web)" '{"metadata": {"annotations": {"runtimecloud.io/run-now": "once"}}}'
    await_run 'the annotation makes a run' '.metadata.name | endswith("-v1-b2")'
    changes=0 plan_it
    await_state Applied
    await 'the request is recorded' "$(specs web)" '.status.handledRequests["run-now"] == "once"'
    must PATCH "$(specs web)" '{"metadata": {"annotations": {"unrelated": "x"}}}'
    sleep 1
    equal 'the same request makes no other run' 2 "$(count "$(runs)")"
}

config_changes() {
    operator_ensure
    environment
    specification web '.spec.configRefs = [{key: "replicas", configMapKeyRef: {name: "web", key: "replicas"}}]'
    await_spec 'a missing ConfigMap is said' Ready False ReferenceMissing
    contains 'which one and what to do' 'ConfigMap web (spec.configRefs, replicas) does not exist' "$(condition Ready)"
    event 'by an Event too' DeploymentSpecification web ReferenceMissing 'create or label it'
    must POST "$(core configmaps)" '{"metadata": {"name": "web"}, "data": {"replicas": "1"}}'
    sleep 0.5
    equal 'one without our label does not count' 0 "$(count "$(runs)")"
    must PATCH "$(core configmaps/web)" '{"metadata": {"labels": {"runtimecloud.io/environment": "dev"}}}'
    run_it
    local hash
    hash=$(query '.spec.snapshot.configs[0].valueHash')
    equal 'the value is known by its hash alone' "$(printf 1 | sha256sum | cut -d' ' -f1)" "$hash"
    must PATCH "$(core configmaps/web)" '{"data": {"unrelated": "x"}}'
    sleep 0.5
    equal 'another key makes no run' 1 "$(count "$(runs)")"
    must PATCH "$(core configmaps/web)" '{"data": {"replicas": "2"}}'
    await_run 'a changed value makes a run of the same version' '.metadata.name | endswith("-v1-b2")'
    plan_it
    apply_it
    await_state Applied
    must DELETE "$(core configmaps/web)"
    await_spec 'a ConfigMap that goes is said' Ready False ReferenceMissing
    equal 'what was applied stays recorded' 1 "$(query .status.appliedVersion)"
}

run_deleted_while_planning() {
    run_with_engine plan
    must DELETE "$(runs "$run")"
    await_state Cancelled
    gateway POST heartbeat "{\"runUid\": \"$run_uid\"}"
    equal 'the runner is told' Cancel "$(query .action)"
    pod_ends 1
    await_gone 'the run goes' "$(runs "$run")"
    await_gone 'its anchor goes' "$(core "configmaps/rco-$(tr -d - <<<"$run_uid" | cut -c1-12)")"
    await_spec 'the specification says what happened' Stalled True Cancelled
    contains 'and how to go on' 'runtimecloud.io/run-now' "$(condition Stalled)"
    equal 'no run is made by itself' 0 "$(count "$(runs)")"
    must PATCH "$(specs web)" '{"metadata": {"annotations": {"runtimecloud.io/run-now": "again"}}}'
    run_it
    contains 'its number is never used again' '-v1-b2' "$run"
}

run_deleted_while_pending() {
    run_with_engine plan first
    local first=$run first_uid=$run_uid first_pod=$pod
    specification second
    await_run 'a second run waits' '.status.reason == "VolumeBusy"'
    contains 'and says for whom' "waits for run $first, which has the state volume rco-state-dev" "$(condition Ready)"
    must DELETE "$(runs "$run")"
    await_gone 'a waiting run goes at once' "$(runs "$run")"
    run=$first run_uid=$first_uid pod=$first_pod
    end_phase
    spec=first
    await_state Applying
}

run_deleted_while_applying() {
    run_with_engine apply
    must DELETE "$(runs "$run")"
    sleep 1
    gateway POST heartbeat "{\"runUid\": \"$run_uid\"}"
    equal 'an apply goes on' Continue "$(query .action)"
    api GET "$(runs "$run")"
    equal 'its state stays' Applying "$(query .status.state)"
    end_phase
    await_gone 'the run goes after its end' "$(runs "$run")"
    await_spec 'the specification has recorded it' Ready True Succeeded
    equal 'as applied' "1 $run_uid" "$(query '"\(.status.appliedVersion) \(.status.lastRun.uid)"')"
    sleep 1
    equal 'and makes no other' 0 "$(count "$(runs)")"
}

specification_deleted_while_planning() {
    run_with_engine plan
    must DELETE "$(specs web)"
    await_state Cancelled
    equal 'the plan is stopped' SpecificationDeleted "$(query .status.reason)"
    await_spec 'it says what it waits for' Ready False DeletionWaits
    contains 'the engine' "until the engine in pod $pod has ended" "$(condition Ready)"
    pod_ends 1
    await_gone 'the specification goes when the engine has ended' "$(specs web)"
    equal 'its claim is given back' 0 "$(count "$(claims)?labelSelector=runtimecloud.io/specification=web" ".spec.holderIdentity == \"$spec_uid\"")"
    await 'the run stays readable' "$(runs "$run")" '.status.state == "Cancelled" and .metadata.deletionTimestamp == null'
    must DELETE "$(runs "$run")"
    await_gone 'until someone deletes it' "$(runs "$run")"
}

specification_deleted_while_applying() {
    run_with_engine apply
    must DELETE "$(specs web)"
    await_spec 'it says what it waits for' Ready False DeletionWaits
    contains 'the run that applies' "deletion waits for run $run; a run that applies goes on to its end" "$(condition Ready)"
    gateway POST heartbeat "{\"runUid\": \"$run_uid\"}"
    equal 'the apply goes on' Continue "$(query .action)"
    end_phase
    await_state Applied
    await_gone 'then the specification goes' "$(specs web)"
    event 'and says that what was deployed stays' DeploymentSpecification web Retained 'version 1 stays deployed'
}

recreated() {
    operator_ensure
    environment
    specification web
    run_it
    local old=$run old_uid=$spec_uid
    must DELETE "$(specs web)"
    await_gone 'it goes' "$(specs web)"
    specification web
    check 'another uid' [ "$spec_uid" != "$old_uid" ]
    run_it
    check 'another run' [ "$run" != "$old" ]
    await_spec 'it is applied' Ready True Succeeded
    api GET "$(runs "$old")"
    equal 'the old run is what it was' "Applied $old_uid" "$(query '"\(.status.state) \(.spec.specificationId)"')"
}

replaced() {
    run_with_engine plan
    local first=$run first_uid=$run_uid
    must PATCH "$(specs web)" "{\"spec\": {\"programVersion\": \"$OTHER_COMMIT\"}}"
    await_state Cancelled
    equal 'a newer version replaces a plan' Replaced "$(query .status.reason)"
    await_run 'the newer one waits for its engine' '.spec.specificationVersion == 2 and .status.reason == "StackBusy"'
    local second=$run
    must PATCH "$(specs web)" '{"spec": {"programVersion": "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"}}'
    await 'a waiting run is replaced too' "$(runs "$second")" '.status.state == "Cancelled" and .status.reason == "Replaced"'
    await_run 'the newest waits' '.spec.specificationVersion == 3 and .status.reason == "StackBusy"'
    equal 'one pod at a time' 1 "$(count "$(core pods)")"
    run=$first run_uid=$first_uid
    pod_ends 1
    await_run 'it goes on by itself' '.spec.specificationVersion == 3 and .status.state == "Planning"'
    plan_it
    apply_it
    await_state Applied
    await_spec 'the newest is applied' Ready True Succeeded
    equal 'as version 3' 3 "$(query .status.appliedVersion)"
}

replaced_while_applying() {
    run_with_engine apply
    must PATCH "$(specs web)" "{\"spec\": {\"programVersion\": \"$OTHER_COMMIT\"}}"
    await_run 'the newer one waits' '.spec.specificationVersion == 2 and .status.reason == "StackBusy"'
    local second=$run
    api GET "$(runs)"
    run=$(query '[.items[] | select(.spec.specificationVersion == 1)][0].metadata.name')
    run_uid=$(query '[.items[] | select(.spec.specificationVersion == 1)][0].metadata.uid')
    end_phase
    await_state Applied
    run=$second
    await_state Planning
    api GET "$(specs web)"
    equal 'the first counts as applied meanwhile' 1 "$(query .status.appliedVersion)"
}

failed() {
    run_with_engine plan
    artifacts='[]'
    runner_receipt '.result = "Failed" | .failure = {class: "Auth", message: "Deployment web: forbidden"} | del(.planFileDigest)'
    pod_ends
    await_state Failed
    equal 'failure class and message' 'Auth Deployment web: forbidden' "$(query '"\(.status.failure.class) \(.status.failure.message)"')"
    event 'an Event says it' ProvisioningRun "$run" ProvisioningFailed 'Deployment web: forbidden'
    await_spec 'the specification is stalled with the class' Stalled True Auth
    contains 'with the line that matters' "run $run failed (Auth): Deployment web: forbidden" "$(condition Stalled)"
    await_gone 'the Job goes' "$(jobs "$job")"
    sleep 1
    equal 'no other run by itself' 1 "$(count "$(runs)")"
}

missing_secret() {
    run_with_engine plan
    artifacts='[]'
    runner_receipt '.result = "Failed" | .failure = {class: "Config", message: "missing Secret dev-db key password"} | del(.planFileDigest)'
    pod_ends
    await_state Failed
    await_spec 'a missing Secret is tried again' Reconciling True ProgressingWithRetry
    equal 'after one minute' 60 "$(query '(.status.failure.nextAttemptAt | fromdate) - (.status.lastRun.completedAt | fromdate)')"
}

fetch_failed() {
    operator_ensure
    environment
    specification web
    await_run 'a run' '. != null'
    pod_comes plan
    pod_bind
    local message='{"container": "fetch", "phase": "plan", "ok": false, "failure": {"class": "Source", "message": "commit aaaaaaaaaaaa is not in https://git.example.com/team/infra.git"}}'
    must PATCH "$(core "pods/$pod/status")" "$(jq -n --arg m "$message" '{status: {phase: "Failed", initContainerStatuses: [
        {name: "fetch", image: "r", imageID: "r", ready: false, restartCount: 0, state: {terminated: {exitCode: 1, reason: "Error", message: $m}}}],
        containerStatuses: [{name: "engine", image: "r", imageID: "", ready: false, restartCount: 0, state: {waiting: {reason: "PodInitializing"}}}]}}')"
    await_state Failed
    equal 'what fetch said is the failure' 'Source commit aaaaaaaaaaaa is not in https://git.example.com/team/infra.git' "$(query '"\(.status.failure.class) \(.status.failure.message)"')"
    await_gone 'the Job goes' "$(jobs "$job")"
    await_gone 'the pod goes' "$(core "pods/$pod")"
}

production() {
    operator_ensure
    must POST "$(core secrets)" '{"metadata": {"name": "pass"}, "stringData": {"passphrase": "x"}}'
    environment '.spec.class = "production" | .spec.backend = {url: "postgres://db.example.com/pulumi", passphraseSecretRef: {name: "pass"}}'
    specification web
    await_run 'a run' '. != null'
    plan_it
    await_state AwaitingApproval
    equal 'production waits' ApprovalUnavailable "$(query .status.reason)"
    await_spec 'without blocking anybody' AwaitingDecision True ApprovalUnavailable
    contains 'the specification counts as ready' 'True AwaitingDecision' "$(condition Ready)"
    sleep 1
    equal 'no apply Job' 0 "$(count "$(jobs)" '.metadata.name | endswith("-a")')"
    must PATCH "$(specs web)" "{\"spec\": {\"programVersion\": \"$OTHER_COMMIT\"}}"
    await 'a newer version ends the wait' "$(runs "$run")" '.status.state == "Rejected" and .status.reason == "Replaced"'
    await_run 'and makes its own run' '.spec.specificationVersion == 2'
    plan_it
    await_state AwaitingApproval
    must DELETE "$(runs "$run")"
    await_gone 'a run that waits for an approval can be deleted' "$(runs "$run")"
    await_spec 'the specification says so' Stalled True Rejected
}

scenario 'a plan without changes' no_changes
scenario 'a plan with changed outputs alone' outputs_only
scenario 'a new version' new_version
scenario 'suspend and resume' suspend_and_resume
scenario 'suspended from the start' suspended_from_the_start
scenario 'run-now' run_now
scenario 'a ConfigMap is missing, comes, changes, goes' config_changes
scenario 'a run is deleted while it waits' run_deleted_while_pending
scenario 'a run is deleted while it plans' run_deleted_while_planning
scenario 'a run is deleted while it applies' run_deleted_while_applying
scenario 'a specification is deleted while it plans' specification_deleted_while_planning
scenario 'a specification is deleted while it applies' specification_deleted_while_applying
scenario 'a specification is made again' recreated
scenario 'newer versions while planning' replaced
scenario 'a newer version while applying' replaced_while_applying
scenario 'a plan fails' failed
scenario 'a Secret is missing' missing_secret
scenario 'fetch fails' fetch_failed
scenario 'production' production
