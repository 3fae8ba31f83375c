#!/usr/bin/env bash
# Component test of the runner: its four verbs as processes against the real Pulumi CLI, a Git server, an sshd and a
# small gateway. Arguments go to unittest (runner_test.Faults, -v). RCO_KEEP=1 keeps the directories.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. test/lib/results.sh
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# The engine is built first, with its progress shown.
for name in pulumi pulumi-language-yaml pulumi-language-nodejs pulumi-resource-kubernetes; do
    hack/cluster/build-tools.sh --path "$name" >/dev/null || exit 1
done
(cd test/runner && exec python3 -m unittest "${@:-runner_test}") 2>&1 | tee "$log"
ran=$(sed -nE 's/^Ran ([0-9]+) tests? in .*/\1/p' "$log")
skipped=$(sed -nE 's/.*skipped=([0-9]+).*/\1/p' "$log")
ran=$((${ran:-0} - ${skipped:-0}))
bad=$(grep -cE '^(FAIL|ERROR): ' "$log")
[ "$bad" -le "${ran:-0}" ] || bad=${ran:-0} # each failing subtest has a line of its own
result_add $((${ran:-0} - bad)) "$bad"
[ "${skipped:-0}" = 0 ] || echo "runner: $skipped skipped, for lack of a program on this machine (-v says which)"
results_end runner
