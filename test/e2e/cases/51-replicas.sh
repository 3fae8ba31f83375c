# Alone. Two replicas: the leader is killed, or told to stop, in the middle of a run.
# shellcheck shell=bash disable=SC2154,SC2034
environment dev >/dev/null
operator_ready
equal 'two replicas are ready' 2 "$(operator get deployment runtime-cloud-operator -o jsonpath='{.status.readyReplicas}')"
slow_version() { # TEXT: another version, in the middle of its apply
    commit=$(slow_program slow "$1")
    specification slow slow "$commit" >/dev/null
    in_apply slow || exit 1
}
leads_another() { [ -n "$(leader)" ] && [ "$(leader)" != "$old" ]; }

slow_version one
old=$(leader)
# shellcheck disable=SC2046
kill -KILL $(container_pids "$(operator get pod "$old" -o jsonpath='{.status.containerStatuses[0].containerID}')")
began=$SECONDS
until_true 30 leads_another
note "a killed leader was replaced after $((SECONDS - began)) s (lease of 8 s)"
check 'leader killed: the standby leads' leads_another
equal 'leader killed: the apply goes on' Applying "$(get "prun/$run" .status.state)"
open_gate
applies 'leader killed: the run ends Applied' "$run"
equal 'leader killed: one plan Job and one apply Job' 'a p' "$(jobs_made "$run" | sort | xargs)"

slow_version two
old=$(leader)
operator rollout restart deployment/runtime-cloud-operator >/dev/null
check 'rollout in mid-apply: it ends' operator rollout status deployment/runtime-cloud-operator --timeout=2m
equal 'rollout in mid-apply: the apply goes on' Applying "$(get "prun/$run" .status.state)"
open_gate
applies 'rollout in mid-apply: the run ends Applied' "$run"
equal 'rollout in mid-apply: one plan Job and one apply Job' 'a p' "$(jobs_made "$run" | sort | xargs)"
equal 'rollout in mid-apply: no container was restarted' 0 "$(operator get pods -l app.kubernetes.io/name=runtime-cloud-operator -o json |
    jq '[.items[].status.containerStatuses[].restartCount] | add')"

# A leader that is told to stop hands over at once.
old=$(leader)
operator delete pod "$old" --wait=false >/dev/null
began=$SECONDS
until_true 30 leads_another
check 'leader told to stop: the standby leads at once, long before the lease is over' [ $((SECONDS - began)) -lt 5 ]
operator_ready
# Runs go on during a rollout that comes in the middle of a plan, too.
commit=$(page_program page)
specification page page "$commit" >/dev/null
operator rollout restart deployment/runtime-cloud-operator >/dev/null
applies 'rollout in the middle of a plan: the run ends Applied' "$(run_of page)"
equal 'rollout in the middle of a plan: one plan Job and one apply Job' 'a p' "$(jobs_made "$(run_of page)" | sort | xargs)"
operator_ready
# A second installation is refused.
helm=$(hack/cluster/build-tools.sh --path helm)
refused 'a second installation is refused' 'invalid ownership metadata' "$helm" install another charts/runtime-cloud-operator \
    --namespace "$ns" --set replicaCount=1
