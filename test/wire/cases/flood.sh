# Pods that mean harm to the gateway, all at once.
# shellcheck shell=bash disable=SC2154

rss_mb() { awk '/VmRSS/ {print int($2 / 1024)}' "/proc/$(operator_pid main)/status"; }

flood() {
    operator_ensure
    environment
    specification web
    await_run 'a run' '. != null'
    pod_comes plan
    pod_runs
    local before answer
    before=$(rss_mb)
    coproc HOSTILE { python3 "$WIRE/lib/flood.py" "${gateway_url##*:}" "$gateway_ca" 700; }
    # Meanwhile, and while all of it is open: a runner gets its turn, and the operator goes on.
    runner_start
    ok 'a runner starts meanwhile'
    echo >&"${HOSTILE[1]}"
    read -r -t 300 answer <&"${HOSTILE[0]}"
    note "$answer; $before MB before, $(rss_mb) MB with it"
    # The sanitizers keep what was freed, and more than was asked for.
    [ -n "${SAN:-}" ] || check 'what hostile pods can make the operator hold is bounded' [ "$(rss_mb)" -lt 160 ]
    check 'most of it is sent away' [ "$(jq '(.answers["503"] // 0) + (.answers.closed // 0)' <<<"$answer")" -gt 300 ]
    small_artifacts
    runner_receipt
    await_state Planned
    echo >&"${HOSTILE[1]}"
    wait "$HOSTILE_PID"
    pod_ends
    check 'it lives' operator_alive main
}

# All places are taken by connections that are slow on purpose, from several addresses: a runner gets in at once all
# the same, and keeps its place.
crowd() {
    operator_ensure
    environment
    specification web
    await_run 'a run' '. != null'
    pod_comes plan
    pod_runs
    local answer began
    coproc HOSTILE { python3 "$WIRE/lib/flood.py" "${gateway_url##*:}" "$gateway_ca" 1400 quiet; }
    echo >&"${HOSTILE[1]}"
    read -r -t 300 answer <&"${HOSTILE[0]}"
    note "$answer"
    # On a slow machine the first are late before the last have come; what goes on at the very limit is tested with
    # four places (test/unit/http/server_limits_test.c).
    check 'a crowd came' [ "$(jq .open <<<"$answer")" -ge 1200 ]
    began=$SECONDS
    runner_start
    small_artifacts
    runner_receipt
    check 'a runner starts and reports meanwhile, without waiting a minute for a place' [ $((SECONDS - began)) -le 30 ]
    await_state Planned
    echo >&"${HOSTILE[1]}"
    wait "$HOSTILE_PID"
    pod_ends
}

scenario 'a crowd that takes every place' crowd
scenario 'a flood of hostile requests' flood
