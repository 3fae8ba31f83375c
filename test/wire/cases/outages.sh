# The API server or etcd goes away and comes back: the operator stays, loses nothing and storms nobody.
# shellcheck shell=bash disable=SC2154,SC2034,SC2030,SC2031,SC2119,SC2120

# Up again; the controllers of Kubernetes anew, since they would take up to half a minute to come back.
start_again() { # apiserver or etcd
    control_plane start "$1"
    controllers_down
    controllers_up
}

lists_since() { audit ".requestReceivedTimestamp > \"$1\" and .verb == \"list\"" | grep -c .; }

# A process of its own, which remembers no earlier outage. Its lease outlasts the outage, so that what is seen
# is how the process recovers, however long a loaded machine takes to bring the server back; that a leader
# that cannot renew in time ends is the topic of replicas.sh.
fresh_operator() {
    if operator_alive main; then operator_stop main; fi
    operator_start main --leader-elect-lease-duration=180s --leader-elect-renew-deadline=150s
}

restarted() { # stop or kill
    fresh_operator
    environment
    specification web
    await_run 'a run' '. != null'
    pod_comes plan
    pod_runs
    runner_start
    small_artifacts
    local pid began receipt
    pid=$(operator_pid main)
    receipt=$(receipt_body)
    control_plane "$1" apiserver
    began=$(date -u +%Y-%m-%dT%H:%M:%S.%6NZ)
    GATEWAY_TIME=2 gateway POST receipt "$receipt"
    check "no 2xx without the API server (was $code)" [ "${code:0:1}" != 2 ]
    equal 'it is alive' 200 "$(curl --silent --output /dev/null --write-out '%{http_code}' "http://127.0.0.1:$(cat "$dir/op/main/ports")/livez")"
    start_again apiserver
    local back=$SECONDS
    insist 60 POST receipt "$receipt"
    answers 'afterwards it is taken' 200
    note "taken $((SECONDS - back)) s after the API server was back"
    pod_ends
    await_state Applying 60
    note "its caches were back after $((SECONDS - back)) s"
    apply_it
    await_state Applied
    equal 'it is the same process' "$pid" "$(operator_pid main)"
    check 'and it runs' operator_alive main
    local n
    n=$(lists_since "$began")
    # Each of the eleven kinds at most twice: its watch may be too old, and the list may come too early.
    check "no storm of lists (were $n)" [ "$n" -le 22 ]
    note "$n lists after the API server was $([ "$1" = kill ] && echo killed || echo stopped)"
}
apiserver_stopped() { restarted stop; }
apiserver_killed() { restarted kill; }

etcd_away() {
    fresh_operator
    environment
    specification web
    await_run 'a run' '. != null'
    pod_comes plan
    pod_runs
    runner_start
    small_artifacts
    local pid
    pid=$(operator_pid main)
    control_plane kill etcd
    sleep 3
    start_again etcd
    insist 60 POST receipt "$(receipt_body)"
    answers 'after an outage of etcd the receipt is taken' 200
    pod_ends
    await_state Applying 60
    apply_it
    await_state Applied
    equal 'by the same process' "$pid" "$(operator_pid main)"
    check 'which runs' operator_alive main
}

# Frozen in the middle of everything: connections stay, nothing is answered.
frozen() {
    operator_ensure
    environment
    specification web
    await_run 'a run' '. != null'
    pod_comes plan
    pod_runs
    runner_start
    small_artifacts
    kill -STOP "$(cut -d' ' -f1 "$dir/cp/pids/apiserver")"
    sleep 8
    kill -CONT "$(cut -d' ' -f1 "$dir/cp/pids/apiserver")"
    runner_receipt
    pod_ends
    apply_it
    await_state Applied
    equal 'two Jobs' 2 "$(audit ".verb == \"create\" and .objectRef.resource == \"jobs\" and .objectRef.namespace == \"$ns\" and .responseStatus.code == 201" | grep -c .)"
}

# Ten thousand objects in one list, and what they cost.
many() {
    operator_alive main && operator_stop main
    local i
    # One curl for all, on connections that are kept.
    for i in {1..10000}; do
        printf 'next\nurl = "%s/api/v1/namespaces/%s/configmaps"\ncert = "%s"\nkey = "%s"\ncacert = "%s"\nheader = "Content-Type: application/json"\noutput = /dev/null\nsilent\ndata = "%s"\n' \
            "$url" "$ns" "$dir/cp/pki/admin.crt" "$dir/cp/pki/admin.key" "$dir/cp/pki/ca.crt" \
            "{\\\"metadata\\\":{\\\"name\\\":\\\"c$i\\\",\\\"labels\\\":{\\\"runtimecloud.io/environment\\\":\\\"dev\\\"}},\\\"data\\\":{\\\"a\\\":\\\"$i\\\"}}"
    done | tail -n +2 >"$dir/many"
    split -n r/1 "$dir/many" "$dir/many." 2>/dev/null
    curl --parallel --parallel-max 20 --config "$dir/many" >/dev/null 2>&1
    rm -f "$dir"/many*
    equal 'ten thousand ConfigMaps' 10000 "$(count "$(core configmaps)?labelSelector=runtimecloud.io/environment=dev")"
    local began ms
    began=$(date +%s%3N)
    operator_start main
    ms=$(($(date +%s%3N) - began))
    note "ready after $ms ms with 10,000 ConfigMaps of $(($(grep VmRSS "/proc/$(operator_pid main)/status" | tr -dc 0-9) / 1024)) MB resident"
    environment
    specification web '.spec.configRefs = [{key: "a", configMapKeyRef: {name: "c9999", key: "a"}}]'
    run_it
    equal 'the right one was found' "$(printf 9999 | sha256sum | cut -d' ' -f1)" "$(query '.spec.snapshot.configs[0].valueHash')"
    must DELETE "/api/v1/namespaces/$ns"
}

scenario 'the API server is stopped and started' apiserver_stopped
scenario 'the API server is killed and started' apiserver_killed
scenario 'etcd is killed and started' etcd_away
scenario 'the API server freezes' frozen
scenario 'ten thousand objects' many
