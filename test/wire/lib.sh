# What the wire tests share: scenarios and their counting, and talking to the API server by curl.
# Source it. The harness lies in lib/: cluster.sh (API server, controllers of Kubernetes, the chart),
# operator.sh (the controller binary), runner.sh (kubelet and runner).
# shellcheck shell=bash disable=SC2154,SC2034,SC2030,SC2031,SC2119,SC2120

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=../lib/results.sh
. "$ROOT/test/lib/results.sh"
cd "$ROOT" || exit
WIRE=$ROOT/test/wire
BUILD=$ROOT/build${SAN:+-asan}
LAYER=wire${SAN:+-asan}
OPERATOR_NS=runtime-cloud
OPERATOR_USER=system:serviceaccount:$OPERATOR_NS:runtime-cloud-operator
RCO=/apis/runtimecloud.io/v1alpha1
# Seconds that a wait may take; what it waits for usually takes milliseconds.
PATIENCE=${PATIENCE:-30}

# --- counting ---------------------------------------------------------------------------------

# Scenarios run in subshells, so results go through a file.
ok() { echo ok >>"$dir/results"; } # NAME
not_ok() {                           # NAME [DETAIL]
    printf 'FAILED  %s: %s%s\n' "$scenario" "$1" "${2:+: $2}" >&2
    echo fail >>"$dir/results"
}
die() { # NAME [DETAIL]: the scenario cannot go on
    not_ok "$@"
    exit 1
}
note() { printf '        %s\n' "$*"; }

check() { # NAME COMMAND...: the command succeeds
    if "${@:2}"; then ok "$1"; else not_ok "$1"; fi
}
equal() { # NAME WANT GOT
    if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "want '$2', got '$3'"; fi
}
contains() { # NAME WANT TEXT
    if [[ $3 == *"$2"* ]]; then ok "$1"; else not_ok "$1" "no '$2' in '$3'"; fi
}

# scenario NAME FUNCTION: runs it in a subshell with a namespace of its own in $ns.
scenario() {
    local rc began=$SECONDS before
    case "$1" in *${ONLY-}*) ;; *) return 0 ;; esac
    scenario=$1
    scenario_number=$((scenario_number + 1))
    before=$(wc -l <"$dir/results")
    ( 
        ns=w$scenario_number
        trap scenario_end EXIT
        namespace "$ns"
        "$2"
    )
    rc=$?
    if [ $rc -ne 0 ] && [ "$(tail -n +$((before + 1)) "$dir/results" | grep -c fail)" = 0 ]; then
        not_ok "ended early with exit code $rc"
    fi
    printf '    %3ds  %s\n' $((SECONDS - began)) "$1"
}
scenario_number=0

# Background work and operators that the scenario started itself, except for the shared one, end with it.
scenario_end() {
    local name
    for name in "${helpers[@]}"; do kill "$name" 2>/dev/null && wait "$name" 2>/dev/null; done
    for name in "${own_operators[@]}"; do operator_alive "$name" && operator_kill "$name"; done
    return 0
}
own_operators=()
helpers=()

# --- API ----------------------------------------------------------------------------------------

# api METHOD PATH [BODY]: sets code and body. The variable as holds a user name to impersonate.
api() {
    local -a args=(--silent --max-time 30 --cacert "$dir/cp/pki/ca.crt" --cert "$dir/cp/pki/admin.crt"
        --key "$dir/cp/pki/admin.key" --request "$1" --write-out '\n%{http_code}')
    local type=application/json answer
    [ "$1" != PATCH ] || type=application/merge-patch+json
    [ -z "${as-}" ] || args+=(--header "Impersonate-User: $as" --header 'Impersonate-Group: system:authenticated')
    if [ $# -ge 3 ]; then
        answer=$(curl "${args[@]}" --header "Content-Type: $type" --data-binary @- "$url$2" <<<"$3")
    else
        answer=$(curl "${args[@]}" "$url$2")
    fi
    code=${answer##*$'\n'}
    body=${answer%$'\n'*}
}

# must METHOD PATH [BODY]: the same, and the scenario ends when it is refused.
must() {
    api "$@"
    case $code in 2*) ;; *) die "$1 $2" "$code $(jq -r '.message // .' <<<"$body" 2>/dev/null)" ;; esac
}

query() { jq -r "$@" <<<"$body"; }

# paths of this namespace
specs() { echo "$RCO/namespaces/$ns/deploymentspecifications${1:+/$1}"; }
runs() { echo "$RCO/namespaces/$ns/provisioningruns${1:+/$1}"; }
envs() { echo "$RCO/namespaces/$ns/environments${1:+/$1}"; }
jobs() { echo "/apis/batch/v1/namespaces/$ns/jobs${1:+/$1}"; }
core() { echo "/api/v1/namespaces/$ns/$1"; }
claims() { echo "/apis/coordination.k8s.io/v1/namespaces/$OPERATOR_NS/leases${1:+/$1}"; }

# await NAME PATH FILTER [SECONDS]: until jq says true of what stands at PATH ("" and false of an error);
# $body is it. The scenario ends when it does not come.
await() {
    local until=$((SECONDS + ${4:-$PATIENCE}))
    while :; do
        api GET "$2"
        if [ "$code" = 200 ] && jq -e "$3" >/dev/null 2>&1 <<<"$body"; then return 0; fi
        [ $SECONDS -lt $until ] || break
        sleep 0.05
    done
    die "$1" "not within ${4:-$PATIENCE} s; $code $(summary)"
}

# await_gone NAME PATH [SECONDS]
await_gone() {
    local until=$((SECONDS + ${3:-$PATIENCE}))
    while :; do
        api GET "$2"
        if [ "$code" = 404 ]; then return 0; fi
        [ $SECONDS -lt $until ] || break
        sleep 0.05
    done
    die "$1" "still there after ${3:-$PATIENCE} s: $(summary)"
}

# What a failed wait shows of the last answer.
summary() {
    jq -c 'if .items then [.items[] | {name: .metadata.name, status}] else {meta: (.metadata | {name, deletionTimestamp, finalizers}), status, message} end' \
        <<<"$body" 2>/dev/null | cut -c1-1500
}

condition() { # TYPE: prints "status reason message" of that condition of $body
    jq -r --arg t "$1" '[.status.conditions[]? | select(.type == $t)][0] // {} | "\(.status) \(.reason) \(.message)"' <<<"$body"
}

# event NAME KIND OBJECT REASON [TEXT]: an Event about it comes, and contains TEXT.
event() {
    await "$1: Event $4" "/apis/events.k8s.io/v1/namespaces/$ns/events" \
        "[.items[] | select(.regarding.kind == \"$2\" and .regarding.name == \"$3\" and .reason == \"$4\")] | length > 0"
    contains "$1" "${5-}" "$(jq -r --arg o "$3" --arg r "$4" '[.items[] | select(.regarding.name == $o and .reason == $r)][-1].note' <<<"$body")"
}

namespace() { # NAME [LABELS-JSON]
    must POST /api/v1/namespaces "$(jq -n --arg n "$1" --argjson l "${2:-{\}}" '{metadata: {name: $n, labels: $l}}')"
    # The account of runners; the API server needs it for tokens.
    await "account of $1" "/api/v1/namespaces/$1/serviceaccounts/default" .metadata.uid
}

# --- objects --------------------------------------------------------------------------------------

# merge FILE [JQ]: an object of test/wire/objects in this namespace, changed by the filter.
object() {
    jq --arg ns "$ns" ".metadata.namespace = \$ns | ${2:-.}" "$WIRE/objects/$1.json"
}

environment() { # [JQ]: makes Environment dev and waits until it is ready
    must POST "$(envs)" "$(object environment "${1:-.}")"
    await 'Environment ready' "$(envs dev)" '.status.conditions[]? | select(.type == "Ready" and .status == "True")'
}

specification() { # NAME [JQ]
    must POST "$(specs)" "$(object specification ".metadata.name = \"$1\" | ${2:-.}")"
    spec=$1
    spec_uid=$(query .metadata.uid)
}

# The newest run of specification $spec, or of NAME, comes and FILTER holds of it: sets run, run_uid; $body is it.
await_run() { # NAME FILTER [SECONDS]
    await "$1" "$(runs)?labelSelector=runtimecloud.io/specification=$spec" \
        "[.items[] | select(.spec.specificationId == \"$spec_uid\")] | sort_by(.spec.specificationVersion, (.metadata.name | capture(\"(?<n>[0-9]+)\$\").n | tonumber)) | last | $2" "${3-}"
    body=$(jq --arg uid "$spec_uid" '[.items[] | select(.spec.specificationId == $uid)] | sort_by(.spec.specificationVersion, (.metadata.name | capture("(?<n>[0-9]+)$").n | tonumber)) | last' <<<"$body")
    run=$(query .metadata.name)
    run_uid=$(query .metadata.uid)
}

await_state() { # STATE [SECONDS]: of $run
    await "run $run becomes $1" "$(runs "$run")" ".status.state == \"$1\"" "${2-}"
}

await_spec() { # NAME CONDITION STATUS [REASON] [SECONDS]
    await "$1" "$(specs "$spec")" \
        ".status.observedGeneration == .metadata.generation and any(.status.conditions[]?; .type == \"$2\" and .status == \"$3\" and (\"${4-}\" == \"\" or .reason == \"${4-}\"))" "${5-}"
}

count() { # PATH [FILTER]: how many objects of the list match
    api GET "$1"
    jq "[.items[] | select(${2:-true})] | length" <<<"$body"
}

for part in cluster operator runner; do
    # shellcheck source=/dev/null
    . "$WIRE/lib/$part.sh"
done
