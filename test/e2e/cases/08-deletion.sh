# Deletion in the middle of an apply: nothing is torn down, nothing is lost, and all of it ends.
# shellcheck shell=bash disable=SC2154,SC2034
commit=$(slow_program slow one)
environment dev >/dev/null
no_pods() { [ -z "$(k get jobs,pods -l app.kubernetes.io/managed-by=runtime-cloud -o name)" ]; }
pod_of() { # RUN
    get "prun/$1" .status.engine.podName
}
replaced() { # TEXT: another commit, whose apply stops at the gate again
    commit=$(slow_program slow "$1")
    change depspec/slow "{\"spec\": {\"programVersion\": \"$commit\"}}" >/dev/null
}

# --- the Job, by hand, in the foreground: the pod is told to stop, the engine gets its grace ---
specification slow slow "$commit" >/dev/null
in_apply slow || exit 1
job=$(get "prun/$run" .status.engine.jobName)
k delete job "$job" --cascade=foreground --wait=false >/dev/null
state=$(ended "$run")
equal 'Job deleted in the foreground: the run ends Failed' Failed "$state"
matches 'Job deleted in the foreground: class' '^(Cancelled|Lost)$' "$(get "prun/$run" .status.failure.class)"
matches 'Job deleted in the foreground: it says what may have been applied' '(part of it was|may have been) applied' "$(condition "prun/$run" Ready message)"
note "Job deleted: $(get "prun/$run" .status.failure.message)"
check 'Job deleted in the foreground: all of it goes' until_true 60 no_pods
keep_gate_open
run_now slow
applies 'Job deleted in the foreground: the next run repairs it' "$(run_of slow 2)"
kill "$gate_keeper"

# --- the run, in the foreground: it runs to its end ---
replaced two
in_apply slow || exit 1
k delete prun "$run" --cascade=foreground --wait=false >/dev/null
sleep 2
equal 'run deleted in mid-apply: the engine goes on' Running "$(get "pod/$(pod_of "$run")" .status.phase)"
equal 'run deleted in mid-apply: the run is there' Applying "$(get "prun/$run" .status.state)"
open_gate
check 'run deleted in mid-apply: it goes when it is done' k wait --for=delete "prun/$run" --timeout=90s
equal 'run deleted in mid-apply: the version is applied' "$(get depspec/slow .metadata.generation)" "$(get depspec/slow .status.appliedVersion)"
equal 'run deleted in mid-apply: it was applied once' 1 "$(k get deployment slow -o json | jq .status.readyReplicas)"
check 'run deleted in mid-apply: all of it goes' until_true 60 no_pods
equal 'run deleted in mid-apply: its artifacts go' '' "$(k get configmap -l "runtimecloud.io/run=$run" -o name)"

# --- the specification, in the foreground: the apply ends, what was deployed stays ---
replaced three
in_apply slow || exit 1
k delete depspec slow --cascade=foreground --wait=false >/dev/null
sleep 2
equal 'specification deleted in mid-apply: the engine goes on' Running "$(get "pod/$(pod_of "$run")" .status.phase)"
contains 'specification deleted in mid-apply: status says what it waits for' "$run" "$(rc status slow -n "$ns")"
open_gate
check 'specification deleted in mid-apply: it goes when the apply is done' k wait --for=delete depspec/slow --timeout=90s
equal 'specification deleted in mid-apply: the run ends Applied' Applied "$(get "prun/$run" .status.state)"
equal 'specification deleted in mid-apply: what was deployed stays' three "$(get deployment/slow '.metadata.annotations.text')"

# --- deleted while it plans: cancelled ---
null=$(null_program nothing)
specification plan nothing "$null" >/dev/null
run=$(run_of plan)
k wait --for=create "prun/$run" --timeout=30s >/dev/null
k delete prun "$run" --wait=false >/dev/null
check 'run deleted while it plans: it goes' k wait --for=delete "prun/$run" --timeout=60s
sleep 2
equal 'run deleted while it plans: no other comes by itself' 0 "$(runs_of plan)"
equal 'run deleted while it plans: the specification says so' Cancelled "$(condition depspec/plan Stalled reason)"
run_now plan
applies 'run deleted while it plans: run-now' "$(run_of plan 2)"
check 'the specification goes' k delete depspec plan --timeout=60s

# --- a newer version while it applies: afterwards ---
k delete deployment slow >/dev/null
commit=$(slow_program slow four)
specification next slow "$commit" >/dev/null
in_apply next || exit 1
first=$run
commit=$(slow_program slow five)
change depspec/next "{\"spec\": {\"programVersion\": \"$commit\"}}" >/dev/null
second=$(run_of next)
k wait --for=create "prun/$second" --timeout=30s >/dev/null
sleep 1
equal 'a newer version in mid-apply: the first goes on' Applying "$(get "prun/$first" .status.state)"
equal 'a newer version in mid-apply: the second waits' Pending "$(get "prun/$second" .status.state)"
matches 'a newer version in mid-apply: and says for what' '^(StackBusy|VolumeBusy)$' "$(get "prun/$second" .status.reason)"
keep_gate_open
applies 'a newer version in mid-apply: the first ends' "$first"
applies 'a newer version in mid-apply: then the second' "$second"
kill "$gate_keeper"
equal 'a newer version in mid-apply: what is there' five "$(get deployment/slow '.metadata.annotations.text')"
