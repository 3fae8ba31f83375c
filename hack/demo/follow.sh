#!/usr/bin/env bash
# Shows each change of the runs of SPECIFICATION until the specification is Ready with its newest version applied;
# fails when a run fails or after TIMEOUT seconds. Usage: follow.sh NAMESPACE SPECIFICATION [TIMEOUT]
set -euo pipefail
ns=$1 spec=$2 limit=${3:-300}
last='' began=$SECONDS
while [ $((SECONDS - began)) -lt "$limit" ]; do
    runs=$(kubectl -n "$ns" get prun -o jsonpath='{range .items[?(@.spec.specificationRef.name=="'"$spec"'")]}{.metadata.name}{"  "}{.status.state}{"  "}{.status.reason}{"\n"}{end}' 2>/dev/null || true)
    state=$(kubectl -n "$ns" get depspec "$spec" -o jsonpath='{.status.version}{" "}{.status.appliedVersion}{" "}{.status.conditions[?(@.type=="Ready")].status}{" "}{.status.conditions[?(@.type=="Ready")].reason}' 2>/dev/null || true)
    line="$runs"$'\n'"  $spec: version, applied, Ready: $state"
    if [ "$line" != "$last" ]; then
        printf '%s\n' "$line"
        last=$line
    fi
    read -r version applied ready reason <<<"$state" || true
    if [ -n "$version" ] && [ "$version" = "$applied" ] && [ "$ready" = True ]; then exit 0; fi
    if grep -q '  Failed' <<<"$runs"; then exit 1; fi
    sleep 0.5
done
echo "not applied within $limit s" >&2
exit 1
