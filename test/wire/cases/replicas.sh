# Two replicas: who leads, how it changes hands, and that a leader that lost its lease does nothing more.
# shellcheck shell=bash disable=SC2154,SC2034,SC2030,SC2031,SC2119,SC2120

QUICK='--leader-elect-lease-duration 4s --leader-elect-renew-deadline 3s --leader-elect-retry-period 500ms'

lease_holder() {
    api GET "$(claims runtime-cloud-controller)"
    query '.spec.holderIdentity'
}
await_leader() { # NAME [SECONDS]
    await "$1 leads" "$(claims runtime-cloud-controller)" ".spec.holderIdentity == \"$1\"" "${2-}"
}
port_of() { echo $(($(cat "$dir/op/$1/ports") + 2)); }
metric() { # NAME METRIC: its value at that replica
    curl --silent --max-time 5 "http://127.0.0.1:$(($(cat "$dir/op/$1/ports") + 1))/metrics" | grep -E "^$2[ {]" | awk '{print $NF}' | head -1
}
made() { # RESOURCE: how many the operator has created in this namespace
    audit ".verb == \"create\" and .objectRef.resource == \"$1\" and .objectRef.namespace == \"$ns\" and .responseStatus.code == 201" | grep -c .
}

# The two with the flags $@: first leads, second stands by.
two_replicas() {
    operator_alive main && operator_stop main
    own_operators=(first second)
    rm -rf "$dir/op/first" "$dir/op/second"
    # shellcheck disable=SC2068
    operator_start first $@
    await_leader first
    # shellcheck disable=SC2068
    operator_start second $@
}

# Milliseconds between the answer to the release of the lease and the request that took it. Both times are the
# API server's.
handover_ms() { # OLD NEW
    audit '.verb == "patch" and .objectRef.name == "runtime-cloud-controller"' | jq -s --arg new "$2" '
        def t: capture("^(?<s>.*)\\.(?<u>[0-9]+)Z$") | (.s + "Z" | fromdate) * 1000 + ((.u + "000000")[0:6] | tonumber / 1000);
        ([.[] | select(.requestObject.spec.holderIdentity == "")] | last) as $release
        | ([.[] | select(.requestObject.spec.holderIdentity == $new and .responseStatus.code == 200)] | last) as $acquire
        | ($acquire.requestReceivedTimestamp | t) - ($release.stageTimestamp | t) | . * 10 | round / 10'
}

graceful() {
    # shellcheck disable=SC2086
    two_replicas $QUICK
    environment
    specification web
    await_run 'a run' '. != null'
    pod_comes plan
    pod_runs
    via=$(port_of second) gateway POST start "$(start_body)"
    answers 'a standby sends away' 503 'stands by'
    contains 'for a second' 1 "$(header retry-after)"
    contains 'and closes' close "$(header connection)"
    equal 'a standby is ready' 200 "$(curl --silent --output /dev/null --write-out '%{http_code}' "http://127.0.0.1:$(cat "$dir/op/second/ports")/readyz")"
    via=$(port_of first) runner_start
    small_artifacts_via first
    operator_stop first
    await_leader second
    local ms
    ms=$(handover_ms first second)
    note "graceful hand-over: $ms ms between the release and the request of the next leader"
    check "at most 100 ms (were $ms)" [ "${ms%.*}" -le 100 ]
    via=$(port_of second) runner_receipt
    pod_ends
    via=$(port_of second) apply_it
    await_state Applied
    equal 'two Jobs were made by both together' 2 "$(made jobs)"
    operator_start first $QUICK
    operator_stop second
    await_leader first
    note "and back: $(handover_ms second first) ms"
    operator_stop first
}
small_artifacts_via() { via=$(port_of "$1") small_artifacts; }

killed() {
    # shellcheck disable=SC2086
    two_replicas $QUICK
    environment
    specification web
    await_run 'a run' '. != null'
    pod_comes plan
    pod_runs
    via=$(port_of first) runner_start
    local began=$SECONDS
    operator_kill first
    via=$(port_of second) runner_receipt_when_led
    note "a receipt was taken $((SECONDS - began)) s after the leader was killed (lease 4 s)"
    check "at most 4 s of lease, a retry and a request (were $((SECONDS - began)))" [ $((SECONDS - began)) -le 7 ]
    pod_ends
    via=$(port_of second) apply_it
    await_state Applied
    equal 'two Jobs were made by both together' 2 "$(made jobs)"
    operator_stop second
}
runner_receipt_when_led() {
    small_artifacts
    runner_receipt
}

# With the flags' defaults: the longest that a crash of the leader may be felt.
killed_with_defaults() {
    two_replicas
    local began
    began=$(date +%s%3N)
    operator_kill first
    await_leader second 60
    local ms=$(($(date +%s%3N) - began))
    note "hand-over after SIGKILL with the defaults: $ms ms"
    check "at most 36 s (were $ms ms)" [ $ms -le 36000 ]
    operator_stop second
}

# Stopped for longer than its lease, as a machine that sleeps: it must find out before it writes.
stopped_leader() {
    # shellcheck disable=SC2086
    two_replicas $QUICK
    environment
    specification web
    await_run 'a run' '. != null'
    pod_comes plan
    pod_runs
    via=$(port_of first) runner_start
    kill -STOP "$(operator_pid first)"
    await_leader second 10
    # The sleeper's caches say that nothing has happened since.
    via=$(port_of second) runner_receipt_when_led
    pod_ends
    pod_comes apply
    pod_runs
    via=$(port_of second) runner_start
    local now
    now=$(date -u +%Y-%m-%dT%H:%M:%S.%6NZ)
    kill -CONT "$(operator_pid first)"
    operator_wait first 10
    check "it ends by itself, with an error (exit $rc)" [ "${rc:-0}" != 0 ]
    contains 'and says why' lease "$(tail -3 "$dir/op/first/log")"
    local first_wrote
    first_wrote=$(audit ".requestReceivedTimestamp > \"$now\" and (.verb | IN(\"create\", \"patch\", \"delete\")) and .requestObject.spec.holderIdentity == \"first\"" | grep -c .)
    equal 'it did not take the lease back' 0 "$first_wrote"
    via=$(port_of second) small_artifacts
    via=$(port_of second) runner_receipt
    pod_ends
    await_state Applied
    equal 'two Jobs were made by both together' 2 "$(made jobs)"
    operator_stop second
}

# The API server is away for longer than the lease: nobody leads, so nobody writes; the leader ends.
cut_off() {
    # shellcheck disable=SC2086
    two_replicas $QUICK
    kill -STOP "$(etcd_pid)"
    operator_wait first 15
    kill -CONT "$(etcd_pid)"
    check "a leader that cannot renew ends (exit $rc)" [ "${rc:-0}" != 0 ]
    contains 'and says why' 'could not be renewed' "$(tail -3 "$dir/op/first/log")"
    await_leader second 20
    environment
    operator_stop second
}
etcd_pid() { cut -d' ' -f1 "$dir/cp/pids/etcd"; }

scenario 'a graceful hand-over in the middle of a run' graceful
scenario 'the leader is killed in the middle of a run' killed
scenario 'the leader sleeps through its lease' stopped_leader
scenario 'the leader is cut off' cut_off
scenario 'the leader is killed, with the defaults' killed_with_defaults
