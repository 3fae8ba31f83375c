# The days after: another commit, another value, another secret, suspend and resume, run-now, deletion.
# shellcheck shell=bash disable=SC2154,SC2034
one=$(page_program page 'first text')
environment dev >/dev/null
config_map settings greeting=hello
secret dev-secret "password=$(canary password)"
refs='{"configRefs": [{"key": "greeting", "configMapKeyRef": {"name": "settings", "key": "greeting"}}],
    "secretRefs": [{"key": "password", "secretKeyRef": {"name": "dev-secret", "key": "password"}}],
    "exportOutputs": ["text"]}'
specification page page "$one" "$refs" >/dev/null
first=$(run_of page)
applies 'the first version' "$first" || exit 1
equal 'what it deployed' 'first text' "$(get configmap/page .data.text)"

# Another commit is another version.
two=$(page_program page 'second text')
change depspec/page "{\"spec\": {\"programVersion\": \"$two\"}}" >/dev/null
second=$(run_of page)
applies 'another commit: a run of version 2' "$second" || exit 1
equal 'another commit: what it deployed' 'second text' "$(get configmap/page .data.text)"
await depspec/page .status.appliedVersion=2 20
equal 'another commit: applied version' 2 "$(get depspec/page .status.appliedVersion)"
equal 'the old version stays readable: its commit' "$one" "$(get "prun/$first" .spec.snapshot.program.commit)"
equal 'the old version stays readable: its receipt' "first text" "$(get "prun/$first" .status.applyReceipt.outputs.text)"
log_has "$first" page
# To this provider other data make another ConfigMap.
equal 'the plan counts one replacement' 1 "$(get "prun/$second" .status.planReceipt.replaces)"

# Another value in a ConfigMap: a new run of the same version, by itself.
config_map settings greeting=goodbye
third=$(run_of page 2)
state=$(ended "$third")
equal 'another value: a new run of the same version' Applied "$state"
await depspec/page ".status.lastRun.name=$third" 20

# The same again does nothing.
run_now page
fourth=$(run_of page 3)
equal 'run-now: a new run' Applied "$(ended "$fourth")"
equal 'run-now: nothing had to be applied' 'Applied NoChanges' "$(run_state "$fourth")"
equal 'run-now: no apply Job was made' p "$(jobs_made "$fourth")"
await depspec/page ".status.lastRun.name=$fourth" 20
equal 'run-now: the request is echoed' "$(k get depspec page -o json | jq -r '.metadata.annotations["runtimecloud.io/run-now"]')" \
    "$(k get depspec page -o json | jq -r '.status.handledRequests | to_entries[0].value')"

# Another value of a Secret is seen by the next run.
secret dev-secret "password=$(canary changed-password)"
run_now page
fifth=$(run_of page 4)
equal 'another secret and run-now: a run' Applied "$(ended "$fifth")"
if [ "$(get "prun/$fourth" .status.planReceipt.inputsHash)" != "$(get "prun/$fifth" .status.planReceipt.inputsHash)" ]; then
    ok 'another secret: another inputsHash'
else
    not_ok 'another secret: another inputsHash'
fi

# Another reference to a Secret is another version.
secret dev-other "password=$(canary other-password)"
change depspec/page '{"spec": {"secretRefs": [{"key": "password", "secretKeyRef": {"name": "dev-other", "key": "password"}}]}}' >/dev/null
sixth=$(run_of page)
matches 'another reference to a Secret: a run of another version' '-v3-b1$' "$sixth"
equal 'another reference to a Secret: the run ends' Applied "$(ended "$sixth")"

# Suspended: a new commit waits.
change depspec/page '{"spec": {"suspend": true}}' >/dev/null
await depspec/page '.status.conditions[?(@.type=="Suspended")].status=True' 20
equal 'suspend: the condition' True "$(condition depspec/page Suspended status)"
three=$(page_program page 'third text')
change depspec/page "{\"spec\": {\"programVersion\": \"$three\"}}" >/dev/null
runs=$(runs_of page)
sleep 3
equal 'suspend: no new run' "$runs" "$(runs_of page)"
contains 'suspend: the plugin says so' uspended "$(rc status page -n "$ns")"
# Generation 4 is suspend, which makes no version; 5 is the commit; 6 is resume.
change depspec/page '{"spec": {"suspend": false}}' >/dev/null
seventh=$(run_of page 1 5)
applies 'resume: the waiting version is applied' "$seventh"
equal 'resume: what it deployed' 'third text' "$(get configmap/page .data.text)"
equal 'suspend makes no version' 5 "$(get depspec/page .status.version)"
await depspec/page .status.appliedVersion=5 20

contains 'run list shows all versions' "$first" "$(rc run list -n "$ns" --spec page)"
equal 'all runs are there' 7 "$(runs_of page)"

# Deleting retains what was deployed, and the runs.
refused 'deletionPolicy Destroy is refused' 'deletionPolicy Destroy is not available in this version' \
    change depspec/page '{"spec": {"deletionPolicy": "Destroy"}}'
check 'the specification can be deleted' k delete depspec page --timeout=60s
equal 'what was deployed stays' 'third text' "$(get configmap/page .data.text)"
equal 'the versions that were applied stay' "$one" "$(get "prun/$first" .spec.snapshot.program.commit)"

# The same name again is another specification; it takes over the stack it finds.
specification page page "$three" "$refs" >/dev/null
again=$(run_of page)
equal 'made again: it runs' Applied "$(ended "$again")"
