#!/usr/bin/env bash
# The shipped controller binary against a real kube-apiserver with etcd and the real Job, garbage collection
# and namespace controllers; the harness plays kubelet and runner. Usage: test/wire/run.sh [TOPIC...]
#
#   SAN=1          the binary of `make SAN=1`
#   ONLY=WORDS     only scenarios whose names contain these words
#   KEEP=1         the directory with all logs is kept
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

topics=(main changes gateway startup objects stacks nodes replicas kills outages)
[ $# -eq 0 ] || topics=("$@")
cluster_up
for topic in "${topics[@]}"; do
    echo "  $topic"
    # shellcheck source=/dev/null
    . "$WIRE/cases/$topic.sh"
done
scenario='the end'
if operator_alive main; then operator_stop main; fi
leaks=$(grep -lE 'LeakSanitizer|AddressSanitizer|runtime error:' "$dir"/op/*/log 2>/dev/null)
equal 'no sanitizer has anything to say' '' "$leaks"
[ -z "$leaks" ] || grep -hE -A30 'LeakSanitizer|AddressSanitizer|runtime error:' "$dir"/op/*/log | head -100 >&2
result_add "$(grep -c ok "$dir/results")" "$(grep -c fail "$dir/results")"
results_end "$LAYER"
