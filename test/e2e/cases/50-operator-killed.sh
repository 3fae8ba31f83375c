# Alone. Both replicas are killed by SIGKILL at each phase of a run: it ends Applied, exactly once.
# shellcheck shell=bash disable=SC2154,SC2034
numbered_program() { # NAME
    page_program "$1" | cat >/dev/null
    sed -i "s/name: page, namespace/name: $1, namespace/" "$dir/$1/Pulumi.yaml"
    commit "$1"
}
exactly_once() { # WHAT RUN STACK ENVIRONMENT
    equal "$1: one plan Job and one apply Job were ever made" 'a p' "$(jobs_made "$2" | sort | xargs)"
    equal "$1: one update in the history of Pulumi" 1 "$(updates_in_history "$4" "$3")"
    equal "$1: the run was made once" 1 "$(jq -r --arg ns "$ns" --arg name "$2" 'select(.verb == "create" and
        .objectRef.resource == "provisioningruns" and .objectRef.namespace == $ns and .responseStatus.code == 201) |
        .objectRef.name | select(. == $name)' "$WORK/audit.log" | wc -l)"
}
killed_at() { # WHAT CONDITION
    local name=killed-$1 began killer run
    commit=$(numbered_program "$name")
    # shellcheck disable=SC2046
    when_run "(.metadata.name | startswith(\"$name-\")) and ($2)" kill -KILL $(operator_pids) &
    killer=$!
    sleep 3 # until it watches
    specification "$name" "$name" "$commit" >/dev/null
    wait $killer
    began=$SECONDS
    run=$(run_of "$name")
    renew_operator || not_ok "$1: the operator comes back"
    applies "$1: the run ends Applied" "$run" || return
    exactly_once "$1" "$run" "e2e-$name" dev
    equal "$1: what it deployed" hello "$(get "configmap/$name" .data.text)"
    equal "$1: the specification is Ready" 0 "$(k wait --for=condition=Ready "depspec/$name" --timeout=20s >/dev/null 2>&1; echo $?)"
    note "killed at $1: Applied after $((SECONDS - began)) s"
}
environment dev >/dev/null
k wait --for=condition=Ready renv/dev --timeout=20s >/dev/null
killed_at specification '.status.state == null'
killed_at pending '.status.state == "Pending"'
killed_at planning '.status.state == "Planning"'
killed_at plan-started '.status.engine.phase == "plan" and .status.engine.podName != null'
killed_at planned '.status.state == "Planned"'
killed_at applying '.status.state == "Applying" and .status.engine.phase == "plan"'
killed_at apply-started '.status.engine.phase == "apply" and .status.engine.podName != null'
killed_at applied '.status.state == "Applied"'

# In the middle of an apply that goes on while nobody leads, and ends before somebody does.
commit=$(slow_program slow)
specification slow slow "$commit" >/dev/null
in_apply slow || exit 1
# shellcheck disable=SC2046
kill -KILL $(operator_pids)
open_gate
renew_operator || not_ok 'in mid-apply: the operator comes back'
applies 'in mid-apply: the run ends Applied' "$run"
exactly_once 'in mid-apply' "$run" e2e-slow dev
no_pods() { [ -z "$(k get jobs,pods -l app.kubernetes.io/managed-by=runtime-cloud -o name)" ]; }
check 'no Job and no pod is left' until_true 60 no_pods
claims() {
    operator get leases -o json | jq --arg ns "$ns/" '[.items[] | select((.metadata.annotations // {})["runtimecloud.io/engine-run"] // "" | startswith($ns))] | length'
}
equal 'no claim names an engine' 0 "$(claims)"
