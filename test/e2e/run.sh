#!/usr/bin/env bash
# A user's day on a real one-node Kubernetes of its own: the chart by Helm, images from the Dockerfile, Git over
# HTTPS and SSH, PostgreSQL, the real Pulumi CLI. Usage: test/e2e/run.sh [CASE...]  (01-demo, or 01)
#
#   RCO_KEEP=1     the cluster stays up, and the next run uses it again
#   E2E_JOBS=3     how many cases run side by side; those that break the cluster always run alone
#
# Logs of cases that failed are in build/e2e-logs.
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
began=$SECONDS
step() { printf '  [%3ds] %s\n' $((SECONDS - began)) "$*"; }
stop() {
    echo "e2e: $*" >&2
    exit 1
}
value() { sed -n "s/^$1=//p"; }
VERSION=${VERSION:-0.1.0}
mkdir -p "$WORK"
rm -rf "$WORK"/[0-9]* build/e2e-logs

# --- the cluster and what is in it ------------------------------------------------------------

finish() {
    trap - EXIT INT TERM
    if [ -z "${RCO_KEEP:-}" ]; then hack/cluster/down.sh; fi
}
trap 'finish; exit 1' INT TERM
trap finish EXIT

step 'packages, programs, cluster tools'
hack/deps/install.sh build cluster test || stop 'packages cannot be installed'
hack/cluster/build-tools.sh all || stop 'the cluster tools do not build'
make --no-print-directory -j"$(nproc)" programs >"$WORK/make.log" 2>&1 || stop "the programs do not build: $(tail -5 "$WORK/make.log")"
hack/images/prepare.sh build/images python >/dev/null || stop 'the engine cannot be prepared'

# Every write of every request is kept, Secrets and tokens excepted: the last case looks for secret values in it. The
# policies that change objects play an injector of sidecars (07).
export RCO_APISERVER_FLAGS="--audit-policy-file=$E2E/audit-policy.yaml --audit-log-path=$WORK/audit.log \
    --feature-gates=MutatingAdmissionPolicy=true --runtime-config=admissionregistration.k8s.io/v1beta1=true"
step 'a one-node Kubernetes'
if [ -z "${RCO_KEEP:-}" ] || ! hack/cluster/node.sh info >/dev/null 2>&1; then
    hack/cluster/down.sh
    rm -f "$WORK/audit.log" "$WORK/canaries"
fi
KUBECONFIG=$(hack/cluster/up.sh 2>"$WORK/up.log") || stop "the cluster does not come up: $(tail -3 "$WORK/up.log")"
KUBECONFIG=$(tail -n 1 <<<"$KUBECONFIG")
export KUBECONFIG
touch "$WORK/canaries"
kubectl=$(hack/cluster/build-tools.sh --path kubectl)
helm=$(hack/cluster/build-tools.sh --path helm)
# Copies, so that a build that goes on beside takes nothing away.
mkdir -p "$WORK/bin"
install "$ROOT/build/bin/kubectl-runtimecloud" "$kubectl" "$WORK/bin/"
export PATH=$WORK/bin:$PATH

step 'images from the Dockerfile'
image() { # DOCKERFILE TARGET NAME:TAG
    local archive
    archive=$(hack/cluster/build-image.sh "$@" 2>"$WORK/image-$2.log") || stop "image $3: $(tail -5 "$WORK/image-$2.log")"
    [ "$(cat "$WORK/loaded-$2" 2>/dev/null)" = "$archive $KUBECONFIG $(stat -c %Y "$KUBECONFIG")" ] || hack/cluster/load-image.sh "$archive" >/dev/null
    echo "$archive $KUBECONFIG $(stat -c %Y "$KUBECONFIG")" >"$WORK/loaded-$2"
}
built_from=$(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
image Dockerfile controller "runtimecloud.local/runtime-cloud-controller:$VERSION" --build-arg "REVISION=$built_from"
image Dockerfile runner "runtimecloud.local/runtime-cloud-runner:$VERSION" --build-arg "REVISION=$built_from"
image Dockerfile runner-python "runtimecloud.local/runtime-cloud-runner-python:$VERSION" --build-arg "REVISION=$built_from"
image examples/quickstart/web/Dockerfile web runtimecloud.local/demo-web:1

step 'Git, PostgreSQL'
git_info=$(hack/cluster/git-server.sh up) || stop 'no Git server'
GIT_URL=$(value url <<<"$git_info") GIT_SSH_URL=$(value ssh_url <<<"$git_info") GIT_CA=$(value ca <<<"$git_info")
GIT_USER=$(value user <<<"$git_info") GIT_PASSWORD=$(cat "$(value password_file <<<"$git_info")")
GIT_SSH_KEY=$(value ssh_key <<<"$git_info") GIT_KNOWN_HOSTS=$(value known_hosts <<<"$git_info")
postgres_info=$(hack/cluster/postgres.sh up) || stop 'no PostgreSQL'
echo "$GIT_PASSWORD git-server" >>"$WORK/canaries"

step 'the operator, by Helm'
# Shorter terms of leadership than the defaults, so that a killed leader is replaced in 10 s in place of 36.
"$helm" upgrade --install runtime-cloud-operator charts/runtime-cloud-operator --namespace "$OPERATOR_NS" \
    --create-namespace --wait --timeout 3m --values "$E2E/values.yaml" >"$WORK/helm.log" 2>&1 ||
    stop "helm: $(tail -5 "$WORK/helm.log"; operator get pods; operator logs deployment/runtime-cloud-operator | tail -5)"
# Images that were loaded under the same name as before.
[ -z "${RCO_KEEP:-}" ] || { operator rollout restart deployment/runtime-cloud-operator && operator rollout status deployment/runtime-cloud-operator --timeout=2m; } >/dev/null

# --- cases ------------------------------------------------------------------------------------

# run_case FILE: in a subshell of its own; its output is shown when it ends.
run_case() {
    case=$(basename "$1" .sh) dir=$WORK/$case case_began=$SECONDS
    ns=$(sed -n '1,3s/^# Namespace //p' "$1")
    ns=${ns:-e2e-${case#*-}}
    mkdir -p "$dir"
    : >"$dir/results"
    (
        if kubectl get namespace "$ns" >/dev/null 2>&1; then
            # Of an earlier run on the same cluster.
            kubectl delete namespace "$ns" --timeout=90s || die 'its old namespace does not go'
            hack/cluster/volumes.sh
        fi
        case_namespace || die 'its namespace'
        # shellcheck source=/dev/null
        . "$1"
        exit 0
    ) >"$dir/output" 2>&1
    rc=$?
    if [ $rc -ne 0 ] && ! grep -q ^fail "$dir/results"; then not_ok "ended early with exit code $rc" >>"$dir/output"; fi
    if grep -q ^fail "$dir/results"; then case_logs; fi
    {
        flock 5
        printf '  [%3ds] %s: %d passed, %d failed in %d s\n' $((SECONDS - began)) "$case" "$(grep -c ^ok "$dir/results")" \
            "$(grep -c ^fail "$dir/results")" $((SECONDS - case_began))
        cat "$dir/output"
    } 5>"$WORK/.print"
}

# All of it is read before any of it runs.
main() {
    local file number alone this wanted=()
    for file in "$E2E"/cases/*.sh; do
        number=$(basename "$file" .sh)
        [ $# -eq 0 ] || [[ " $* " == *" $number "* || " $* " == *" ${number%%-*} "* ]] || continue
        wanted+=("$file")
    done
    [ ${#wanted[@]} -gt 0 ] || stop "no such case: $*"
    for alone in '' yes; do
        for file in "${wanted[@]}"; do
            this=$(head -n 1 "$file" | grep -q '^# Alone' && echo yes)
            if [ "$this" != "$alone" ]; then continue; fi
            if [ -n "$alone" ]; then
                run_case "$file"
                continue
            fi
            while [ "$(jobs -rp | wc -l)" -ge "${E2E_JOBS:-3}" ]; do wait -n; done
            run_case "$file" &
        done
        wait
    done

    for file in "$WORK"/[0-9]*/results; do
        result_add "$(grep -c ^ok "$file")" "$(grep -c ^fail "$file")"
    done
    if [ "$results_failed" -gt 0 ]; then
        mkdir -p build/e2e-logs/operator
        operator logs -l app.kubernetes.io/name=runtime-cloud-operator --tail=-1 --prefix >build/e2e-logs/operator/log 2>&1
        operator get pods,leases,events -o yaml >build/e2e-logs/operator/objects 2>&1
    fi
    step 'done'
    results_end e2e
    exit $?
}
main "$@"
