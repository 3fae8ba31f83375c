# What the e2e cases share: counting, and doing and seeing what a user does and sees. Source it.
# Each case runs in a subshell with a namespace of its own in $ns and a directory of its own in $dir.
# shellcheck shell=bash disable=SC2034,SC2154

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$ROOT" || exit
# shellcheck source=../lib/results.sh
. "$ROOT/test/lib/results.sh"
E2E=$ROOT/test/e2e
WORK=$ROOT/build/e2e
OPERATOR_NS=runtime-cloud
OPERATOR_USER=system:serviceaccount:$OPERATOR_NS:runtime-cloud-operator
export RCO_CLUSTER_NAME=${RCO_CLUSTER_NAME:-e2e}
# Seconds that a run may take on a busy machine; it usually needs about ten.
PATIENCE=${PATIENCE:-150}

# --- counting ---------------------------------------------------------------------------------

ok() { echo "ok $*" >>"$dir/results"; }
not_ok() { # NAME [DETAIL]
    printf 'FAILED  %s: %s%s\n' "$case" "$1" "${2:+: $2}"
    echo "fail $1" >>"$dir/results"
}
die() { # NAME [DETAIL]: the case cannot go on
    not_ok "$@"
    exit 1
}
note() { printf '        [%3ds] %s\n' $((SECONDS - case_began)) "$*"; }

check() { # NAME COMMAND...: the command succeeds
    local output
    if output=$("${@:2}" 2>&1); then ok "$1"; else not_ok "$1" "$output"; fi
}
refused() { # NAME WANT COMMAND...: the command fails and says WANT
    local output
    if output=$("${@:3}" 2>&1); then
        not_ok "$1" "it succeeded: $output"
    else
        contains "$1" "$2" "$output"
    fi
}
equal() { # NAME WANT GOT
    if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "want '$2', got '$3'"; fi
}
contains() { # NAME WANT TEXT
    if [[ $3 == *"$2"* ]]; then ok "$1"; else not_ok "$1" "no '$2' in '$3'"; fi
}
lacks() { # NAME UNWANTED TEXT
    if [[ $3 == *"$2"* ]]; then not_ok "$1" "'$2' is in '$3'"; else ok "$1"; fi
}
matches() { # NAME REGEX TEXT
    if [[ $3 =~ $2 ]]; then ok "$1"; else not_ok "$1" "'$3' does not match '$2'"; fi
}

# until_true SECONDS COMMAND...: repeats the command until it succeeds.
until_true() {
    local end=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.3
    done
}

# --- the cluster ------------------------------------------------------------------------------

k() { kubectl -n "$ns" "$@"; }
rc() { kubectl-runtimecloud "$@"; }
operator() { kubectl -n "$OPERATOR_NS" "$@"; }
node() { "$ROOT/hack/cluster/node.sh" "$@"; }

get() { # KIND/NAME JSONPATH
    k get "$1" -o jsonpath="{$2}"
}
condition() { # KIND/NAME TYPE FIELD
    get "$1" ".status.conditions[?(@.type==\"$2\")].$3"
}
await() { # KIND/NAME JSONPATH[=VALUE] [SECONDS]: until it is there, or has the value
    local what=$2 value= end=$((SECONDS + ${3:-$PATIENCE}))
    # A filter in brackets has a == of its own.
    if [[ ${2##*)} == *=* ]]; then what=${2%=*} value="=${2##*=}"; fi
    # It ends at once when it cannot follow the path yet.
    until k wait --for="jsonpath={$what}$value" "$1" --timeout="$((end - SECONDS))s" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.3
    done
}
events() { # NAME [TYPE]: reasons and messages of the Events about an object
    k get events --field-selector "involvedObject.name=$1${2:+,type=$2}" \
        -o jsonpath='{range .items[*]}{.reason}: {.message}{"\n"}{end}'
}
# Events are written behind what they are about.
await_event() { # NAME TYPE WORDS
    until_true 20 event_says "$@"
}
event_says() { [[ $(events "$1" "$2") == *"$3"* ]]; }

# canary NAME: a value that must never be seen outside Secrets; the last case looks for all of them.
canary() {
    local value
    value=canary-$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
    echo "$value $case:$1" >>"$WORK/canaries"
    echo "$value"
}
secret() { # NAME KEY=VALUE...
    local name=$1
    shift
    k create secret generic "$name" "${@/#/--from-literal=}" --dry-run=client -o yaml |
        k apply -f - >/dev/null
}
config_map() { # NAME KEY=VALUE...: one that specifications of Environment dev may refer to
    local name=$1
    shift
    k create configmap "$name" "${@/#/--from-literal=}" --dry-run=client -o json |
        jq '.metadata.labels={"runtimecloud.io/environment": "dev"}' | k apply -f - >/dev/null
}

# --- programs, environments, specifications ---------------------------------------------------

# commit NAME [DIR]: commits DIR (default: $dir/NAME) to a repository of this case; prints the commit.
commit() {
    "$ROOT/hack/cluster/git-server.sh" repository "${visibility:-public}/$ns-$1" "${2:-$dir/$1}"
}
# program NAME: commits a program whose Pulumi.yaml is read from standard input; prints the commit.
program() {
    mkdir -p "$dir/$1"
    cat >"$dir/$1/Pulumi.yaml"
    commit "$1"
}
repository() { # NAME: its URL
    echo "$GIT_URL/${visibility:-public}/$ns-$1.git"
}

# A program that deploys nothing, so that its runs take little time.
null_program() { # NAME [WORD]
    program "$1" <<YAML
name: $1
runtime: yaml
config:
  word: {type: string, default: ${2:-hello}}
outputs:
  word: \${word}
YAML
}
# A ConfigMap `page` in the namespace.
page_program() { # NAME [TEXT]
    program "$1" <<YAML
name: $1
runtime: yaml
resources:
  cluster:
    type: pulumi:providers:kubernetes
    defaultProvider: true
    options: {version: 4.25.0}
  page:
    type: kubernetes:core/v1:ConfigMap
    properties:
      metadata: {name: page, namespace: $ns}
      data: {text: "${2:-hello}"}
outputs:
  text: \${page.data["text"]}
YAML
}
# A Deployment of the demo's web server, with a field of its pod, one of its container and options of the resource.
deployment_program() { # NAME DEPLOYMENT TEXT POD-FIELD CONTAINER-FIELD [OPTIONS]
    program "$1" <<YAML
name: $1
runtime: yaml
resources:
  cluster:
    type: pulumi:providers:kubernetes
    defaultProvider: true
    options: {version: 4.25.0}
  $2:
    type: kubernetes:apps/v1:Deployment
    properties:
      metadata: {name: $2, namespace: $ns, annotations: {text: "$3"}}
      spec:
        selector: {matchLabels: {app: $2}}
        template:
          metadata: {labels: {app: $2, text: "$3"}}
          spec:
            automountServiceAccountToken: false
            $4
            securityContext: {runAsNonRoot: true, runAsUser: 65532, seccompProfile: {type: RuntimeDefault}}
            containers:
              - name: web
                image: runtimecloud.local/demo-web:1
                $5
                resources: {requests: {cpu: 1m, memory: 8Mi}}
                securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
    options: {${6-}}
YAML
}
# A Deployment `slow`, whose apply takes until the test opens the gate.
slow_program() { # NAME [TEXT]
    deployment_program "$1" slow "${2:-hello}" 'schedulingGates: [{name: e2e.rco.test/gate}]' 'args: [/]'
}
gated_pods() { k get pods -l "app=${1:-slow}" -o json | jq -r '.items[] | select(.spec.schedulingGates) | .metadata.name'; }
gate_closed() { [ -n "$(gated_pods "$@")" ]; }
open_gate() {
    local pod
    for pod in $(gated_pods "$@"); do
        k patch pod "$pod" --type=json -p '[{"op":"remove","path":"/spec/schedulingGates"}]' >/dev/null 2>&1
    done
    return 0
}
# For applies that must not stop at the gate any more.
keep_gate_open() { # until `kill $gate_keeper`
    while sleep 1; do open_gate "$@"; done &
    gate_keeper=$!
}
# in_apply SPECIFICATION [NUMBER]: waits until the run is in the middle of its apply, at the gate; sets run.
in_apply() {
    run=$(run_of "$@")
    k wait --for=create "prun/$run" --timeout=60s >/dev/null 2>&1
    until_true "$PATIENCE" at_gate && return
    not_ok "$run comes to the gate" "$(run_state "$run") $(get "prun/$run" .status.failure)"
    return 1
}
at_gate() { [ "$(get "prun/$run" .status.state)" = Applying ] && gate_closed "${gate-}"; }

# environment NAME [MERGE]: MERGE is JSON that is merged over the spec.
environment() {
    local more=${2-}
    [ -n "$more" ] || more='{}'
    jq -n --arg ns "$ns" --arg name "$1" --arg git "$GIT_URL/public/" --argjson more "$more" '{
        apiVersion: "runtimecloud.io/v1alpha1", kind: "Environment",
        metadata: {name: $name, namespace: $ns},
        spec: ({
            tenantId: "default", projectId: "e2e", class: "development",
            runner: {
                clusterAccess: "ServiceAccount", applyServiceAccountName: "deployer",
                terminationGracePeriod: "3m", resources: {requests: {cpu: "20m", memory: "64Mi"}}
            },
            git: {allowedRepositories: [$git], caSecretRef: {name: "git-ca"}}
        } * $more)}' | k apply -f - 
}
# specification NAME REPOSITORY COMMIT [MERGE]: deploys the program at the root of a repository of this case.
specification() {
    local more=${4-}
    [ -n "$more" ] || more='{}'
    jq -n --arg ns "$ns" --arg name "$1" --arg ref "$(repository "$2")//." --arg commit "$3" \
        --argjson more "$more" '{
        apiVersion: "runtimecloud.io/v1alpha1", kind: "DeploymentSpecification",
        metadata: {name: $name, namespace: $ns},
        spec: ({
            tenantId: "default", projectId: "e2e", environmentId: "dev", kind: "Workload",
            programRef: $ref, programVersion: $commit
        } * $more)}' | k apply -f -
}
change() { # KIND/NAME MERGE-PATCH
    k patch "$1" --type=merge -p "$2"
}
# run_now SPECIFICATION: asks for a new run.
run_now() {
    k annotate --overwrite "depspec/$1" "runtimecloud.io/run-now=$EPOCHREALTIME" >/dev/null
}

# --- runs -------------------------------------------------------------------------------------

# run_of SPECIFICATION [NUMBER] [VERSION]: the name of a run. VERSION defaults to the specification's generation.
run_of() {
    local uid generation
    read -r uid generation <<<"$(get "depspec/$1" '.metadata.uid} {.metadata.generation')"
    echo "$1-${uid:0:5}-v${3:-$generation}-b${2:-1}"
}
runs_of() { # SPECIFICATION: how many runs it has
    k get prun -o json | jq --arg s "$1" '[.items[] | select(.spec.specificationRef.name == $s)] | length'
}
run_state() { get "prun/$1" '.status.state}{" "}{.status.reason'; }

# ended RUN [SECONDS]: waits until the run has ended; prints its state.
ended() {
    k wait --for=create "prun/$1" --timeout=60s >/dev/null 2>&1
    await "prun/$1" .status.completedAt "${2:-$PATIENCE}"
    get "prun/$1" .status.state
}
# applies NAME RUN: the run ends Applied; otherwise the case says why and goes on.
applies() {
    local state
    state=$(ended "$2")
    if [ "$state" = Applied ]; then
        ok "$1"
    else
        not_ok "$1" "state '$state', $(get "prun/$2" .status.failure 2>&1)"
        return 1
    fi
}
# fails SPECIFICATION CLASS WORDS [RUN]: the run ends Failed with that class, and all who look see WORDS: the run,
# the specification's condition, an Event, the plugin.
fails() {
    local spec=$1 class=$2 words=$3 run=${4-} state text
    [ -n "$run" ] || run=$(run_of "$spec")
    state=$(ended "$run")
    equal "$spec: the run ends Failed" Failed "$state"
    [ "$state" = Failed ] || return 1
    equal "$spec: class $class" "$class" "$(get "prun/$run" .status.failure.class)"
    contains "$spec: the run says why" "$words" "$(get "prun/$run" .status.failure.message)"
    await "depspec/$spec" ".status.failure.class=$class" 20
    equal "$spec: not Ready" False "$(condition "depspec/$spec" Ready status)"
    contains "$spec: the specification says why" "$words" "$(condition "depspec/$spec" Ready message)"
    if await_event "$run" Warning "$words"; then
        ok "$spec: an Event"
    else
        not_ok "$spec: an Event" "$(events "$run")"
    fi
    text=$(rc status "$spec" -n "$ns")
    equal "$spec: exit code of status" 1 $?
    contains "$spec: status says why" "$words" "$text"
    note "$class: $(get "prun/$run" .status.failure.message)"
}
# log_has RUN WORDS: the stored log can be read by the run's name and holds WORDS.
log_has() {
    local text
    if text=$(rc run logs "$1" -n "$ns" 2>&1); then
        contains "the stored log of $1" "$2" "$text"
    else
        not_ok "the stored log of $1 can be read" "$text"
    fi
}
# jobs_made RUN: names of the Jobs that were ever made for it, by the API server's audit log.
jobs_made() {
    local uid
    uid=$(get "prun/$1" .metadata.uid | tr -d -)
    jq -r --arg job "rco-${uid:0:12}-" 'select(.verb == "create" and .objectRef.resource == "jobs" and
        .responseStatus.code == 201) | .objectRef.name | select(startswith($job)) | ltrimstr($job)' "$WORK/audit.log"
}
# updates_in_history ENVIRONMENT STACK: how many updates Pulumi's own history has, in the state on the claim.
updates_in_history() {
    local volume state
    volume=$(k get pvc "$(get "renv/$1" .status.stateClaim.name)" -o jsonpath='{.spec.volumeName}')
    state=$(node info | sed -n 's/^state=//p')
    find "$state/volumes/$volume" -path "*/history/*/$2/*" -name '*.history.json' | wc -l
}

# --- set-up of a case -------------------------------------------------------------------------

# The account that programs act as, with rights as in examples/quickstart.
deployer() {
    sed "s/namespace: quickstart/namespace: $ns/" examples/quickstart/rbac.yaml | kubectl apply -f - >/dev/null
}
case_namespace() {
    kubectl create namespace "$ns" --dry-run=client -o json |
        jq '.metadata.labels["pod-security.kubernetes.io/enforce"]="restricted"' | kubectl apply -f - >/dev/null
    k create secret generic git-ca --from-file=ca.crt="$GIT_CA" --dry-run=client -o yaml |
        k apply -f - >/dev/null
    deployer
}
# What is needed to understand a failure, into build/e2e-logs.
case_logs() {
    local to=$ROOT/build/e2e-logs/$case pod
    mkdir -p "$to"
    cp "$dir/output" "$to/"
    k get depspec,prun,renv,job,pod,pvc,configmap -o yaml >"$to/objects.yaml" 2>&1
    k get events --sort-by=.metadata.creationTimestamp >"$to/events" 2>&1
    for pod in $(k get pods -o name); do
        k logs --all-containers --prefix "$pod" >"$to/${pod#pod/}.log" 2>&1
    done
    return 0
}

# --- breaking things --------------------------------------------------------------------------

# container_pids ID...: the processes of containers, as this machine sees them.
container_pids() {
    local id
    for id in "$@"; do
        grep -ls -- "${id##*/}" /proc/[0-9]*/cgroup | sed 's|/proc/\([0-9]*\)/.*|\1|'
    done
}
operator_pids() {
    # shellcheck disable=SC2046
    container_pids $(operator get pods -l app.kubernetes.io/name=runtime-cloud-operator \
        -o jsonpath='{.items[*].status.containerStatuses[0].containerID}')
}
leader() { # the leading replica's pod
    local holder
    holder=$(operator get lease runtime-cloud-controller -o jsonpath='{.spec.holderIdentity}')
    echo "${holder%_*}"
}
operator_ready() {
    operator rollout status deployment/runtime-cloud-operator --timeout=90s >/dev/null && [ -n "$(leader)" ]
}
# renew_operator: other pods in place of those that were killed, which the kubelet would start again ever later.
renew_operator() {
    operator delete pod -l app.kubernetes.io/name=runtime-cloud-operator --grace-period=0 --force >/dev/null 2>&1
    operator_ready
}
# when_run CONDITION COMMAND...: runs the command at the moment in which a run of this namespace is seen to fulfil
# CONDITION (of jq), without asking the API server again. Start it some seconds before the run is made.
when_run() {
    local condition=$1 pipe=$dir/watch.$BASHPID watcher
    shift
    mkfifo "$pipe"
    timeout 90 kubectl -n "$ns" get prun --watch --output json >"$pipe" 2>/dev/null &
    watcher=$!
    # The pipe is opened once, or kubectl would see its end.
    exec 6<"$pipe"
    read -r _ < <(exec jq --unbuffered --compact-output "select($condition) | .metadata.name" <&6 2>/dev/null)
    "$@"
    kill "$watcher" 2>/dev/null
    exec 6<&-
    rm "$pipe"
}
