#!/usr/bin/env bash
# The chart without a cluster: lint, rendering against committed golden files, byte-equal renders,
# wrong values refused, sizes. UPDATE=1 writes the golden files anew: review their diff.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

helm=$("$ROOT/hack/cluster/build-tools.sh" --path helm)
chart=$ROOT/charts/runtime-cloud-operator
here=$ROOT/test/chart
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Helm without a cluster takes its own idea of a version.
render() { "$helm" template runtime-cloud-operator "$chart" --namespace runtime-cloud --kube-version 1.34.4 "$@" 2>"$scratch/err"; }

check() { # NAME COMMAND...: the command succeeds
    local name=$1
    shift
    if "$@" >"$scratch/out" 2>&1; then ok; else not_ok "$name" "$(tail -n 30 "$scratch/out")"; fi
}

check 'helm lint' "$helm" lint --strict "$chart"
check 'helm lint, every switch the other way' "$helm" lint --strict "$chart" --values "$here/values-full.yaml"
check 'templates/crds is what crds/ makes' "$ROOT/hack/sync-crds" --check

for name in default full; do
    values=()
    [ $name = default ] || values=(--values "$here/values-$name.yaml")
    # The definitions are compared by sync-crds, and would make the golden files ten times as long.
    render --set crds.enabled=false "${values[@]}" >"$scratch/$name.yaml" || not_ok "$name renders" "$(cat "$scratch/err")"
    render --set crds.enabled=false "${values[@]}" >"$scratch/$name.again" || true
    check "$name renders the same twice" cmp "$scratch/$name.yaml" "$scratch/$name.again"
    if [ -n "${UPDATE-}" ]; then cp "$scratch/$name.yaml" "$here/golden/$name.yaml"; fi
    check "golden/$name.yaml" diff -u "$here/golden/$name.yaml" "$scratch/$name.yaml"
done

# with_crds FLAG...: the metadata of the first definition
with_crds() { render --show-only templates/crds/runtimecloud.io_tenants.yaml "$@" | sed -n '1,/^spec:/p'; }
contains() { # NAME TEXT FLAG...
    if with_crds "${@:3}" | grep -qF -- "$2"; then ok; else not_ok "$1" "$(with_crds "${@:3}")"; fi
}
contains 'definitions name the installation' 'runtimecloud.io/operator-namespace: runtime-cloud'
contains 'definitions are kept' 'helm.sh/resource-policy: keep'
contains 'definitions take annotations' 'argocd.argoproj.io/sync-wave: "-1"' --set-string 'crds.annotations.argocd\.argoproj\.io/sync-wave=-1'
if with_crds --set crds.keep=false | grep -q resource-policy; then not_ok 'crds.keep=false'; else ok; fi

refuses() { # SENTENCE FLAG...: rendering fails with the sentence
    if render "${@:2}" >/dev/null; then not_ok "${*:2} should be refused"; return; fi
    if grep -qF -- "$1" "$scratch/err"; then ok; else not_ok "${*:2}: refused with another sentence than: $1" "$(cat "$scratch/err")"; fi
}
refuses "additional properties 'replicas' not allowed" --set replicas=3
refuses "additional properties 'repo' not allowed" --set image.repo=x
refuses 'replicaCount' --set replicaCount=0
refuses 'log/level' --set log.level=verbose
refuses 'admissionPolicies/failurePolicy' --set admissionPolicies.failurePolicy=Maybe
refuses 'gateway/url' --set gateway.url=http://plain
refuses 'serviceAccount.name is required' --set serviceAccount.create=false
refuses 'chart requires kubeVersion: >=1.30.0-0' --kube-version 1.29.0

# Limits of Kubernetes and Helm, with room to spare (design: each definition below 100 KB).
total=0
for crd in "$ROOT"/crds/*.yaml; do
    size=$(wc -c <"$crd")
    total=$((total + size))
    if [ "$size" -lt 100000 ]; then ok; else not_ok "$(basename "$crd") is below 100 KB" "$size bytes"; fi
done
if [ "$total" -lt 400000 ]; then ok; else not_ok 'all definitions are below 400 KB' "$total bytes"; fi
release=$(render | gzip -9 | base64 -w0 | wc -c)
if [ "$release" -lt 500000 ]; then ok; else not_ok 'the release fits its Secret' "$release bytes"; fi

# Every value has a description, and every key of values.yaml is in the schema (Helm checks that one).
missing=$(jq -r '.properties | to_entries[] | select(.value.description == null) | .key' "$chart/values.schema.json")
if [ -z "$missing" ]; then ok; else not_ok 'values.schema.json describes every value' "$missing"; fi
check 'the dashboard is JSON' jq -e '.panels | length > 0' "$chart/files/dashboards/runtime-cloud.json"

# Nothing asks for more than Pod Security's restricted profile allows.
for name in default full; do
    if grep -qE '^\s+(privileged|hostNetwork|hostPID): true' "$scratch/$name.yaml"; then not_ok "$name is restricted"; else ok; fi
done

results_end chart-template
