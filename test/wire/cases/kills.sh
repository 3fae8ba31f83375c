# The operator is killed with SIGKILL wherever a run can be: it is applied, once.
# shellcheck shell=bash disable=SC2154,SC2034,SC2030,SC2031,SC2119,SC2120

# How many Jobs of ours there were in this namespace: those that we have deleted, by uid. (The answer to a
# create may have found nobody.)
jobs_were() { audit ".verb == \"delete\" and .objectRef.resource == \"jobs\" and .objectRef.namespace == \"$ns\"" | jq -r '.requestObject.preconditions.uid' | sort -u | grep -c .; }

once() { # NAME: the newest run was made and applied once
    await_spec "$1: ready" Ready True Succeeded
    await_gone "$1: the apply Job goes" "$(jobs "$job")"
    await "$1: the claim is free" "$(claims)" "[.items[] | select(.spec.holderIdentity == \"$spec_uid\" and .metadata.annotations[\"runtimecloud.io/engine-pod-uid\"] != null)] == []"
    equal "$1: one run" 1 "$(count "$(runs)")"
    equal "$1: one plan Job, one apply Job" 2 "$(jobs_were)"
    equal "$1: the apply was allowed to start in one pod" 1 "$(audit ".verb == \"patch\" and .objectRef.subresource == \"status\" and .objectRef.name == \"$run\"
        and .requestObject.status.engine.podUid != null" | jq -r '.requestObject.status.engine.podUid' | sort -u | grep -c "$pod_uid")"
}

# Between any two steps of the runner.
at_each_state() {
    operator_ensure
    environment
    operator_crash
    specification web
    operator_crash
    await_run 'a run' '. != null'
    local step
    for step in plan apply; do
        operator_crash
        pod_comes $step
        operator_crash
        pod_runs
        operator_crash
        runner_start
        operator_crash
        small_artifacts
        operator_crash
        runner_receipt
        operator_crash
        pod_ends
        operator_crash
    done
    await_state Applied
    once 'killed at each state'
}

# While it is at it: as soon as a write of a kind shows up in the audit log, which may be before or after its
# answer was read.
at_each_write() {
    operator_ensure
    environment
    local n killer
    n=$(grep -c . "$dir/audit.log")
    # Kills after each new write that is not of an Event or of the election, twenty times.
    (
        kills=0
        while [ $kills -lt 20 ]; do
            m=$(grep -cE '"verb":"(create|patch|delete)".*"resource":"(provisioningruns|jobs|configmaps|leases|pods|deploymentspecifications)","namespace"' "$dir/audit.log")
            if [ "$m" != "${last-}" ] && operator_alive main; then
                last=$m
                operator_kill main
                kills=$((kills + 1))
                operator_start main
            fi
            sleep 0.02
        done
        operator_alive main || operator_start main
    ) &
    killer=$!
    helpers=("$killer")
    specification web
    run_it
    wait $killer
    once 'killed after writes'
    note 'killed 20 times, after each write'
}

# At no particular moment.
at_random() {
    operator_ensure
    environment
    local killer round
    (
        while [ ! -e "$dir/enough" ]; do
            sleep "0.$((RANDOM % 9 + 1))"
            operator_kill main
            operator_start main
        done
    ) &
    killer=$!
    helpers=("$killer")
    for round in 1 2 3; do
        specification "web$round"
        run_it
    done
    touch "$dir/enough"
    wait $killer
    rm "$dir/enough"
    await_gone 'the last Job goes' "$(jobs "$job")"
    equal 'three runs' 3 "$(count "$(runs)")"
    equal 'six Jobs' 6 "$(jobs_were)"
    note "killed $(grep -c '"starting"' "$dir/op/main/log") times altogether"
}

scenario 'killed between all steps' at_each_state
scenario 'killed after writes' at_each_write
scenario 'killed at random' at_random
