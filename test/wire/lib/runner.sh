# Kubelet and runner: pods come from the real Job controller; what the kubelet and the containers would
# say and do is said and done here, step by step, as the runner's protocol has it.
# shellcheck shell=bash disable=SC2154,SC2034,SC2030,SC2031,SC2119,SC2120

IMAGE_ID=runtimecloud.local/runner@sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc
hex64() { printf "$1%.0s" {1..64}; }

# --- kubelet --------------------------------------------------------------------------------------

# pod_comes PHASE: the pod of $run in that phase; sets phase, pod, pod_uid, job and what it was given.
pod_comes() {
    phase=$1
    await "pod of the $1 of $run" "$(core pods)?labelSelector=runtimecloud.io/run-uid=$run_uid,runtimecloud.io/phase=$1" '.items | length > 0'
    body=$(query '.items[-1]')
    pod_adopt
}

# The pod in $body becomes the current one.
pod_adopt() {
    pod=$(query .metadata.name)
    pod_uid=$(query .metadata.uid)
    job=$(query '.metadata.ownerReferences[0].name')
    account=$(query .spec.serviceAccountName)
    query '.spec.initContainers[] | select(.name == "report") | .env[] | select(.name == "RCO_GATEWAY_CA").value' >"$dir/gateway-ca.$BASHPID"
    gateway_ca=$dir/gateway-ca.$BASHPID
    gateway_url=$(query '.spec.initContainers[] | select(.name == "report") | .env[] | select(.name == "RCO_GATEWAY_URL").value')
    job_text=$(query '.spec.containers[0].env[] | select(.name == "RCO_JOB").value')
    unset token
}

pod_bind() { must POST "$(core "pods/$pod/binding")" "$(jq -n --arg n "$pod" '{metadata: {name: $n}, target: {kind: "Node", name: "wire"}}')"; }

# pod_status PHASE STATE-OF-ENGINE STATE-OF-REPORT [JQ]: as the kubelet would write it
pod_status() {
    must PATCH "$(core "pods/$pod/status")" "$(jq -n --arg phase "$1" --argjson engine "$2" --argjson report "$3" --arg image "$IMAGE_ID" "
        def container(\$n; \$s): {name: \$n, image: \"runner\", imageID: \$image, containerID: \"containerd://\(\$n)\", ready: false, restartCount: 0, state: \$s};
        def done: {terminated: {exitCode: 0, reason: \"Completed\", startedAt: \"2026-01-02T03:04:05Z\", finishedAt: \"2026-01-02T03:04:06Z\"}};
        {status: {phase: \$phase, initContainerStatuses: [container(\"fetch\"; done), container(\"install\"; done), container(\"report\"; \$report)],
          containerStatuses: [container(\"engine\"; \$engine)]}} | ${4:-.}")"
}
RUNNING='{"running": {"startedAt": "2026-01-02T03:04:05Z"}}'
terminated() { # EXIT-CODE [MESSAGE]
    jq -n --argjson code "$1" --arg message "${2-}" \
        '{terminated: {exitCode: $code, reason: (if $code == 0 then "Completed" else "Error" end), message: $message, startedAt: "2026-01-02T03:04:05Z", finishedAt: "2026-01-02T03:05:05Z"}}'
}
pod_runs() {
    pod_bind
    pod_status Running "$RUNNING" "$RUNNING"
}
pod_ends() { # [EXIT-CODE] [MESSAGE-OF-ENGINE] [MESSAGE-OF-REPORT]
    local phase=Succeeded
    [ "${1:-0}" = 0 ] || phase=Failed
    pod_status $phase "$(terminated "${1:-0}" "${2-}")" "$(terminated 0 "${3-}")"
    # What is being deleted is gone with its last container; its finalizers keep the object.
    if [ "$(query '.metadata.deletionTimestamp')" != null ]; then
        api DELETE "$(core "pods/$pod")" '{"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}'
    fi
}

# --- runner ---------------------------------------------------------------------------------------

# token_for AUDIENCE [POD POD-UID ACCOUNT]: prints a token as the kubelet would project it.
token_for() {
    must POST "$(core "serviceaccounts/${4:-$account}/token")" "$(jq -n --arg a "$1" --arg n "${2:-$pod}" --arg u "${3:-$pod_uid}" \
        '{apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {audiences: [$a], expirationSeconds: 3600,
          boundObjectRef: {apiVersion: "v1", kind: "Pod", name: $n, uid: $u}}}')"
    query .status.token
}

# gateway METHOD ROUTE [BODY]: the request of this pod; BODY may be @FILE. Sets code and body (code 000: no answer).
# The variable via holds the port of another replica, path another path than that of run and phase.
gateway() {
    local answer where=${path:-/v1/runs/$ns/$run/$phase}/$2
    local -a args=(--silent --max-time "${GATEWAY_TIME:-60}" --cacert "$gateway_ca" --request "$1" --write-out '\n%{http_code}'
        --dump-header "$dir/headers.$BASHPID")
    headers=$dir/headers.$BASHPID
    [ -n "${token+x}" ] || token=$(token_for runtime-cloud-gateway)
    [ -z "$token" ] || args+=(--header "Authorization: Bearer $token")
    [ -z "${via-}" ] || args+=(--connect-to "::127.0.0.1:$via")
    [ $# -lt 3 ] || args+=(--header 'Content-Type: application/json' --header 'Expect:' --data-binary "$3")
    answer=$(curl "${args[@]}" "$gateway_url$where")
    code=${answer##*$'\n'}
    body=${answer%$'\n'*}
}

said() { query '.message // empty' 2>/dev/null; }

header() { tr -d '\r' <"$headers" | sed -n "s/^$1: //Ip"; } # NAME: of the last answer

# answers NAME CODE [SENTENCE]: of the last request to the gateway
answers() {
    if [ "$code" != "$2" ]; then
        not_ok "$1" "want $2, got $code $body"
    elif [[ $(said) != *"${3-}"* ]]; then
        not_ok "$1" "no '${3-}' in '$(said)'"
    else
        ok "$1"
    fi
}

start_body() { # [JQ]
    jq -n --arg uid "$run_uid" --argjson job "$job_text" --arg w "$(hex64 d)" \
        "{protocol: 1, runUid: \$uid, project: \"web\", commit: \$job.program.commit, workspaceDigest: \$w, runnerVersion: \"0.1.0\"} | ${1:-.}"
}

# Until it is not 503, as the runner does.
insist() { # SECONDS METHOD ROUTE [BODY]
    local until=$((SECONDS + $1))
    while :; do
        gateway "${@:2}"
        case $code in 503 | 000 | 429) ;; *) return 0 ;; esac
        [ $SECONDS -lt $until ] || return 0
        sleep 0.1
    done
}

runner_start() { # [JQ]
    insist "$PATIENCE" POST start "$(start_body "${1:-.}")"
    [ "$code" = 200 ] || die "the $phase of $run may start" "$code $body"
}

# artifact KIND FILE: uploads it chunk by chunk; sets code of the last. Adds it to $artifacts.
artifact() {
    local size digest index=0
    size=$(stat -c %s "$2")
    digest=$(sha256sum "$2" | cut -d' ' -f1)
    while [ $((index * 524288)) -lt "$size" ]; do
        dd if="$2" of="$dir/chunk.$BASHPID" bs=524288 skip=$index count=1 status=none
        insist "$PATIENCE" PUT "artifacts/$1?index=$index&digest=$digest&size=$size" "@$dir/chunk.$BASHPID"
        case $code in 2*) ;; *) return 0 ;; esac
        index=$((index + 1))
    done
    artifacts=$(jq -n --argjson a "${artifacts:-[]}" --arg k "$1" --arg d "$digest" --argjson s "$size" '$a + [{kind: $k, digest: $d, size: $s}]')
}

# receipt_body [JQ]: one that is sound, of the current phase
receipt_body() {
    jq -n --arg uid "$run_uid" --arg phase "$phase" --argjson job "$job_text" --argjson artifacts "${artifacts:-[]}" \
        --arg d "$(hex64 d)" --arg h2 "$(hex64 2)" --arg h3 "$(hex64 3)" --arg h4 "$(hex64 4)" --arg h5 "$(hex64 5)" --argjson changes "${changes:-2}" "
        {protocol: 1, runUid: \$uid, phase: \$phase, result: \"Succeeded\", programVersion: \$job.program.commit, project: \"web\", stack: \$job.stack,
         inputsHash: \$h2, workspaceDigest: \$d, baseStateDigest: \$h3, operationsDigest: \$h4, stateDigest: \$h5,
         planFileDigest: ([\$artifacts[] | select(.kind == \"plan\").digest][0] // \$job.expected.planFileDigest),
         engineVersion: \"3.274.1\", runnerVersion: \"0.1.0\", plugins: [{name: \"kubernetes\", kind: \"resource\", version: \"4.25.0\"}],
         adds: \$changes, changes: 0, deletes: 0, replaces: 0, sames: 1,
         types: (if \$changes > 0 then [{type: \"kubernetes:apps/v1:Deployment\", adds: \$changes, changes: 0, deletes: 0, replaces: 0}] else [] end),
         resources: [], truncated: false, outputsChanged: (\$changes > 0), pendingOperations: 0, mayHaveChanged: (\$phase == \"apply\"),
         startedAt: \"2026-01-02T03:04:05Z\", finishedAt: \"2026-01-02T03:04:25Z\", artifacts: \$artifacts}
        | if \$phase == \"apply\" then .outputs = {url: \"http://web.example.com\"} else . end | ${1:-.}"
}

small_artifacts() { # those that every successful phase has
    local kind
    artifacts='[]'
    for kind in log $([ "$phase" = plan ] && echo plan || echo state); do
        echo "$kind of $run" >"$dir/artifact.$BASHPID"
        artifact "$kind" "$dir/artifact.$BASHPID"
        [ "$code" = 201 ] || [ "$code" = 200 ] || die "artifact $kind is stored" "$code $body"
    done
}

runner_receipt() { # [JQ]
    insist "$PATIENCE" POST receipt "$(receipt_body "${1:-.}")"
    case $code in 2*) ;; *) die "the receipt of the $phase of $run is taken" "$code $body" ;; esac
}

# A whole phase, to the end of its pod: plan_it [JQ-OF-RECEIPT]; the variable changes says how many resources
# the plan adds (0: nothing is to be done).
phase_it() { # PHASE [JQ]
    pod_comes "$1"
    pod_runs
    runner_start
    small_artifacts
    runner_receipt "${2:-.}"
    pod_ends
}
plan_it() { phase_it plan "$@"; }
apply_it() { phase_it apply "$@"; }

# The newest run of $spec, to its end.
run_it() {
    await_run "$spec has a run" '. != null'
    plan_it
    [ "${changes:-2}" = 0 ] || apply_it
    await_state Applied
}
