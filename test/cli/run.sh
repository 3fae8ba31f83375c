#!/usr/bin/env bash
# kubectl-runtimecloud against a real kube-apiserver: every verb, with objects in every situation.
# Usage: test/cli/run.sh [PROGRAM]. Last line: `cli: N passed, N failed`.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=../lib/results.sh
. test/lib/results.sh
bin=$(realpath "${1:-build/bin/kubectl-runtimecloud}")
kubectl=$(hack/cluster/build-tools.sh --path kubectl)
dir=$(mktemp -d)
unset KUBECONFIG NO_COLOR COLUMNS
export LC_ALL=C.UTF-8 NS=team-a
# Only the plugin gets the empty home: the cluster tools keep their caches in the real one.
plugin() { HOME=$dir timeout 60 "$bin" "$@"; }
kubelet_pid='' slow_pid='' old_pid=''

finish() {
    [ -z "$old_pid" ] || kill "$old_pid" 2>/dev/null
    [ -z "$kubelet_pid" ] || kill "$kubelet_pid" 2>/dev/null
    [ -z "$slow_pid" ] || kill "$slow_pid" 2>/dev/null
    hack/cluster/control-plane.sh down "$dir/cp" >/dev/null 2>&1
    rm -rf "$dir"
}
trap finish EXIT

# krc CODE NAME ARGS...: runs the plugin; its output is in $out and $err. Fails unless it exits with CODE.
krc() {
    local want=$1 name=$2 code
    shift 2
    current=$name
    out=$(plugin "$@" 2>"$dir/stderr")
    code=$?
    err=$(<"$dir/stderr")
    if [ $code = "$want" ]; then result ok "$name"; else
        result fail "$name" "exit $code, want $want: $* :: $out $err"
    fi
}
has() { # TEXT...: the output of the last krc has each of them
    for text in "$@"; do
        if grep -qF -- "$text" <<<"$out"; then result ok "$current"; else
            result fail "$current" "no \"$text\" in: $out"
        fi
    done
}
has_not() {
    for text in "$@"; do
        if grep -qF -- "$text" <<<"$out$err"; then result fail "$current" "\"$text\" in: $out $err"; else
            result ok "$current"
        fi
    done
}
says() { # the same for standard error
    for text in "$@"; do
        if grep -qF -- "$text" <<<"$err"; then result ok "$current"; else
            result fail "$current" "no \"$text\" in: $err"
        fi
    done
}
paste() { # TEXT...: runs the commands of Next that have each of them, as a reader would
    local text line
    for text in "$@"; do
        line=$(sed 's/^Next: //; s/^ *//' <<<"$out" | grep -F "kubectl " | grep -F -- "$text" | head -1)
        if [ -n "$line" ] && PATH=$(dirname "$kubectl"):$PATH bash -c "$line" >"$dir/stderr" 2>&1; then
            result ok "$current"
        else
            result fail "$current" "no command with \"$text\" that works: $line: $(<"$dir/stderr")"
        fi
    done
}
is() { # WANT COMMAND...
    local want=$1 got
    shift
    got=$("$@" 2>/dev/null)
    if [ "$got" = "$want" ]; then result ok "$current"; else result fail "$current" "$got, want $want: $*"; fi
}
json() { # FILTER: jq finds it true
    if jq -e "$1" <<<"$out" >/dev/null 2>&1; then result ok "$current"; else
        result fail "$current" "not true: $1 in: $out"
    fi
}

# --- without a cluster -----------------------------------------------------------------------

krc 0 "no word prints the help"
has "Usage: kubectl runtimecloud COMMAND" status why check version
for verb in status run "run list" "run show" "run logs" "run watch" why check version; do
    # shellcheck disable=SC2086
    krc 0 "$verb -h has examples" $verb -h
    has "Examples:" "Flags:" "--kubeconfig"
done
krc 2 "an unknown verb is refused with a suggestion" statsu
says 'unknown command "statsu"' 'did you mean "kubectl runtimecloud status"' "Usage:"
krc 2 "an unknown flag is refused with a suggestion" run list --namspace x
says "unknown flag --namspace" "did you mean --namespace?" "Usage: kubectl runtimecloud run list"
krc 2 "an unknown value is refused with the values there are" status -o jsn
says '"jsn" is not a value of --output' "json"
krc 2 "a state that does not exist is refused" run list --state Faild
says "did you mean Failed?"
krc 2 "a name that cannot be one is refused" status Shop_1
krc 2 "a namespace that cannot be one is refused" status -n 'a/b'
krc 2 "a kind that does not exist is refused" why pods/x
says '"pods" is not a kind'
krc 2 "why needs a name" why
krc 2 "run needs a verb" run
says "list, show, logs, watch"
krc 2 "run show needs a run" run show
says "--spec"
krc 2 "a value is missing" status -n
krc 2 "a bad duration is refused" run watch x --timeout soon
krc 2 "one argument too many is refused" status a b
krc 2 "a name does not go with all namespaces" status shop -A
krc 2 "a run is not shown by status" status run/x
says "run show x"
krc 0 "version of the program alone needs no cluster" version --client -o json
json '.kind == "Version" and (.client.version | length) > 0'

krc 1 "no kubeconfig at all is explained" status
says "no kubeconfig" ".kube/config does not exist" "next:"
krc 1 "a kubeconfig that is not there is named" status --kubeconfig "$dir/none"
says "$dir/none"
printf 'apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]\ncontexts: [{name: x, context: {cluster: nowhere, user: u}}]\ncurrent-context: x\nusers: [{name: u, user: {}}]\n' >"$dir/broken"
krc 1 "a kubeconfig with a dangling name is named with its field" status --kubeconfig "$dir/broken"
says "$dir/broken" "nowhere"
printf 'apiVersion: v1\nkind: Config\nclusters: [\n' >"$dir/torn"
krc 1 "a kubeconfig that is not YAML is named" status --kubeconfig "$dir/torn"
says "$dir/torn"
sed 's/cluster: nowhere/cluster: c/' "$dir/broken" >"$dir/dead"
krc 1 "a server that cannot be reached is named" status --kubeconfig "$dir/dead"
says "https://127.0.0.1:1" "cannot be reached" "next: check that the cluster runs"
krc 1 "a context that does not exist is named" status --kubeconfig "$dir/dead" --context other
says "other"

# --- a server without the product ------------------------------------------------------------

RCO_APISERVER_FLAGS="--kubelet-preferred-address-types=InternalIP" hack/cluster/control-plane.sh up "$dir/cp" >"$dir/cp.log" 2>&1 ||
    { cat "$dir/cp.log" >&2; exit 1; }
export KUBECONFIG=$dir/cp/kubeconfig
krc 1 "a server without CRDs is explained" status
says "CRDs are not installed" "kubectl runtimecloud check"
krc 1 "check lists what is missing" check -o json
json '.ok == false and ([.items[] | select(.result == "failed")] | length) >= 5'
json '.items[] | select(.name == "server") | .result == "ok"'
krc 0 "version says that the API is not installed" version
has "not installed" "Kubernetes v1."

# --- with CRDs and objects -------------------------------------------------------------------

"$kubectl" apply -f crds/ >/dev/null
"$kubectl" wait --for=condition=Established crd -l '!x' --timeout=30s >/dev/null 2>&1
"$kubectl" create namespace $NS >/dev/null
"$kubectl" create namespace empty >/dev/null
# shellcheck source=objects.sh
. test/cli/objects.sh
k create serviceaccount deployer >/dev/null

# Two nodes whose kubelets serve files as logs. The log of the run in namespace `quiet` is silent until the end of this
# script; it is followed meanwhile, so that half a minute of silence costs none.
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$dir/kubelet.key" -out "$dir/kubelet.crt" -days 2 -subj /CN=node \
    -addext subjectAltName=IP:127.0.0.1 2>/dev/null
kubelet_port=$(($(cat "$dir/cp/port") + 3000))
kubelet() { # PORT: serves $dir/kubelet
    mkdir -p "$dir/kubelet"
    cd "$dir/kubelet" && exec openssl s_server -accept "127.0.0.1:$1" -cert ../kubelet.crt -key ../kubelet.key -WWW -quiet >/dev/null 2>&1 </dev/null
}
make_node() { # NAME PORT
    printf '{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "%s"}}' "$1" | "$kubectl" apply -f - >/dev/null
    "$kubectl" patch node "$1" --subresource=status --type=merge -p "{\"status\":{\"addresses\":[{\"type\":\"InternalIP\",\"address\":\"127.0.0.1\"}],\"daemonEndpoints\":{\"kubeletEndpoint\":{\"Port\":$2}}}}" >/dev/null
}
kubelet $kubelet_port &
kubelet_pid=$!
kubelet $((kubelet_port + 2)) &
slow_pid=$!
make_node node $kubelet_port
make_node slow-node $((kubelet_port + 2))
ENGINE_RUNS='{"phase":"Running","initContainerStatuses":[{"name":"report","image":"runner:1","imageID":"","ready":true,"restartCount":0,"state":{"running":{"startedAt":null}}}],"containerStatuses":[{"name":"engine","image":"runner:1","imageID":"","ready":true,"restartCount":0,"state":{"running":{"startedAt":null}}}]}'
"$kubectl" create namespace quiet >/dev/null
quiet_log=$dir/kubelet/containerLogs/quiet/quiet-pod
mkdir -p "$quiet_log"
mkfifo "$quiet_log/report?follow=true"
exec 9<>"$quiet_log/report?follow=true"
(
    NS=quiet
    k create serviceaccount deployer >/dev/null
    make_spec shop dev
    make_run shop-qqqqq-v1-b1 shop dev 1 development
    run_state shop-qqqqq-v1-b1 Pending
    run_state shop-qqqqq-v1-b1 Planning "{\"engine\":{\"phase\":\"plan\",\"podName\":\"quiet-pod\",\"startedAt\":\"$(at 100)\"}}"
    make_pod quiet-pod shop-qqqqq-v1-b1 plan "$ENGINE_RUNS" slow-node
    make_run shop-qqqqq-v2-b1 shop dev 2 development
    run_state shop-qqqqq-v2-b1 Pending
    run_state shop-qqqqq-v2-b1 Planning
    make_pod pending-pod shop-qqqqq-v2-b1 plan '{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","message":"0/3 nodes are available"}]}'
)
HOME=$dir timeout 120 "$bin" run logs shop-qqqqq-v1-b1 -n quiet --follow >"$dir/quiet.out" 2>"$dir/quiet.err" 9>&- &
quiet_pid=$!
HOME=$dir timeout 120 "$bin" run logs shop-qqqqq-v2-b1 -n quiet --follow >"$dir/pending.out" 2>"$dir/pending.err" 9>&- &
pending_pid=$!

krc 1 "a namespace that does not exist is told" status -n nowhere
says "there is no namespace nowhere" "kubectl get namespaces"
krc 1 "in the list of runs too" run list -n nowhere
says "there is no namespace nowhere"
krc 0 "a namespace without specifications is fine and says where to look" status -n empty
has "No DeploymentSpecification in namespace empty" "status -A"

make_env dev development && env_ready dev
make_env prod production && env_ready prod
make_env lost development
status environment.runtimecloud.io lost "{\"observedGeneration\":1,\"stateClaim\":{\"name\":\"rco-state-lost\",\"uid\":\"u\"},\"conditions\":[$(condition Ready False StateLost 'the volume claim rco-state-lost (uid u) is gone'),$(condition Stalled True StateLost 'the volume claim rco-state-lost (uid u) is gone')]}"

# shop: applied, with outputs and two logs.
make_spec shop dev
make_run shop-aaaaa-v1-b1 shop dev 1 development
printf 'Previewing update (shop-shop)\n + kubernetes:core/v1:ConfigMap web-config create\nR\xc3\xa9sum\xc3\xa9: 1 to create\n' >"$dir/plan.log"
{ for i in $(seq 1 400); do echo "apply line $i"; done; printf 'last line without newline'; } >"$dir/apply.log"
for i in $(seq 1 40000); do echo "plan line $i of a long log"; done >>"$dir/plan.log" # three parts
plan_log=$(store_log shop-aaaaa-v1-b1 plan "$dir/plan.log")
apply_log=$(store_log shop-aaaaa-v1-b1 apply "$dir/apply.log")
run_state shop-aaaaa-v1-b1 Pending
run_state shop-aaaaa-v1-b1 Planning "{\"startedAt\":\"$(at 100)\"}"
run_state shop-aaaaa-v1-b1 Planned "$(receipt 1 1 0 0)"
run_state shop-aaaaa-v1-b1 Applying "{\"engine\":{\"phase\":\"apply\",\"podName\":\"p\",\"startedAt\":\"$(at 80)\",\"project\":\"web\"}}"
run_state shop-aaaaa-v1-b1 Applied "{\"completedAt\":\"$(at 50)\",\"artifacts\":[$plan_log,$apply_log],\"applyReceipt\":{\"result\":\"Succeeded\",\"duration\":\"12s\",\"adds\":1,\"changes\":1,\"outputs\":{\"url\":\"http://web.example\"}}}"
shop_run=$(uid_of provisioningrun shop-aaaaa-v1-b1)
status deploymentspecification shop "{\"observedGeneration\":1,\"version\":1,\"declaredAt\":\"$(at 110)\",\"appliedVersion\":1,\"appliedAt\":\"$(at 50)\",\"appliedRunRef\":{\"name\":\"shop-aaaaa-v1-b1\",\"uid\":\"$shop_run\"},\"lastRun\":{\"name\":\"shop-aaaaa-v1-b1\",\"uid\":\"$shop_run\",\"version\":1,\"number\":1,\"state\":\"Applied\"},\"conditions\":[$(condition Ready True Applied 'version 1 is applied')]}"

krc 0 "an applied specification is fine" status shop -n $NS
has "Applied" "version 1" "shop-aaaaa-v1-b1" "url = http://web.example" "dev (development)" "Next: kubectl runtimecloud run show shop-aaaaa-v1-b1 -n team-a"
krc 0 "the JSON of a specification is a document of our own" status shop -n $NS -o json
json '.apiVersion == "cli.runtimecloud.io/v1" and .kind == "SpecificationStatus" and .health == "fine" and .appliedVersion == 1 and .outputs.url == "http://web.example" and .appliedRun.plan.adds == 1'
# A run with nothing to change after one with outputs.
make_spec calm dev '{"exportOutputs":["url"]}'
for n in 1 2; do
    make_run "calm-aaaaa-v1-b$n" calm dev 1 development
    run_state "calm-aaaaa-v1-b$n" Pending
    run_state "calm-aaaaa-v1-b$n" Planning "{\"startedAt\":\"$(at 100)\"}"
    run_state "calm-aaaaa-v1-b$n" Planned "$(receipt $((2 - n)) 0 0 0)"
    run_state "calm-aaaaa-v1-b$n" Applying
done
run_state calm-aaaaa-v1-b1 Applied "{\"completedAt\":\"$(at 50)\",\"applyReceipt\":{\"result\":\"Succeeded\",\"adds\":1,\"outputs\":{\"url\":\"http://calm.example\"}}}"
run_state calm-aaaaa-v1-b2 Applied "{\"completedAt\":\"$(at 40)\",\"reason\":\"NoChanges\",\"applyReceipt\":{\"result\":\"NoChanges\",\"sames\":1}}"
calm_run=$(uid_of provisioningrun calm-aaaaa-v1-b2)
status deploymentspecification calm "{\"observedGeneration\":1,\"version\":1,\"declaredAt\":\"$(at 110)\",\"appliedVersion\":1,\"appliedAt\":\"$(at 40)\",\"appliedRunRef\":{\"name\":\"calm-aaaaa-v1-b2\",\"uid\":\"$calm_run\"},\"lastRun\":{\"name\":\"calm-aaaaa-v1-b2\",\"uid\":\"$calm_run\",\"version\":1,\"number\":2,\"state\":\"Applied\"},\"conditions\":[$(condition Ready True Applied 'version 1 is applied')]}"
krc 0 "a run with nothing to change leaves the outputs as they were" status calm -n $NS
has "by run calm-aaaaa-v1-b2" "url = http://calm.example"
krc 0 "in JSON too" status calm -n $NS -o json
json '.outputs.url == "http://calm.example" and .appliedRun.name == "calm-aaaaa-v1-b2"'
"$kubectl" -n $NS delete deploymentspecification calm >/dev/null && "$kubectl" -n $NS delete provisioningrun calm-aaaaa-v1-b1 calm-aaaaa-v1-b2 >/dev/null
krc 0 "the same as YAML" status shop -n $NS -o yaml
has "apiVersion: cli.runtimecloud.io/v1" "health: fine" "appliedVersion: 1"
krc 0 "run show has the whole story" run show shop-aaaaa-v1-b1 -n $NS
has "Timeline" "taken up" "apply engine began in pod p" "1 to create, 1 to change" "kubernetes:core/v1:ConfigMap  web-config" \
    "kubernetes:apps/v1:Deployment  web" "Succeeded in 12s" "url = http://web.example" "Artifacts" "shop-shop of project web"
krc 0 "wide run show has whole digests" run show shop-aaaaa-v1-b1 -n $NS -o wide
has "$(hex64 plan)" "base state" "workspace"
krc 0 "run show -o json is the object itself without managedFields" run show shop-aaaaa-v1-b1 -n $NS -o json
json '.kind == "ProvisioningRun" and .status.state == "Applied" and (.metadata.managedFields | not)'
krc 0 "run show takes the newest run of a specification" run show --spec shop -n $NS
has "shop-aaaaa-v1-b1"
krc 0 "run watch of an applied run ends at once with 0" run watch shop-aaaaa-v1-b1 -n $NS
has "Applied"
krc 0 "the newest log is the apply's" run logs shop-aaaaa-v1-b1 -n $NS
if [ "$out" = "$(cat "$dir/apply.log")" ]; then result ok "$current"; else result fail "$current" "not the same text"; fi
"$bin" run logs --spec shop -n $NS --phase plan >"$dir/got" 2>/dev/null
if cmp -s "$dir/got" "$dir/plan.log"; then result ok "the plan's log is the same byte for byte"; else
    result fail "the plan's log is the same byte for byte"
fi
krc 0 "run logs --follow of an ended run prints what both phases stored" run logs --spec shop -n $NS --follow
has "==> plan, its whole log" "ConfigMap web-config create" "==> apply, its whole log" "apply line 400"
second=$(chunk_name shop-aaaaa-v1-b1 plan "$(jq -r .digest <<<"$plan_log")" 1)
k patch configmap "$second" --type=merge -p '{"binaryData":{"data":"eHh4"}}' >/dev/null
krc 1 "a log whose chunk was changed says so" run logs --spec shop -n $NS --phase plan
says "is not what the runner sent"
k delete configmap "$second" >/dev/null
krc 1 "a log with a missing chunk names it" run logs --spec shop -n $NS --phase plan
says "part 2 of 3" "$second"

# broken: its first version failed.
make_spec broken dev
make_run broken-bbbbb-v1-b1 broken dev 1 development
run_state broken-bbbbb-v1-b1 Pending
run_state broken-bbbbb-v1-b1 Planning
run_state broken-bbbbb-v1-b1 Failed "{\"reason\":\"Source\",\"completedAt\":\"$(at 30)\",\"failure\":{\"class\":\"Source\",\"message\":\"commit $COMMIT is not in the repository\"}}"
broken_run=$(uid_of provisioningrun broken-bbbbb-v1-b1)
status deploymentspecification broken "{\"observedGeneration\":1,\"version\":1,\"lastRun\":{\"name\":\"broken-bbbbb-v1-b1\",\"uid\":\"$broken_run\",\"version\":1,\"state\":\"Failed\"},\"failure\":{\"class\":\"Source\",\"attempts\":1},\"conditions\":[$(condition Ready False Source 'run failed'),$(condition Stalled True Source 'run failed')]}"
krc 1 "a failed specification says why and what to do" status broken -n $NS
has "Failed" "(Source)" "is not in the repository" "Next: kubectl runtimecloud run logs broken-bbbbb-v1-b1 -n team-a"
krc 1 "why says who must act" why broken -n $NS
has "Who: whoever changes" "could not be fetched"
krc 1 "a failed run is shown with exit code 1" run show broken-bbbbb-v1-b1 -n $NS
has "Failure" "Source" "is not in the repository"
krc 1 "run watch of a failed run ends with 1" run watch broken-bbbbb-v1-b1 -n $NS
has "Failed"
krc 1 "a run that failed before any log says so" run logs broken-bbbbb-v1-b1 -n $NS
says "stored no log" "Source" "is not in the repository"

# needy: a Secret was missing, it is tried again; taken: its stack has another owner.
make_spec needy dev
make_run needy-eeeee-v1-b1 needy dev 1 development
run_state needy-eeeee-v1-b1 Pending
run_state needy-eeeee-v1-b1 Planning
run_state needy-eeeee-v1-b1 Failed "{\"reason\":\"MissingSecret\",\"completedAt\":\"$(at 30)\",\"failure\":{\"class\":\"Config\",\"message\":\"missing Secret dev-db key password (spec.secretRefs, dbPassword): there is no such Secret in this namespace, or it has no such key\"}}"
needy_run=$(uid_of provisioningrun needy-eeeee-v1-b1)
status deploymentspecification needy "{\"observedGeneration\":1,\"version\":1,\"lastRun\":{\"name\":\"needy-eeeee-v1-b1\",\"uid\":\"$needy_run\",\"version\":1,\"state\":\"Failed\",\"reason\":\"MissingSecret\"},\"failure\":{\"class\":\"Config\",\"attempts\":1,\"nextAttemptAt\":\"$(date -u -d '+5 minutes' +%Y-%m-%dT%H:%M:%SZ)\"},\"conditions\":[$(condition Ready False Config 'run failed'),$(condition Reconciling True ProgressingWithRetry 'run failed')]}"
krc 1 "a missing Secret is named, with the time of the next attempt" status needy -n $NS
has "missing Secret dev-db key password" "tried again by itself in 4m" "run-now="
paste "create secret generic dev-db --from-literal=password=VALUE"
k create secret generic dev-db --dry-run=client -o yaml --from-literal=user=u | k replace -f - >/dev/null
paste "kubectl patch secret dev-db"
is VkFMVUU= k get secret dev-db -o 'jsonpath={.data.password}'
make_spec taken dev
status deploymentspecification taken "{\"observedGeneration\":1,\"version\":1,\"failure\":{\"class\":\"Config\",\"attempts\":1},\"conditions\":[$(condition Ready False StackClaimed 'stack shop-x belongs to team-b/other'),$(condition Stalled True StackClaimed 'stack shop-x belongs to team-b/other')]}"
krc 1 "a stack that another specification holds is said" why taken -n $NS
has "stalled (StackClaimed)" "belongs to team-b/other" "two can never share one"

# cart: its plan is running, in a pod that pulls its image.
make_spec cart dev
make_run cart-ccccc-v1-b1 cart dev 1 development
run_state cart-ccccc-v1-b1 Pending
status deploymentspecification cart "{\"observedGeneration\":1,\"version\":1,\"currentRunRef\":{\"name\":\"cart-ccccc-v1-b1\"},\"conditions\":[$(condition Ready Unknown Progressing 'run cart-ccccc-v1-b1 is under way')]}"
krc 1 "a pending run waits" why run/cart-ccccc-v1-b1 -n $NS
has "has not begun"
run_state cart-ccccc-v1-b1 Planning "{\"startedAt\":\"$(at 20)\"}"
make_pod cart-pod cart-ccccc-v1-b1 plan '{"phase":"Pending","initContainerStatuses":[{"name":"fetch","image":"runner:1","imageID":"","ready":false,"restartCount":0,"state":{"waiting":{"reason":"ImagePullBackOff","message":"Back-off pulling image runner:1"}}}]}'
krc 1 "a pod that cannot start is the reason" why cart -n $NS
has "container fetch waits: ImagePullBackOff: Back-off pulling image runner:1" "Who: the platform engineer"
krc 1 "run watch gives up after --timeout and says that the run goes on" run watch --spec cart -n $NS --timeout 1s
says "has not ended within --timeout" "Planning"
krc 1 "run logs before there are any points to --follow" run logs cart-ccccc-v1-b1 -n $NS
says "--follow"

# payroll: production, waits for an approval that this version cannot record.
make_spec payroll prod
make_run payroll-ddddd-v1-b1 payroll prod 1 production
run_state payroll-ddddd-v1-b1 Pending
run_state payroll-ddddd-v1-b1 Planning
run_state payroll-ddddd-v1-b1 Planned "$(receipt 3 0 2 1)"
run_state payroll-ddddd-v1-b1 AwaitingApproval '{"reason":"ApprovalUnavailable"}'
status deploymentspecification payroll "{\"observedGeneration\":1,\"version\":1,\"currentRunRef\":{\"name\":\"payroll-ddddd-v1-b1\"},\"conditions\":[$(condition Ready True AwaitingDecision 'waits')]}"
krc 1 "an approval that cannot come is said plainly" why payroll -n $NS
has "waits for an approval (ApprovalUnavailable)" "3 to create, 0 to change, 2 to delete, 1 to replace" "this version cannot record one"
krc 1 "run watch does not wait for ever for it" run watch --spec payroll -n $NS
has "AwaitingApproval"

# refused: the namespace takes no pod of its Job, which only an Event of the Job tells.
make_spec refused dev
make_run refused-ggggg-v1-b1 refused dev 1 development
run_state refused-ggggg-v1-b1 Pending
run_state refused-ggggg-v1-b1 Planning '{"engine":{"phase":"plan","jobName":"rco-refused-p","jobUid":"j1"}}'
k apply -f - >/dev/null <<EOF
{"apiVersion": "v1", "kind": "Event", "metadata": {"name": "rco-refused-p.1"}, "type": "Warning", "reason": "FailedCreate",
 "involvedObject": {"apiVersion": "batch/v1", "kind": "Job", "namespace": "$NS", "name": "rco-refused-p"}, "source": {"component": "job-controller"},
 "message": "Error creating: pods \"rco-refused-p-\" is forbidden: error looking up service account team-a/lost: serviceaccount \"lost\" not found", "firstTimestamp": "$(at 5)", "lastTimestamp": "$(at 5)", "count": 1}
EOF
krc 1 "why a Job cannot make its pod is said" why run/refused-ggggg-v1-b1 -n $NS
has "Job rco-refused-p cannot make its pod: Error creating:" "serviceaccount \"lost\" not found" "kubectl describe job rco-refused-p -n team-a"
paste "kubectl create serviceaccount lost"
k delete serviceaccount lost >/dev/null
k delete deploymentspecification refused >/dev/null
k delete provisioningrun refused-ggggg-v1-b1 >/dev/null

# missing, paused, fresh, stranded.
make_spec missing dev
status deploymentspecification missing "{\"observedGeneration\":1,\"version\":1,\"conditions\":[$(condition Ready False ReferenceMissing 'configRefs[0]: ConfigMap web-settings does not exist in namespace team-a')]}"
krc 1 "a missing reference is what is waited for" why missing -n $NS
has "waits (ReferenceMissing)" "ConfigMap web-settings does not exist" "goes on by itself"
# keyless: the commands that its ConfigMap needs work as they stand, one after the other.
make_spec keyless dev '{"configRefs":[{"key":"shop:color","configMapKeyRef":{"name":"keyless","key":"color"}},{"key":"size","configMapKeyRef":{"name":"keyless","key":"size"}}]}'
waits() { # MESSAGE
    status deploymentspecification keyless "{\"observedGeneration\":1,\"version\":1,\"conditions\":[$(condition Ready False ReferenceMissing "$1")]}"
}
waits "ConfigMap keyless (spec.configRefs, shop:color) does not exist in namespace $NS, or has no label runtimecloud.io/environment=dev; create or label it and this goes on by itself"
krc 1 "a ConfigMap that is missing has the commands that make it" why keyless -n $NS
paste "create configmap keyless --from-literal=color=VALUE --from-literal=size=VALUE" "label configmap keyless"
is dev k get configmap keyless -o 'jsonpath={.metadata.labels.runtimecloud\.io/environment}'
waits "ConfigMap keyless has no key max.size (spec.configRefs, size); add it and this goes on by itself"
krc 1 "a key that is missing has the command that adds it" why keyless -n $NS
paste "patch configmap keyless"
is VALUE k get configmap keyless -o 'jsonpath={.data.max\.size}'
k delete deploymentspecification/keyless configmap/keyless >/dev/null
make_spec paused dev '{"suspend":true}'
status deploymentspecification paused "{\"observedGeneration\":1,\"version\":1,\"conditions\":[$(condition Ready True Suspended 'suspended'),$(condition Suspended True Suspended 'suspended')]}"
krc 1 "a suspended specification names the command that ends it" status paused -n $NS
has "Suspended" "\"suspend\":false"
make_spec fresh dev
krc 1 "a specification nobody looked at points to check" status fresh -n $NS
has "has not looked at" "kubectl runtimecloud check"
make_spec stranded nowhere
status deploymentspecification stranded "{\"observedGeneration\":1,\"version\":1,\"conditions\":[$(condition Ready False ReferenceMissing 'Environment nowhere does not exist')]}"
krc 1 "an Environment that does not exist is named" status stranded -n $NS
has "nowhere (does not exist)"

krc 1 "the table has every specification and one next command" status -n $NS
has NAME ENVIRONMENT APPLIED shop broken cart payroll missing paused fresh "Awaiting approval" "Next: kubectl runtimecloud status"
has_not "could be seen" "cannot be seen"
krc 1 "all namespaces have a column for them" status -A
has NAMESPACE team-a
krc 1 "wide has commit and run" status -n $NS -o wide
has COMMIT 0123456789ab broken-bbbbb-v1-b1
krc 1 "the JSON list" status -n $NS -o json
json '.kind == "SpecificationStatusList" and (.items | length) == 10 and ([.items[] | select(.health == "bad")] | length) == 3'
krc 1 "an Environment with what deploys to it" status environment/dev -n $NS
has "Ready" "development" shop cart
krc 1 "a stalled Environment" why environment/lost -n $NS
has "stalled (StateLost)" "rco-state-lost" "Who: whoever owns the Environment"
krc 0 "a ready Environment" why renv/prod -n $NS
has "is ready" "Who: nobody has to do anything"
krc 1 "a near name is suggested" status shp -n $NS
says 'did you mean "shop"?'
krc 1 "a specification where a run was meant" run show shop -n $NS
says "that is a DeploymentSpecification" "shop-aaaaa-v1-b1" "--spec shop"

krc 0 "the list of runs" run list -n $NS
has NAME SPEC STATE REPLACE shop-aaaaa-v1-b1 broken-bbbbb-v1-b1
krc 0 "runs of one specification" run list -n $NS --spec shop
has shop-aaaaa-v1-b1
has_not broken-bbbbb-v1-b1
krc 0 "runs by state, any case, several" run list -n $NS --state failed,Planning
has broken-bbbbb-v1-b1 cart-ccccc-v1-b1
has_not shop-aaaaa-v1-b1
krc 0 "no run at all" run list -n empty
has "No run in namespace empty"
krc 0 "runs as a List" run list -n $NS -o json
json '.kind == "List" and (.items | length) == 5 and ([.items[] | select(.metadata.managedFields)] | length) == 0'
krc 0 "runs as YAML" run list -n $NS -o yaml
if "$kubectl" apply --dry-run=client -f - <<<"$out" >/dev/null 2>"$dir/stderr"; then result ok "$current"; else
    result fail "$current" "kubectl does not read it: $(<"$dir/stderr")"
fi

# --- a run while it is watched ---------------------------------------------------------------

"$bin" run watch cart-ccccc-v1-b1 -n $NS >"$dir/watch" 2>&1 &
watch_pid=$!
sleep 1
run_state cart-ccccc-v1-b1 Planned "$(receipt 1 0 0 0)"
sleep 0.5
run_state cart-ccccc-v1-b1 Applying
sleep 0.5
run_state cart-ccccc-v1-b1 Applied "{\"completedAt\":\"$(at 0)\",\"applyReceipt\":{\"result\":\"Succeeded\"}}"
wait $watch_pid
code=$?
out=$(<"$dir/watch") err='' current="run watch follows a run to Applied and exits 0"
if [ $code = 0 ]; then result ok "$current"; else result fail "$current" "exit $code: $out"; fi
has Planning Planned Applying Applied
make_run cart-ccccc-v1-b2 cart dev 1 development
run_state cart-ccccc-v1-b2 Pending
"$bin" run watch cart-ccccc-v1-b2 -n $NS >"$dir/watch" 2>&1 &
watch_pid=$!
sleep 1
k delete provisioningrun cart-ccccc-v1-b2 >/dev/null
wait $watch_pid
code=$?
out=$(<"$dir/watch") err='' current="run watch ends with 1 when the run is deleted"
if [ $code = 1 ]; then result ok "$current"; else result fail "$current" "exit $code: $out"; fi
has "was deleted"

# --- run watch --spec: the run of what is declared now, never an older one ---------------------

krc 1 "run watch --spec says why there is no run and that nobody makes one" run watch --spec paused -n $NS
says "no run to watch" "suspended" "kubectl runtimecloud why paused"
krc 1 "run watch --spec of a stalled specification ends at once" run watch --spec taken -n $NS
says "no run to watch" "belongs to team-b/other"
krc 1 "run watch --spec waits for what goes on by itself" run watch --spec missing -n $NS --timeout 1s
has Waiting "ConfigMap web-settings does not exist"
says "no run has begun within --timeout" "ConfigMap web-settings does not exist"
make_spec moved dev
make_run moved-fffff-v1-b1 moved dev 1 development
for state in Pending Planning; do run_state moved-fffff-v1-b1 $state; done
for state in Planned Applying; do run_state moved-fffff-v1-b1 $state "$(receipt 1 0 0 0)"; done
run_state moved-fffff-v1-b1 Applied "{\"completedAt\":\"$(at 50)\",\"applyReceipt\":{\"result\":\"Succeeded\"}}"
moved_run=$(uid_of provisioningrun moved-fffff-v1-b1)
status deploymentspecification moved "{\"observedGeneration\":1,\"version\":1,\"appliedVersion\":1,\"appliedRunRef\":{\"name\":\"moved-fffff-v1-b1\",\"uid\":\"$moved_run\"},\"lastRun\":{\"name\":\"moved-fffff-v1-b1\",\"uid\":\"$moved_run\",\"version\":1,\"number\":1,\"state\":\"Applied\"},\"conditions\":[$(condition Ready True Applied 'version 1 is applied')]}"
krc 0 "run watch --spec of what is applied is done" run watch --spec moved -n $NS
has moved-fffff-v1-b1
k annotate deploymentspecification moved runtimecloud.io/run-now=1 >/dev/null
krc 1 "run watch --spec waits for a run that was just asked for" run watch --spec moved -n $NS --timeout 1s
says "no run has begun within --timeout"
status deploymentspecification moved '{"handledRequests":{"run-now":"1"}}'
krc 0 "and takes what the operator says was asked for" run watch --spec moved -n $NS
k patch deploymentspecification moved --type=merge -p '{"spec":{"programVersion":"1123456789abcdef0123456789abcdef01234567"}}' >/dev/null
"$bin" run watch --spec moved -n $NS >"$dir/watch" 2>&1 &
watch_pid=$!
sleep 1
make_run moved-fffff-v2-b1 moved dev 2 development
run_state moved-fffff-v2-b1 Pending
status deploymentspecification moved "{\"observedGeneration\":2,\"version\":2,\"currentRunRef\":{\"name\":\"moved-fffff-v2-b1\"}}"
run_state moved-fffff-v2-b1 Planning
sleep 1
run_state moved-fffff-v2-b1 Failed "{\"completedAt\":\"$(at 0)\",\"failure\":{\"class\":\"Source\",\"message\":\"no such commit\"}}"
wait $watch_pid
code=$?
out=$(<"$dir/watch") err='' current="run watch --spec waits for the run of a change that was just made"
if [ $code = 1 ]; then result ok "$current"; else result fail "$current" "exit $code: $out"; fi
has Unobserved "no such commit" moved-fffff-v2-b1
has_not "applied version 1"

# --- logs of running pods, through the API server to a kubelet -------------------------------

web=$dir/kubelet/containerLogs/$NS/follow-pod
mkdir -p "$web"
printf 'fetched 12 files\n' >"$web/fetch?follow=true"
printf 'installed 3 plugins\n' >"$web/install?follow=true"
printf 'engine says \033[31mhello\033[0m\n' >"$web/report?follow=true"
printf 'wrapper is done\n' >"$web/engine?follow=true"
printf 'engine so far\n' >"$web/engine"
make_run cart-ccccc-v1-b3 cart dev 1 development
run_state cart-ccccc-v1-b3 Pending
run_state cart-ccccc-v1-b3 Planning "{\"engine\":{\"phase\":\"plan\",\"podName\":\"follow-pod\",\"startedAt\":\"$(at 100)\"}}"
make_pod follow-pod cart-ccccc-v1-b3 plan '{"phase":"Running","initContainerStatuses":[{"name":"fetch","image":"runner:1","imageID":"","ready":true,"restartCount":0,"state":{"terminated":{"exitCode":0,"finishedAt":null,"startedAt":null}}},{"name":"install","image":"runner:1","imageID":"","ready":true,"restartCount":0,"state":{"terminated":{"exitCode":0,"finishedAt":null,"startedAt":null}}},{"name":"report","image":"runner:1","imageID":"","ready":true,"restartCount":0,"state":{"running":{"startedAt":null}}}],"containerStatuses":[{"name":"engine","image":"runner:1","imageID":"","ready":true,"restartCount":0,"state":{"running":{"startedAt":null}}}]}'
printf '+ create kubernetes:apps/v1:Deployment web\033[31m\n2026-11-30T12:00:00.123456Z info waiting\n' >"$web/report?tailLines=20"
krc 1 "an engine that is long at work: since when, until when, on what, how to cancel" why run/cart-ccccc-v1-b3 -n $NS
has "the plan engine has been at work for" "runner.timeout ends it at" "the engine says: + create kubernetes:apps/v1:Deployment web?[31m" \
    "run logs cart-ccccc-v1-b3 --follow -n team-a" "kubectl patch prun cart-ccccc-v1-b3 --type merge" "\"by\":\"$("$kubectl" auth whoami -o 'jsonpath={.status.userInfo.username}')\""
cp "$web/report?tailLines=20" "$dir/says"
run_state cart-ccccc-v1-b3 Planning "{\"engine\":{\"phase\":\"plan\",\"podName\":\"follow-pod\",\"startedAt\":\"$(date -u +%Y-%m-%dT%H:%M:%SZ)\"}}"
krc 1 "an engine that has just begun is left alone" why run/cart-ccccc-v1-b3 -n $NS
has "Who: nobody has to do anything"
has_not "kubectl patch prun"
printf '%s\n' 'web: [ImagePullBackOff] Back-off pulling image "wbe:1"' >"$web/report?tailLines=20"
krc 1 "unless it waits for what cannot start" why run/cart-ccccc-v1-b3 -n $NS
has "Who: whoever changes the specification" "what it deploys cannot start" "kubectl patch prun cart-ccccc-v1-b3 --type merge" "programVersion" \
    "\"by\":\"$("$kubectl" auth whoami -o 'jsonpath={.status.userInfo.username}')\""
printf '%s\n' "deployments.apps \"web\" is forbidden: User \"system:serviceaccount:$NS:deployer\" cannot create resource \"deployments\" in API group \"apps\" in the namespace \"$NS\"" \
    >"$web/report?tailLines=20"
krc 1 "or for a right" why run/cart-ccccc-v1-b3 -n $NS
has "Who: whoever gives rights" "kubectl patch prun cart-ccccc-v1-b3"
paste "create role deployer-change-deployments.apps" "create rolebinding deployer-change-deployments.apps" \
    "create role deployer-read-workloads" "create rolebinding deployer-read-workloads"
for may in "create deployments.apps" "list pods" "watch events" "get endpoints" "list persistentvolumeclaims" "watch replicasets.apps" "list endpointslices.discovery.k8s.io"; do
    # shellcheck disable=SC2086
    is yes k auth can-i $may --as="system:serviceaccount:$NS:deployer"
done
k delete role,rolebinding deployer-change-deployments.apps deployer-read-workloads >/dev/null
cp "$dir/says" "$web/report?tailLines=20"
run_state cart-ccccc-v1-b3 Planning "{\"engine\":{\"phase\":\"plan\",\"podName\":\"follow-pod\",\"startedAt\":\"$(at 100)\"}}"
krc 1 "after a minute it is said how to cancel" why run/cart-ccccc-v1-b3 -n $NS
paste "kubectl patch prun cart-ccccc-v1-b3"
krc 0 "who was asked to stop is not cancelled again" run show cart-ccccc-v1-b3 -n $NS
has "asked it to stop" "at work for"
has_not "kubectl patch prun"
(
    sleep 3
    run_state cart-ccccc-v1-b3 Failed '{"failure":{"class":"Resource","message":"no"}}'
) &
krc 0 "run logs --follow shows fetch, install and what the engine says of the running pod in order" run logs cart-ccccc-v1-b3 -n $NS --follow
has "==> plan, fetch (pod follow-pod)" "fetched 12 files" "installed 3 plugins" "engine says" "wrapper is done"
order=$(grep -nE 'fetched|installed|engine says|wrapper' <<<"$out" | cut -d: -f1 | tr '\n' ' ')
if [ "$order" = "$(tr ' ' '\n' <<<"$order" | sort -n | xargs) " ]; then result ok "$current"; else result fail "$current" "order $order"; fi
krc 0 "run logs of a container while its pod is there" run logs cart-ccccc-v1-b3 -n $NS --container engine
has "engine so far"

# --- advice that names what a message names, and that works as it stands ------------------------

make_failed colorless Config "Stack 'shop-colorless' is missing configuration value 'shop:color'"
krc 1 "a missing configuration value is added by an entry of the specification" status colorless -n $NS
has "add an entry to spec.configRefs, like {key: shop:color, configMapKeyRef:" "Next: kubectl edit deploymentspecification colorless -n team-a"
has_not "run-now="
"$kubectl" create namespace web >/dev/null
make_failed barred Resource "deployments.apps \"web\" is forbidden: User \"system:serviceaccount:team-a:deployer\" cannot patch resource \"deployments/scale\" in API group \"apps\" in the namespace \"web\""
krc 1 "a right that the program's account lacks is given by two commands" why barred -n $NS --kubeconfig "$KUBECONFIG"
has "--resource=deployments.apps/scale -n web --kubeconfig $KUBECONFIG" "run-now=\"\$(date +%s)\" -n team-a --kubeconfig $KUBECONFIG"
is no "$kubectl" auth can-i patch deployments.apps/scale -n web --as system:serviceaccount:team-a:deployer
paste "kubectl create role deployer-patch-" "kubectl create rolebinding deployer-patch-"
is yes "$kubectl" auth can-i patch deployments.apps --subresource=scale -n web --as system:serviceaccount:team-a:deployer
make_failed wide Auth "namespaces \"x\" is forbidden: User \"system:serviceaccount:team-a:deployer\" cannot create resource \"namespaces\" in API group \"\" at the cluster scope"
krc 1 "the same in the whole cluster, whatever the class" why wide -n $NS
paste "kubectl create clusterrole deployer-change-" "kubectl create clusterrolebinding deployer-change-"
is yes "$kubectl" auth can-i create namespaces --as system:serviceaccount:team-a:deployer
is yes "$kubectl" auth can-i delete namespaces --as system:serviceaccount:team-a:deployer
make_failed sly Resource "x is forbidden: User \"system:serviceaccount:kube-system:default\" cannot get resource \"secrets\" in API group \"\" in the namespace \"kube-system\""
krc 1 "rights are proposed for no account but the run's" why sly -n $NS
has_not "kubectl create role"
make_env away development '{"clusterAccess":"ServiceAccount","applyServiceAccountName":"ghost"}' && env_ready away
krc 1 "an Environment whose service account does not exist is not fine" status environment/away -n $NS
has "No account" "service account ghost, which programs act as" "does not exist"
krc 1 "nor is it for why" why environment/away -n $NS
json_before=$out
krc 1 "and for programs" why environment/away -n $NS -o json
json '.health == "waiting" and (.next[0] | startswith("kubectl create serviceaccount ghost"))'
out=$json_before
paste "kubectl create serviceaccount ghost"
krc 0 "it is when the account is there" why environment/away -n $NS
k delete serviceaccount ghost >/dev/null
make_failed gone Source "no such commit"
k delete deploymentspecification gone >/dev/null
krc 1 "a specification that was deleted has left its runs" status gone -n $NS
says "any more" "1 of its runs are left: kubectl runtimecloud run list --spec gone -n team-a"
krc 0 "and they are there" run list --spec gone -n $NS
has gone-fffff-v1-b1

# --- rights ----------------------------------------------------------------------------------

kubeconfig_as() { # NAME TOKEN
    sed -e '/client-certificate:/d' -e "s#client-key:.*#token: $2#" "$KUBECONFIG" >"$dir/$1.kubeconfig"
}
k create serviceaccount viewer >/dev/null
k create serviceaccount nobody >/dev/null
"$kubectl" create clusterrole looker --verb=get,list,watch --resource=deploymentspecifications.runtimecloud.io,provisioningruns.runtimecloud.io,environments.runtimecloud.io,configmaps >/dev/null
k create rolebinding looker --clusterrole=looker --serviceaccount=$NS:viewer >/dev/null
k create role podder --verb=create --resource=pods >/dev/null
k create rolebinding podder --role=podder --user=jane >/dev/null
"$kubectl" create clusterrole reader --verb=get,list --resource=secrets >/dev/null
"$kubectl" create clusterrolebinding reader --clusterrole=reader --group=auditors >/dev/null
kubeconfig_as viewer "$(k create token viewer)"
kubeconfig_as nobody "$(k create token nobody)"
kubeconfig_as wrong not-a-token
krc 0 "a token works as credential" status shop -n $NS --kubeconfig "$dir/viewer.kubeconfig"
has "Applied" "--kubeconfig $dir/viewer.kubeconfig"
krc 1 "a viewer may see everything but pods" why run/payroll-ddddd-v1-b1 -n $NS --kubeconfig "$dir/viewer.kubeconfig"
krc 0 "who may not read service accounts is told nothing of them" why environment/away -n $NS --kubeconfig "$dir/viewer.kubeconfig"
has "is ready"
k create clusterrolebinding quiet-looker --clusterrole=looker --serviceaccount=$NS:viewer >/dev/null
krc 1 "who may not read the logs of pods learns what to ask for" run logs shop-qqqqq-v1-b1 -n quiet --follow --kubeconfig "$dir/viewer.kubeconfig"
says "pods/log" "ClusterRole view"
krc 1 "who may not read pods and logs sees since when the engine works, and no complaint" why run/shop-qqqqq-v1-b1 -n quiet --kubeconfig "$dir/viewer.kubeconfig"
has "its pod cannot be seen" "at work for" "\"by\":\"system:serviceaccount:team-a:viewer\""
has_not forbidden "the engine says"
"$kubectl" delete clusterrolebinding quiet-looker >/dev/null
krc 1 "a missing right names verb, resource and role" status -n $NS --kubeconfig "$dir/nobody.kubeconfig"
says 'cannot list resource "deploymentspecifications"' "runtime-cloud-viewer"
krc 1 "credentials that are not accepted" status -n $NS --kubeconfig "$dir/wrong.kubeconfig"
says "log in again"
krc 1 "check lists the rights of the caller" check -n $NS --kubeconfig "$dir/nobody.kubeconfig"
has "see specifications: no (verb list on deploymentspecifications.runtimecloud.io)" "system:serviceaccount:team-a:nobody"
krc 1 "check names the approvers in fact" check -n $NS
has "User jane: can create pods (RoleBinding podder)" "Group auditors: can read Secrets (ClusterRoleBinding reader)"
has_not "ServiceAccount team-a/viewer: can"

# --- an installation -------------------------------------------------------------------------

"$kubectl" create namespace runtime-cloud >/dev/null
for crd in $("$kubectl" get crd -o name | grep runtimecloud.io); do
    "$kubectl" annotate "$crd" runtimecloud.io/operator-namespace=runtime-cloud >/dev/null
done
policy() { # NAME
    jq -n --arg n "$1" '{apiVersion: "v1", kind: "List", items: [
        {apiVersion: "admissionregistration.k8s.io/v1", kind: "ValidatingAdmissionPolicy", metadata: {name: $n},
         spec: {matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["bindings"]}]},
                validations: [{expression: "true"}]}},
        {apiVersion: "admissionregistration.k8s.io/v1", kind: "ValidatingAdmissionPolicyBinding", metadata: {name: $n},
         spec: {policyName: $n, validationActions: ["Deny"]}}]}' | "$kubectl" apply -f - >/dev/null
}
for name in environments operator-owned namespaces sealed-pods sealed-tokens sealed-objects; do policy $name.runtimecloud.io; done
jq -n '{apiVersion: "apps/v1", kind: "Deployment", metadata: {name: "runtime-cloud-operator", namespace: "runtime-cloud",
         labels: {"app.kubernetes.io/name": "runtime-cloud-operator"}},
        spec: {replicas: 2, selector: {matchLabels: {a: "b"}}, template: {metadata: {labels: {a: "b"}},
         spec: {containers: [{name: "controller", image: "controller:1"}]}}}}' | "$kubectl" apply -f - >/dev/null
ready() { "$kubectl" -n runtime-cloud patch deployment runtime-cloud-operator --subresource=status --type=merge -p "{\"status\":{\"replicas\":2,\"readyReplicas\":$1}}" >/dev/null; }
krc 1 "check says that no pod of the controller is ready" check -n $NS
has "deployment runtime-cloud/runtime-cloud-operator has no ready pod (wants 2)"
ready 1
krc 0 "check warns while a replica is missing" check -n $NS
has "warning" "1 of 2 pods ready"
ready 2
krc 0 "check of a complete installation" check -n $NS -o json
json '.ok and ([.items[] | select(.section == "Installation" and .result != "ok")] | length) == 0 and ([.items[] | select(.section == "Installation")] | length) == 6'
"$kubectl" delete validatingadmissionpolicybinding sealed-pods.runtimecloud.io >/dev/null
krc 1 "check finds a policy that is not bound" check -n $NS
has "sealed-pods.runtimecloud.io is there but not bound" "helm upgrade"
policy sealed-pods.runtimecloud.io
"$kubectl" annotate --overwrite crd tenants.runtimecloud.io runtimecloud.io/api-revision=7 >/dev/null
krc 1 "check finds CRDs of another revision" check -n $NS
has "tenants.runtimecloud.io has revision 7, this program is made for 1"
"$kubectl" annotate --overwrite crd tenants.runtimecloud.io runtimecloud.io/api-revision=1 >/dev/null
krc 1 "check of another place finds no controller" check -n $NS --operator-namespace empty
has "no Deployment labelled" "namespace empty"
krc 1 "check of a namespace that does not exist" check -n absent
has "namespace: does not exist"

mkdir -p "$dir/old/apis/runtimecloud.io"
printf '{"major":"1","minor":"29","gitVersion":"v1.29.3"}' >"$dir/old/version"
printf '{"resources":[]}' >"$dir/old/apis/runtimecloud.io/v1alpha1"
(cd "$dir/old" && exec openssl s_server -accept 127.0.0.1:$((kubelet_port + 1)) -cert ../kubelet.crt -key ../kubelet.key -WWW -quiet >/dev/null 2>&1 </dev/null) &
old_pid=$!
sleep 0.3
sed -e "s#server: .*#server: https://127.0.0.1:$((kubelet_port + 1))#" -e "s#certificate-authority: .*#certificate-authority: $dir/kubelet.crt#" "$KUBECONFIG" >"$dir/old.kubeconfig"
krc 1 "a server before 1.30 is not supported" version --kubeconfig "$dir/old.kubeconfig"
has "Kubernetes v1.29.3 (not supported: older than 1.30)"
kill $old_pid 2>/dev/null

# --- TLS and plugins -------------------------------------------------------------------------

sed 's#server: https://127.0.0.1:#server: https://localhost:#' "$KUBECONFIG" >"$dir/localhost.kubeconfig"
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$dir/o.key" -out "$dir/other-ca.crt" -days 2 -subj /CN=other 2>/dev/null
sed "s#certificate-authority: .*#certificate-authority: $dir/other-ca.crt#" "$KUBECONFIG" >"$dir/otherca.kubeconfig"
krc 1 "a server that the CA does not vouch for is refused" status -n $NS --kubeconfig "$dir/otherca.kubeconfig"
says "certificate-authority" "otherca.kubeconfig"
sed "s#certificate-authority: .*#certificate-authority: $dir/none.crt#" "$KUBECONFIG" >"$dir/noca.kubeconfig"
krc 1 "a CA file that is not there is named with its field" status -n $NS --kubeconfig "$dir/noca.kubeconfig"
says "certificate-authority" "$dir/none.crt"
data() { base64 -w0 "$1"; }
sed -e "s#certificate-authority: .*#certificate-authority-data: $(data "$dir/cp/pki/ca.crt")#" \
    -e "s#client-certificate: .*#client-certificate-data: $(data "$dir/cp/pki/admin.crt")#" \
    -e "s#client-key: .*#client-key-data: $(data "$dir/cp/pki/admin.key")#" "$KUBECONFIG" >"$dir/inline.kubeconfig"
krc 0 "certificates inside the kubeconfig" status shop -n $NS --kubeconfig "$dir/inline.kubeconfig"
{
    sed '/client-certificate:/,/client-key:/d' "$KUBECONFIG" | sed '/user:$/,$d'
    printf '    user:\n      exec:\n        apiVersion: client.authentication.k8s.io/v1\n        command: %s/plugin\n        interactiveMode: Never\n' "$dir"
    sed -n '/^contexts:/,$p' "$KUBECONFIG"
} >"$dir/exec.kubeconfig"
printf '#!/bin/sh\necho "{\\"apiVersion\\":\\"client.authentication.k8s.io/v1\\",\\"kind\\":\\"ExecCredential\\",\\"status\\":{\\"token\\":\\"%s\\"}}"\n' "$(k create token viewer)" >"$dir/plugin"
chmod +x "$dir/plugin"
krc 0 "a credential plugin" status shop -n $NS --kubeconfig "$dir/exec.kubeconfig"
printf '#!/bin/sh\necho "please log in" >&2\nexit 1\n' >"$dir/plugin"
krc 1 "a credential plugin that fails is named" status shop -n $NS --kubeconfig "$dir/exec.kubeconfig"
says "$dir/plugin"

# --- a followed log that is silent --------------------------------------------------------------

for _ in $(seq 80); do
    [ ! -s "$dir/quiet.err" ] || [ ! -s "$dir/pending.err" ] || break
    sleep 0.5
done
printf 'the engine speaks\n' >&9
exec 9>&-
for run in shop-qqqqq-v1-b1 shop-qqqqq-v2-b1; do
    (NS=quiet && run_state $run Failed '{"failure":{"class":"Resource","message":"no"}}')
done
wait $quiet_pid
code=$?
out=$(<"$dir/quiet.out") err=$(<"$dir/quiet.err") current="run logs --follow says on standard error that nothing comes, and goes on"
if [ $code = 0 ]; then result ok "$current"; else result fail "$current" "exit $code: $out $err"; fi
says "still running, 3" "s without output; cancel with: kubectl patch prun shop-qqqqq-v1-b1 --type merge -p"
has "the engine speaks"
if grep -q "still running" <<<"$out"; then result fail "$current" "$out"; else result ok "$current"; fi
wait $pending_pid
out='' err=$(<"$dir/pending.err") current="run logs --follow of a run without a log says what it waits for"
says "still waiting: pod pending-pod has no node yet: 0/3 nodes are available, 3" "cancel with: kubectl patch prun shop-qqqqq-v2-b1"

# --- terminals -------------------------------------------------------------------------------

if command -v script >/dev/null; then
    tty() { script -qec "$bin status -n $NS $1" /dev/null </dev/null; }
    current="colours on a terminal"
    text=$(TERM=xterm tty '')
    if grep -q $'\033\[3' <<<"$text"; then result ok "$current"; else result fail "$current"; fi
    for how in --no-color NO_COLOR TERM=dumb; do
        current="no colours with $how"
        case $how in
        --no-color) text=$(TERM=xterm tty --no-color) ;;
        NO_COLOR) text=$(NO_COLOR=1 TERM=xterm tty '') ;;
        *) text=$(TERM=dumb tty '') ;;
        esac
        if grep -q $'\033' <<<"$text"; then result fail "$current"; else result ok "$current"; fi
    done
fi
krc 1 "no colours where there is no terminal" status -n $NS
has_not $'\033'

results_end cli
