#!/usr/bin/env bash
# The same questions asked of the simulated API server and of a real one (with the real garbage collector and
# the Job and namespace controllers): both must answer alike. Last, the proof that the cases can fail: each
# falsified simulator (lies.c) must be found.
#
#   CONTRACT_DIR   where the program is (build/contract)
#   ONLY=WORDS     only cases whose names contain these words, without that proof
set -uo pipefail
cd "$(dirname "$0")/../.."
. test/lib/results.sh
program=${CONTRACT_DIR:-build/contract}/contract
dir=$(mktemp -d)
controllers=

end() {
    [ -z "$controllers" ] || kill -KILL "$controllers" 2>/dev/null
    hack/cluster/control-plane.sh down "$dir/cp" >/dev/null 2>&1
    rm -rf "$dir"
}
trap end EXIT

# A kube-apiserver with our definitions, the operator's account and rights, and no policies: what is compared
# is the API server, not the chart.
server_up() {
    local kubectl helm manager
    kubectl=$(hack/cluster/build-tools.sh --path kubectl)
    helm=$(hack/cluster/build-tools.sh --path helm)
    manager=$(hack/cluster/build-tools.sh --path kube-controller-manager)
    hack/cluster/control-plane.sh up "$dir/cp" || return
    export KUBECONFIG=$dir/cp/kubeconfig
    "$manager" --kubeconfig "$KUBECONFIG" --authentication-kubeconfig "$KUBECONFIG" \
        --authorization-kubeconfig "$KUBECONFIG" --bind-address 127.0.0.1 --secure-port 0 --leader-elect=false \
        --service-account-private-key-file "$dir/cp/pki/sa.key" --kube-api-qps 200 --kube-api-burst 400 \
        --controllers job-controller,garbage-collector-controller,namespace-controller,serviceaccount-controller \
        >"$dir/controllers.log" 2>&1 &
    controllers=$!
    disown
    "$kubectl" create namespace runtime-cloud &&
        "$helm" template runtime-cloud-operator charts/runtime-cloud-operator --kube-version v1.34.0 \
            --namespace runtime-cloud --show-only templates/rbac.yaml \
            --show-only templates/serviceaccount.yaml >"$dir/rbac.yaml" &&
        "$kubectl" -n runtime-cloud apply -f "$dir/rbac.yaml" && "$kubectl" apply -f crds/ &&
        "$kubectl" wait --for condition=established --timeout 30s -f crds/ &&
        "$kubectl" -n runtime-cloud create token runtime-cloud-operator --duration 4h >"$dir/cp/token"
}

# count FILE: every "ok" and "FAIL" line is one test; what did not hold is shown.
count() {
    local word name
    while read -r word name; do
        case $word in
        ok) result ok "$name" ;;
        FAIL) result fail "$name" ;;
        esac
    done <"$1"
    grep -aE '^(    |FAIL |contract )' "$1"
    grep -aqE '^(contract|ok contract lie|FAIL contract lie)' "$1" || result fail "$(basename "$1")" 'it did not come to its end'
}

hack/cluster/build-tools.sh etcd kube-apiserver kubectl kube-controller-manager helm || exit 1
"$program" sim "${ONLY-}" >"$dir/sim" 2>&1
count "$dir/sim"
if server_up >"$dir/up.log" 2>&1; then
    "$program" real "$dir/cp" "${ONLY-}" >"$dir/real" 2>&1
    count "$dir/real"
else
    cat "$dir/up.log" >&2
    result fail 'contract real' 'the API server did not start'
fi
if [ -z "${ONLY-}" ]; then
    "$program" lies >"$dir/lies" 2>&1
    count "$dir/lies"
fi
results_end "contract${SAN:+-asan}"
