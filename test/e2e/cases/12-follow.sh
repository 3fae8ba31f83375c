# Following a run from its beginning to its end: what the plugin prints while it goes on.
# shellcheck shell=bash disable=SC2154,SC2034
environment dev >/dev/null
commit=$(slow_program slow)
rc run watch --spec slow -n "$ns" --timeout 5s >"$dir/early" 2>&1
equal 'run watch of nothing: exit code 1' 1 $?
specification slow slow "$commit" >/dev/null
rc run watch --spec slow -n "$ns" >"$dir/watch" 2>&1 &
watch=$!
run=$(run_of slow)
k wait --for=create "prun/$run" --timeout=60s >/dev/null
rc run logs "$run" -n "$ns" --follow >"$dir/follow" 2>&1 &
follow=$!
in_apply slow || exit 1

# In mid-apply, while both go on.
followed() { grep -q "$1" "$dir/follow"; }
check 'the log has the plan' until_true 20 followed 'kubernetes:apps/v1:Deployment'
check 'the log has the apply as far as it is' until_true 20 eval "[ \$(grep -c 'kubernetes:apps/v1:Deployment' '$dir/follow') -ge 2 ]"
check 'the log is still followed' kill -0 $follow
check 'the run is still watched' kill -0 $watch
contains 'the watch is at the apply' Applying "$(cat "$dir/watch")"
lacks 'the watch is not at the end' Applied "$(cat "$dir/watch")"
before=$(wc -l <"$dir/follow")
contains 'status of a run that goes on' Applying "$(rc status slow -n "$ns")"

open_gate
applies 'the run' "$run"
wait $watch
equal 'run watch: exit code 0' 0 $?
wait $follow
equal 'run logs --follow: exit code 0' 0 $?
matches 'each state stands in the watch' 'Pending.*Planning.*Applying.*Applied' "$(tr '\n' ' ' <"$dir/watch")"
check 'the log went on after the gate' [ "$(wc -l <"$dir/follow")" -gt "$before" ]
rc run logs "$run" -n "$ns" --phase apply >"$dir/stored"
contains 'the end that was followed is the end that is stored' "$(tail -n 1 "$dir/stored")" "$(tail -n 5 "$dir/follow")"
