# What a new user does: examples/quickstart, until the web page answers.
# Namespace quickstart
# shellcheck shell=bash disable=SC2154,SC2034
revision=$(hack/cluster/git-server.sh repository "public/quickstart" examples/quickstart/program)
kubectl kustomize examples/quickstart | sed \
    -e "s|https://git.example.com/demo/quickstart.git//|$GIT_URL/public/quickstart.git//|" \
    -e "s|https://git.example.com/demo/|$GIT_URL/public/|" \
    -e "s|0000000000000000000000000000000000000000|$revision|" >"$dir/objects.yaml"
check 'the example is accepted' kubectl apply -f "$dir/objects.yaml"
run=$(run_of web)
applies 'the example is applied' "$run" || exit 1

check 'kubectl wait sees Ready' k wait --for=condition=Ready depspec/web --timeout=20s
check 'Environment Ready' k wait --for=condition=Ready renv/dev --timeout=5s
k rollout status deployment/web --timeout=60s >/dev/null
page() { kubectl get --raw "/api/v1/namespaces/$ns/services/web:http/proxy/"; }
until_true 20 page
contains 'the web page answers' 'Hello from the quickstart' "$(page)"

matches 'columns of depspec' '^NAME +ENVIRONMENT +VERSION +APPLIED +READY +INSYNC +FINDINGS +AGE' "$(k get depspec)"
matches 'values of depspec' $'\nweb +dev +1 +1 +True' "$(k get depspec)"
matches 'columns of prun' '^NAME +SPEC +VERSION +KIND +STATE +ADD +CHANGE +DELETE +REPLACE +AGE' "$(k get prun)"
matches 'values of prun' $'\n'"$run"' +web +1 +Baseline +Applied +[1-9][0-9]* +0 +0 +0 ' "$(k get prun)"
contains 'commit in the wide columns' "${revision:0:7}" "$(k get depspec -o wide)"
contains 'the category lists all kinds' "environment.runtimecloud.io/dev" "$(k get runtimecloud -o name)"

equal 'an exported output' "http://web.$ns.svc" "$(get "prun/$run" .status.applyReceipt.outputs.url)"
equal 'a number as an output' 1 "$(get "prun/$run" .status.applyReceipt.outputs.replicas)"
plan=$(k get prun "$run" -o json)
matches 'plan receipt: digest of the plan' '^[0-9a-f]{64}$' "$(jq -r .status.planReceipt.planDigest <<<"$plan")"
equal 'plan receipt: the commit' "$revision" "$(jq -r .status.planReceipt.programVersion <<<"$plan")"
contains 'plan receipt: the resources' 'kubernetes:apps/v1:Deployment::web create' \
    "$(jq -r '.status.planReceipt.resources[] | "\(.urn) \(.op)"' <<<"$plan")"
equal 'plan receipt: the engine' 3.274.1 "$(jq -r '.status.planReceipt.engineVersion | ltrimstr("v")' <<<"$plan")"
equal 'the plan was made before the apply began' true \
    "$(jq '.status.planReceipt.plannedAt <= .status.engine.startedAt' <<<"$plan")"

# Every artifact that the status names is there, in parts whose names follow from its digest, and is what it says.
uid=$(jq -r '.metadata.uid | gsub("-"; "")[:12]' <<<"$plan")
artifact() { # PHASE KIND DIGEST SIZE
    local i object=configmap path=.binaryData.data
    case "$2" in plan | outputs | state) object=secret path=.data.data ;; esac
    for ((i = 0; i * 524288 < $4; i++)); do
        k get "$object" "rco-$uid-${1:0:1}${2:0:1}$i-${3:0:10}" -o json | jq -r "$path" | base64 -d
    done
}
jq -r '[.status.planReceipt.artifact] + .status.applyReceipt.artifacts + .status.artifacts | .[] | select(. != null) |
    "\(.phase)/\(.kind) \(.phase) \(.kind) \(.digest) \(.size)"' <<<"$plan" | sort -u >"$dir/artifacts"
while read -r name phase kind digest size; do
    equal "artifact $name has its digest" "$digest" "$(artifact "$phase" "$kind" "$digest" "$size" | sha256sum | cut -d' ' -f1)"
done <"$dir/artifacts"
equal 'kinds of artifacts' 'apply/log apply/outputs apply/state plan/diff plan/log plan/plan' \
    "$(cut -d' ' -f1 "$dir/artifacts" | sort -u | xargs)"

log_has "$run" 'kubernetes:apps/v1:Deployment'
contains 'the log of the plan' 'kubernetes:core/v1:Service' "$(rc run logs "$run" -n "$ns" --phase plan)"
text=$(rc status web -n "$ns")
equal 'status: exit code 0' 0 $?
contains 'status: applied' 'Applied     version 1' "$text"
text=$(rc status -n "$ns")
equal 'status of the namespace: exit code 0' 0 $?
contains 'status of the namespace' web "$text"
contains 'run show' "$revision" "$(rc run show "$run" -n "$ns" -o json)"
rc run watch "$run" -n "$ns" --timeout 10s >/dev/null
equal 'run watch of an applied run: exit code 0' 0 $?
rc why web -n "$ns" >/dev/null
equal 'why: exit code 0' 0 $?
text=$(rc check -n "$ns")
equal 'check: exit code 0' 0 "$?"
contains 'the operator says which commit it is of' "$built_from" "$(operator logs deployment/runtime-cloud-operator | head -n 20)"
rc status no-such-thing -n "$ns" >/dev/null 2>&1
equal 'status of nothing: exit code 1' 1 $?
rc status --no-such-flag >/dev/null 2>&1
equal 'an unknown flag: exit code 2' 2 $?

for reason in ProvisioningPlanned ProvisioningApplied; do
    check "Event $reason" await_event "$run" Normal "$reason"
done
check 'Event SpecificationDeclared' await_event web Normal SpecificationDeclared
no_pods() { [ -z "$(k get jobs,pods -l app.kubernetes.io/managed-by=runtime-cloud -o name)" ]; }
check 'Jobs and pods are removed' until_true 30 no_pods
equal 'one plan Job and one apply Job' 'a p' "$(jobs_made "$run" | sort | xargs)"
equal 'one update in the history of Pulumi' 1 "$(updates_in_history dev quickstart-web)"
note "from apply to Applied: $(jq -r '((.status.completedAt | sub("\\.[0-9]+"; "") | fromdate) - (.metadata.creationTimestamp | fromdate))' <<<"$plan") s"
