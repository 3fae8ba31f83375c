# The fixture of the benchmarks: a real kube-apiserver and etcd, one specification brought to Applied by the
# real operator (the wire tests' harness plays kubelet and runner), and copies of it written into etcd.
# Source it; needs BUILD.
# shellcheck shell=bash disable=SC2154,SC2034

# shellcheck source=../wire/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../wire/lib.sh"
BENCH=$ROOT/test/bench
LAYER=bench

etcd() { # ROUTE BODY: etcd's HTTP gateway
    curl --silent --fail --max-time 120 --data-binary @- "http://127.0.0.1:$(($(cat "$dir/cp/port") + 1))/v3/$1" <<<"$2"
}

b64() { printf '%s' "$1" | base64 -w0; }

bench_up() {
    export ETCD_QUOTA_BACKEND_BYTES=8589934592
    scenario='the fixture'
    cluster_up
}

# The specification that the copies are made of: about 2 KB, two ConfigMap keys and two Secrets.
make_template() {
    local notes
    ns=bench-0000
    # What people write about a service besides.
    notes=$(printf 'the web shop of team %s; ' {1..20})
    namespace $ns
    must POST "$(core configmaps)" '{"metadata": {"name": "dev-config", "labels": {"runtimecloud.io/environment": "dev"}},
        "data": {"replicas": "3", "image": "registry.example.com/shop/web:1.4.2"}}'
    environment
    declared_at=$(date -u +%Y-%m-%dT%H:%M:%S.%6NZ)
    specification web-00000 ".metadata.annotations = {\"example.com/notes\": \"$notes\"}
        | .metadata.labels = {\"app.kubernetes.io/name\": \"web\", team: \"checkout\"}
        | .spec.configRefs = [{key: \"replicas\", configMapKeyRef: {name: \"dev-config\", key: \"replicas\"}},
            {key: \"image\", configMapKeyRef: {name: \"dev-config\", key: \"image\"}}]
        | .spec.secretRefs = [{key: \"dbPassword\", secretKeyRef: {name: \"dev-db\", key: \"password\"}},
            {env: \"AWS_SECRET_ACCESS_KEY\", secretKeyRef: {name: \"dev-aws\", key: \"secret\"}}]"
    await_run 'the specification has a run' '. != null'
    plan_it
    apply_it
    await_state Applied
    await_spec 'the specification is ready' Ready True Succeeded
    await 'the run is recorded' "$(runs "$run")" '(.metadata.finalizers // []) | length == 0'
}

# What one specification cost from apply to Applied; sets writes.
count_writes() { # SINCE
    writes=$(audit ".stageTimestamp >= \"$1\" and (.verb | IN(\"create\", \"patch\", \"update\", \"delete\"))
        and .objectRef.resource != \"events\" and .objectRef.resource != \"tokenreviews\"
        and .objectRef.name != \"runtime-cloud-controller\"" | grep -c .)
}

# Names, uids and hashes of the template, and all that etcd holds.
dump_template() {
    local claim version_hash inputs_hash spec_bytes
    must GET "$(specs web-00000)"
    version_hash=$(query .status.versionHash)
    inputs_hash=$(query .status.lastRun.snapshotHash)
    spec_json_bytes=$(jq -c 'del(.metadata.managedFields)' <<<"$body" | wc -c)
    must GET "$(runs "$run")"
    run_json_bytes=$(jq -c 'del(.metadata.managedFields)' <<<"$body" | wc -c)
    must GET "$(claims)?labelSelector=app.kubernetes.io/managed-by=runtime-cloud"
    claim=$(query '.items[0].metadata.name')
    must GET "$(envs dev)"
    cat >"$dir/names" <<TEXT
namespace $ns
environment-uid $(query .metadata.uid)
spec web-00000
spec-uid $spec_uid
run $run
run-uid $run_uid
anchor rco-$(tr -d - <<<"$run_uid" | cut -c1-12)
claim ${claim#rco-claim-}
commit $(printf 'a%.0s' {1..40})
commit-12 $(printf 'a%.0s' {1..12})
version-hash $version_hash
inputs-hash $inputs_hash
TEXT
    etcd kv/range "{\"key\": \"$(b64 /registry/)\", \"range_end\": \"$(b64 /registry0)\"}" |
        jq -r '.kvs[] | "\(.key) \(.value)"' >"$dir/template"
}

populate() { # FIRST COUNT specs|rest
    "$BUILD/bench/populate" "http://127.0.0.1:$(($(cat "$dir/cp/port") + 1))" "$dir/template" "$dir/names" "$@" || exit
}

# --- the process ------------------------------------------------------------------------------------

status_kb() { sed -n "s/^$2:[[:space:]]*\([0-9]*\) kB/\1/p" "/proc/$(operator_pid "$1")/status"; } # NAME FIELD
reset_peak() { echo 5 >"/proc/$(operator_pid "$1")/clear_refs"; }                                # NAME
cpu_us() { # NAME: of all its threads
    cat "/proc/$(operator_pid "$1")/task"/*/schedstat | awk '{ns += $1} END {printf "%d", ns / 1000}'
}
metric() { # NAME METRIC-WITH-LABELS
    curl --silent "http://127.0.0.1:$(($(cat "$dir/op/$1/ports") + 1))/metrics" | awk -v m="$2" '$1 == m {print $2}'
}

# Until the process has used less than 5 ms of CPU in two seconds.
await_calm() { # NAME
    local before after
    before=$(cpu_us "$1")
    while sleep 2; do
        after=$(cpu_us "$1")
        [ $((after - before)) -ge 5000 ] || return 0
        before=$after
    done
}
