#!/usr/bin/env bash
# Plans: the shipped controller behind the fault proxy, against a real kube-apiserver with the real Job, garbage
# collection and namespace controllers. Usage: test/wire/plans.sh [--plan NAME]... [--set ci|all|checks|FAMILY]
#   [--lanes N] [--list]
#
#   SAN=1          the binary of `make SAN=1`
#   KEEP=1         the directory is kept: plans/N/{trace,log,journal}, audit.log
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
LAYER=wire-plans${SAN:+-asan}

# Every plan has an operator of its own that sees one namespace through its proxy, so the definitions belong to
# nobody here, and the rights of the chart's Role are given in many namespaces.
many_installations() {
    local crd
    for crd in deploymentspecifications environments provisioningruns tenants; do
        must PATCH "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/$crd.runtimecloud.io" \
            '{"metadata": {"annotations": {"runtimecloud.io/operator-namespace": null}}}'
    done
    must GET "/apis/rbac.authorization.k8s.io/v1/namespaces/$OPERATOR_NS/roles/runtime-cloud-operator"
    must POST /apis/rbac.authorization.k8s.io/v1/clusterroles \
        "$(jq '{metadata: {name: "wire-plans-own-namespace"}, rules}' <<<"$body")"
}

main() {
    local passed failed
    "$ROOT/hack/cluster/build-tools.sh" etcd kube-apiserver kubectl kube-controller-manager helm || exit 1
    scenario='the plans'
    cluster_up
    cp "$BUILD/wire/faultproxy" "$dir/faultproxy" || exit
    many_installations
    PYTHONDONTWRITEBYTECODE=1 PLANS_DIR=$dir PLANS_PORT=$(cat "$dir/cp/port") PLANS_PROXY=$dir/faultproxy PLANS_OPERATOR=$BINARY \
        PLANS_USER=$OPERATOR_USER PLANS_COUNTS=$dir/counts python3 "$WIRE/plans" "$@"
    if read -r passed failed <"$dir/counts"; then result_add "$passed" "$failed"; else result fail 'the plans' 'they did not run to their end'; fi
    results_end "$LAYER"
}

main "$@"
exit
