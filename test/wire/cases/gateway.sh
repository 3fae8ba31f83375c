# The runner gateway: who may speak, what it takes, and that nothing acknowledged is ever lost.
# shellcheck shell=bash disable=SC2154,SC2034,SC2030,SC2031,SC2119,SC2120

# A run whose pod of PHASE runs and has not asked for anything.
run_with_pod() { # PHASE [JQ-OF-SPECIFICATION]
    operator_ensure
    environment
    specification web "${2:-.}"
    await_run 'a run' '. != null'
    [ "$1" = plan ] || plan_it
    pod_comes "$1"
    pod_runs
}

# Another pod of ours in namespace $1 with the labels and owners that the filter makes of the current pod's:
# sets other and other_uid.
plant_pod() { # NAMESPACE NAME JQ
    api GET "$(core "pods/$pod")"
    local copy
    copy=$(jq --arg n "$2" "{metadata: {name: \$n, labels: .metadata.labels, ownerReferences: .metadata.ownerReferences},
        spec: {nodeName: \"wire\", automountServiceAccountToken: false, containers: [{name: \"engine\", image: \"runner\"}]}} | $3" <<<"$body")
    must POST "/api/v1/namespaces/$1/pods" "$copy"
    other=$2
    other_uid=$(query .metadata.uid)
}

controllers_pause() { kill -STOP "$(controllers_pid)"; }
controllers_resume() { kill -CONT "$(controllers_pid)"; }

authentication() {
    run_with_pod plan
    local good
    good=$(token_for runtime-cloud-gateway)
    token='' gateway POST start "$(start_body)"
    answers 'no token' 401 'no bearer token'
    token=nonsense gateway POST start "$(start_body)"
    answers 'a token that is none' 401 'no service account token'
    token=${good%?????}AAAAA gateway POST start "$(start_body)"
    answers 'a forged signature' 401 'not valid'
    token=$(token_for https://kubernetes.default.svc.cluster.local)
    gateway POST start "$(start_body)"
    answers 'a token for another audience' 401
    must POST "$(core serviceaccounts/default/token)" '{"spec": {"audiences": ["runtime-cloud-gateway"], "expirationSeconds": 600}}'
    token=$(query .status.token)
    gateway POST start "$(start_body)"
    answers 'a token that is not bound to a pod' 401 'not bound to a pod'

    plant_pod "$ns" stranger '.metadata.ownerReferences = null | .metadata.labels = {}'
    token=$(token_for runtime-cloud-gateway "$other" "$other_uid" default)
    gateway POST start "$(start_body)"
    answers 'a pod that is not ours' 503 'not been seen'
    # Without the labels of its Job: with them the Job controller would adopt it, and it would be one of its pods.
    plant_pod "$ns" disguised '.metadata.ownerReferences = null | .metadata.labels |= with_entries(select(.key | test("batch|job-name|controller-uid") | not))'
    token=$(token_for runtime-cloud-gateway "$other" "$other_uid" default)
    sleep 0.3
    gateway POST start "$(start_body)"
    answers 'a pod with our labels that no Job of ours made' 409 'does not belong to the recorded Job'
    must POST /api/v1/namespaces "{\"metadata\": {\"name\": \"$ns-b\"}}"
    await 'account' "/api/v1/namespaces/$ns-b/serviceaccounts/default" .metadata.uid
    plant_pod "$ns-b" elsewhere '.metadata.ownerReferences = null'
    local mine=$ns
    ns=$ns-b
    token=$(token_for runtime-cloud-gateway "$other" "$other_uid" default)
    ns=$mine
    gateway POST start "$(start_body)"
    answers 'a pod of another namespace' 403 'only for runs of its own namespace'

    token=$good
    gateway POST start '{"runUid": '
    answers 'a start that is not JSON' 409 'not a start request'
    gateway POST start "$(start_body '.runUid = "other"')"
    answers 'a start for another run' 409 'names another run'
    gateway POST start "$(start_body ".commit = \"$(printf 'e%.0s' {1..40})\"")"
    answers 'another commit was checked out' 409 'the run acts on aaaaaaaa'
    gateway POST start "$(start_body 'del(.project)')"
    answers 'no project' 409 'Pulumi.yaml has no name'
    gateway POST heartbeat "{\"runUid\": \"$run_uid\"}"
    answers 'a heartbeat before the start' 503 'no start of this phase'
    gateway PUT "artifacts/log?index=0&digest=$(hex64 a)&size=1" x
    answers 'an artifact before the start' 503 'no start of this phase'
    gateway POST receipt "$(receipt_body)"
    answers 'a receipt before the start' 503 'has not been seen yet'
    path=/v1/runs/$ns/$run/apply gateway POST start "$(start_body)"
    answers 'a start of another phase' 503 'has not been seen yet'
    path=/v1/runs/$ns/nobody/plan gateway POST start "$(start_body)"
    answers 'a run that does not exist' 404 'the run is gone'
    equal 'all this left the run as it was' "Planning null" "$(api GET "$(runs "$run")" && query '"\(.status.state) \(.status.engine.podUid)"')"
    runner_start
    ok 'and its own pod may start'
    must DELETE "$(core pods/disguised)"
}

routes() {
    run_with_pod plan
    local route
    for route in '' start/x nonsense artifacts/nonsense 'artifacts/' '../../x' "$(printf 'x%.0s' {1..300})"; do
        gateway POST "$route" '{}'
        equal "POST $route" 404 "$code"
    done
    gateway GET start
    equal 'GET start' 404 "$code"
    gateway DELETE receipt
    equal 'DELETE receipt' 404 "$code"
    head -c 70000 /dev/zero | tr '\0' x >"$dir/large"
    gateway POST start "@$dir/large"
    equal 'a start of 70 KB' 413 "$code"
    code=$(curl --silent --max-time 10 --output /dev/null --write-out '%{http_code}' "http${gateway_url#https}/v1/runs/a/b/plan/start")
    equal 'plain HTTP' 000 "$code"
}

second_pod() {
    run_with_pod plan
    controllers_pause
    plant_pod "$ns" twin .
    local twin
    twin=$(token_for runtime-cloud-gateway twin "$other_uid" "$account")
    # The Job controller would take such a pod in: it has all of the Job's labels. Its owner it has already.
    token=$twin gateway POST start "$(start_body)"
    answers 'a pod that the template did not make never starts' 409 'it lacks the finalizer runtimecloud.io/engine'
    must PATCH "$(core pods/twin)" '{"metadata": {"finalizers": ["runtimecloud.io/engine"]}}'
    runner_start
    gateway POST start "$(start_body)"
    answers 'the same pod may ask again' 200
    token=$twin gateway POST start "$(start_body)"
    answers 'another pod of the run never may' 409 "pod $pod was allowed to start this operation; no other ever is"
    token=$twin gateway POST receipt "$(receipt_body)"
    answers 'nor report' 409
    token=$twin gateway POST heartbeat '{}'
    answers 'nor beat' 409
    token=$twin gateway PUT "artifacts/log?index=0&digest=$(hex64 a)&size=1" x
    answers 'nor upload' 409
    must PATCH "$(core pods/twin)" '{"metadata": {"finalizers": null}}'
    must DELETE "$(core pods/twin)?gracePeriodSeconds=0"
    controllers_resume
    small_artifacts
    runner_receipt
    pod_ends
    await_state Applying
    ok 'the first goes its way'
}

not_recorded() {
    operator_ensure
    environment
    refuse_status wire-no-engine 'has(object.status.engine)'
    specification web
    await_run 'a run' '. != null'
    pod_comes plan
    pod_runs
    GATEWAY_TIME=3 gateway POST start "$(start_body)"
    check "no start before the Job is recorded (was $code)" [ "${code:0:1}" != 2 ]
    allow_status wire-no-engine
    runner_start
    ok 'then it may start'
    equal 'one Job was made' 1 "$(audit ".verb == \"create\" and .objectRef.resource == \"jobs\" and .objectRef.namespace == \"$ns\" and .responseStatus.code == 201" | grep -c .)"
}

# The name of the claim of $spec, as the operator computes it.
claim_name() { # BACKEND STACK
    echo "rco-claim-$(printf '%s\nweb\n%s' "$1" "$2" | sha256sum | cut -c1-40)"
}

busy_claim() {
    run_with_pod plan
    local name
    name=$(claim_name "claim:$ns/rco-state-dev" shop-web)
    must POST "$(claims)" "$(jq -n --arg n "$name" --arg uid "$spec_uid" --arg ns "$ns" '{metadata: {name: $n, labels: {"app.kubernetes.io/managed-by": "runtime-cloud"},
        annotations: {"runtimecloud.io/engine-pod": "somebody", "runtimecloud.io/engine-pod-uid": "0000", "runtimecloud.io/engine-run": "\($ns)/other", "runtimecloud.io/engine-run-uid": "1111"}},
        spec: {holderIdentity: $uid}}')"
    sleep 0.3
    gateway POST start "$(start_body)"
    answers 'an engine on the stack: wait' 503 "waits for another engine on this stack: pod somebody of run $ns/other (Lease $name)"
    await 'the run says so' "$(runs "$run")" '.status.reason == "StackBusy"'
    gateway POST start "$(start_body)"
    answers 'and again' 503
    must PATCH "$(claims "$name")" '{"metadata": {"annotations": {"runtimecloud.io/engine-pod": null, "runtimecloud.io/engine-pod-uid": null, "runtimecloud.io/engine-run": null, "runtimecloud.io/engine-run-uid": null, "runtimecloud.io/ended-pods": "somebody"}}}'
    runner_start
    equal 'then it may start, and knows whose locks are stale' somebody "$(query '.endedPods | join(",")')"
    api GET "$(runs "$run")"
    equal 'nothing is waited for any more' null "$(query .status.reason)"
}

receipts() {
    run_with_pod plan
    runner_start
    small_artifacts
    local sound
    sound=$(receipt_body)
    path=/v1/runs/$ns/$run/apply gateway POST receipt "$(receipt_body '.phase = "apply"')"
    answers 'a receipt of a phase that is not under way' 503 'has not been seen yet'
    gateway POST receipt "$sound"
    answers 'a sound receipt' 200
    api GET "$(runs "$run")"
    equal 'it is in the status when it is acknowledged' Planned "$(query .status.state)"
    local digest version
    digest=$(query .status.planReceipt.planDigest)
    gateway POST receipt "$sound"
    answers 'the same again' 200
    gateway POST receipt "$(receipt_body '.sames = 7')"
    answers 'another one' 409
    gateway POST receipt 'nonsense'
    answers 'nonsense now changes nothing' 409
    api GET "$(runs "$run")"
    equal 'the first one counts' "Planned $digest" "$(query '"\(.status.state) \(.status.planReceipt.planDigest)"')"
    pod_ends
    pod_comes apply
    pod_runs
    token=$(token_for runtime-cloud-gateway)
    gateway POST start "$(start_body ".workspaceDigest = \"$(hex64 e)\"")"
    answers 'an apply of another workspace' 409 'the workspace is not the one that was planned'
    await_state Failed
    equal 'is stale' PlanStale "$(query .status.failure.class)"
    pod_ends 1
    await_run 'and planned once again' '.metadata.name | endswith("-v1-b2")'
    plan_it
    pod_comes apply
    pod_runs
    runner_start
    small_artifacts
    sound=$(receipt_body)
    gateway POST receipt "$sound"
    answers 'the receipt of the apply' 200
    api GET "$(runs "$run")"
    equal 'it is in the status' Applied "$(query .status.state)"
    version=$(query .metadata.resourceVersion)
    gateway POST receipt "$sound"
    answers 'the same again' 200
    gateway POST receipt "$(receipt_body '.result = "Failed" | .failure = {class: "Resource", message: "x"}')"
    answers 'another one' 409
    api GET "$(runs "$run")"
    equal 'no write followed' "$version" "$(query .metadata.resourceVersion)"
}

# Each of these ends its run, so each has one of its own.
lies() {
    run_with_pod plan
    local -a lies=(
        'not JSON|'
        'another run|.runUid = "00000000-0000-4000-8000-000000000000"'
        'another phase|.phase = "apply"'
        "another commit|.programVersion = \"$(printf 'e%.0s' {1..40})\""
        'another stack|.stack = "shop-other"'
        'another project|.project = "other"'
        'counts that do not add up|.adds = 3'
        'a negative count|.adds = -2 | .types[0].adds = -2'
        'no plan stored|.artifacts = []'
        "another plan than the stored one|.planFileDigest = \"$(hex64 f)\""
        'success with a failure|.failure = {class: "Auth", message: "x"}'
        'failure without a reason|.result = "Failed"'
    )
    local i lie name filter
    for ((i = 0; i < ${#lies[@]}; i++)); do
        name=${lies[i]%%|*} filter=${lies[i]#*|}
        runner_start
        small_artifacts
        if [ -n "$filter" ]; then lie=$(receipt_body "$filter"); else lie='{"protocol": 1, "runUid":'; fi
        gateway POST receipt "$lie"
        answers "$name: refused for ever" 422 'cannot be used'
        await_state Failed
        equal "$name: the run has failed" 'Internal ReceiptInvalid' "$(query '"\(.status.failure.class) \(.status.reason)"')"
        equal "$name: nothing of it is recorded" null "$(query .status.planReceipt)"
        pod_ends 1
        [ $((i + 1)) -lt ${#lies[@]} ] || break
        must PATCH "$(specs web)" "{\"metadata\": {\"annotations\": {\"runtimecloud.io/run-now\": \"$i\"}}}"
        await_run 'another run' ".metadata.name | endswith(\"-b$((i + 2))\")"
        pod_comes plan
        pod_runs
    done
    equal 'no apply was ever begun' 0 "$(audit ".verb == \"create\" and .objectRef.resource == \"jobs\" and .objectRef.namespace == \"$ns\" and (.objectRef.name | endswith(\"-a\"))" | grep -c .)"
}

uploads() {
    run_with_pod plan
    runner_start
    head -c 1200000 /dev/urandom >"$dir/plan"
    artifact plan "$dir/plan"
    answers 'a plan of three chunks' 201
    local i name digest
    digest=$(sha256sum "$dir/plan" | cut -d' ' -f1)
    : >"$dir/back"
    for i in 0 1 2; do
        name=rco-$(tr -d - <<<"$run_uid" | cut -c1-12)-pp$i-${digest:0:10}
        api GET "$(core "secrets/$name")"
        query '.data.data' | base64 -d >>"$dir/back"
        equal "chunk $i belongs to the anchor" "ConfigMap rco-$(tr -d - <<<"$run_uid" | cut -c1-12) true" "$(query '"\(.metadata.ownerReferences[0].kind) \(.metadata.ownerReferences[0].name) \(.immutable)"')"
    done
    check 'byte for byte' cmp -s "$dir/plan" "$dir/back"
    local once=$artifacts
    artifact plan "$dir/plan"
    equal 'the same again' 201 "$code"
    artifacts=$once
    gateway PUT "artifacts/plan?index=0&digest=$(hex64 e)&size=5" hello
    answers 'another one of its kind' 409 'another artifact of this kind'
    gateway PUT "artifacts/log?index=0&digest=$(hex64 e)&size=$((4 * 1024 * 1024 + 1))" x
    answers 'a log over its cap' 413 'cap'
    gateway PUT "artifacts/plan?index=0&digest=$(hex64 e)&size=$((32 * 1024 * 1024 + 1))" x
    answers 'a plan over its cap' 413 'cap'
    gateway PUT "artifacts/log?index=0&digest=$(hex64 e)&size=5" hell
    answers 'a chunk that is too short' 400 'length'
    gateway PUT "artifacts/log?index=1&digest=$(hex64 e)&size=5" hello
    answers 'a chunk beyond the end' 400 'beyond the end'
    gateway PUT "artifacts/log?index=-1&digest=$(hex64 e)&size=5" hello
    answers 'a negative index' 400
    gateway PUT "artifacts/log?index=0&digest=xyz&size=5" hello
    answers 'a digest that is none' 400
    gateway PUT artifacts/log hello
    answers 'no query' 400
    head -c 524289 /dev/zero >"$dir/large"
    gateway PUT "artifacts/log?index=0&digest=$(hex64 e)&size=600000" "@$dir/large"
    answers 'more than a chunk in one request' 413
    rm -f "$dir/large" "$dir/back"
    runner_receipt
    pod_ends
    api GET "$(runs "$run")"
    equal 'digest and size are in the status' "$digest 1200000" "$(query '"\(.status.planReceipt.artifact.digest) \(.status.planReceipt.artifact.size)"')"
    pod_comes apply
    equal 'the apply mounts all chunks' 3 "$(query '[.spec.volumes[] | select(.name == "plan").projected.sources[]] | length')"
    pod_runs
    runner_start
    small_artifacts
    runner_receipt
    pod_ends
    await_state Applied
    must DELETE "$(runs "$run")"
    await_gone 'a run that is deleted' "$(runs "$run")"
    await_gone 'takes its artifacts with it' "$(core "secrets/$name")"
}

# 2xx means: it is in the API server, whatever happens next. The operator is killed at any time after the
# receipt was sent; every other time etcd is held, so that the write is under way and its answer
# finds nobody.
durability() {
    operator_ensure
    environment
    local round phase_name acknowledged=0 committed=0 recorded answer
    for round in 1 2 3 4 5; do
        if [ "$round" = 1 ]; then specification web; else
            must PATCH "$(specs web)" "{\"metadata\": {\"annotations\": {\"runtimecloud.io/run-now\": \"$round\"}}}"
        fi
        await_run "run $round" ".metadata.name | endswith(\"-b$round\")"
        for phase_name in plan apply; do
            pod_comes $phase_name
            pod_runs
            runner_start
            small_artifacts
            if [ "$phase_name" = apply ]; then kill -STOP "$(etcd_pid)"; fi
            (
                gateway POST receipt "$(receipt_body)"
                echo "$code" >"$dir/answer"
            ) &
            answer=$!
            if [ "$phase_name" = apply ]; then sleep 0.4; else sleep "0.$(printf %03d $((25 + round * 9)))"; fi
            operator_kill main
            kill -CONT "$(etcd_pid)"
            wait $answer
            sleep 0.2
            api GET "$(runs "$run")"
            recorded=$(query ".status.${phase_name}Receipt != null")
            if [ "$(cat "$dir/answer")" = 200 ]; then
                acknowledged=$((acknowledged + 1))
                equal "round $round $phase_name: what was acknowledged is recorded" true "$recorded"
            elif [ "$recorded" = true ]; then
                committed=$((committed + 1))
            fi
            operator_start main
            runner_receipt
            api GET "$(runs "$run")"
            equal "round $round $phase_name: it is recorded in the end" true "$(query ".status.${phase_name}Receipt != null")"
            pod_ends
        done
        await_state Applied
    done
    note "10 kills around a receipt: $acknowledged were acknowledged before, $committed written without an answer, $((10 - acknowledged - committed)) had left no trace"
}
etcd_pid() { cut -d" " -f1 "$dir/cp/pids/etcd"; }

not_stored() {
    run_with_pod plan
    runner_start
    small_artifacts
    refuse_status wire-no-receipt 'has(object.status.planReceipt)'
    GATEWAY_TIME=5 gateway POST receipt "$(receipt_body)"
    check "no 2xx while the status cannot be written (was $code)" [ "${code:0:1}" != 2 ]
    allow_status wire-no-receipt
    insist 40 POST receipt "$(receipt_body)"
    equal 'then it is' 200 "$code"
    api GET "$(runs "$run")"
    equal 'and recorded' Planned "$(query .status.state)"
}

# The sidecar could not deliver it, so it stands in the termination message.
fallback() {
    run_with_pod plan
    runner_start
    small_artifacts
    pod_ends 0 '' "$(jq -nc --argjson r "$(receipt_body)" '{container: "report", phase: "plan", ok: true, receipt: $r}')"
    await_state Applying
    equal 'the plan of a termination message counts' 2 "$(query .status.planReceipt.adds)"
    pod_comes apply
    pod_runs
    runner_start
    pod_ends 1 '{"container": "engine", "phase": "apply", "ok": false, "started": true, "failure": {"class": "Timeout", "message": "the apply took longer than 60 s"}}'
    await_state Failed
    equal 'what the engine said is the failure' 'Timeout the apply took longer than 60 s' "$(query '"\(.status.failure.class) \(.status.failure.message)"')"
}

cancelled() {
    run_with_pod apply
    runner_start
    must PATCH "$(runs "$run")" '{"spec": {"cancel": {"by": "admin", "reason": "wrong commit"}}}'
    local n
    for ((n = 0; n < 50; n++)); do
        gateway POST heartbeat "{\"runUid\": \"$run_uid\"}"
        [ "$(query .action)" != Cancel ] || break
        sleep 0.1
    done
    equal 'a person stops an apply' Cancel "$(query .action)"
    small_artifacts
    runner_receipt '.result = "Failed" | .failure = {class: "Cancelled", message: "stopped on request"} | .mayHaveChanged = true'
    pod_ends
    await_state Failed
    equal 'which then has failed' Cancelled "$(query .status.failure.class)"
    await_spec 'the specification says so' Stalled True Cancelled
}

scenario 'who may speak' authentication
scenario 'routes and sizes' routes
scenario 'a second pod of the run' second_pod
scenario 'start before the Job is recorded' not_recorded
scenario 'start while an engine holds the stack' busy_claim
scenario 'receipts' receipts
scenario 'receipts that lie' lies
scenario 'artifacts' uploads
scenario 'the operator is killed around a receipt' durability
scenario 'a receipt that cannot be stored' not_stored
scenario 'a receipt by termination message' fallback
scenario 'an apply is cancelled' cancelled
