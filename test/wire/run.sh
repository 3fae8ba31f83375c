#!/usr/bin/env bash
# The shipped controller binary against a real kube-apiserver with etcd and the real Job, garbage collection
# and namespace controllers; the harness plays kubelet and runner. Usage: test/wire/run.sh [TOPIC...]
#
#   SAN=1          the binary of `make SAN=1`
#   ONLY=WORDS     only scenarios whose names contain these words
#   KEEP=1         the directory with all logs is kept
#
# Without topics all of them run, in two halves side by side, each on an API server of its own: most of the
# time is spent waiting.
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

halves=('outages gateway flood kills startup' 'objects changes replicas main stacks nodes')
# A process that is killed never comes to the end where leaks show.
[ -z "${SAN:-}" ] || halves[0]=${halves[0]/ kills/}

SANITIZERS='LeakSanitizer|AddressSanitizer|runtime error:'
sanitizer_reports() { # DIR: those logs of operators below DIR in which a sanitizer speaks
    grep -lE "$SANITIZERS" "$1"/*/log 2>/dev/null
}

# That the sanitizer build would tell of a leak here: the same binary with one planted ends with another code than
# 0 and is found by the search that the end of the run rests on.
leak_is_seen() {
    local rc
    mkdir -p "$dir/leaky/op"
    "${CC:-gcc}" -O0 -shared -fPIC -o "$dir/leaky/leak.so" "$WIRE/leak.c"
    LD_PRELOAD="$(gcc -print-file-name=libasan.so) $dir/leaky/leak.so" "$BINARY" --version >"$dir/leaky/op/log" 2>&1
    rc=$?
    check 'a planted leak ends the program with a code that is not 0' [ "$rc" -ne 0 ]
    equal 'a planted leak is found in the log' "$dir/leaky/op/log" "$(sanitizer_reports "$dir/leaky")"
}

# work COUNTS TOPIC...: runs the topics and writes how many checks passed and failed to COUNTS.
work() {
    local counts=$1 topic leaks
    shift
    cluster_up
    for topic in "$@"; do
        echo "  $topic"
        # shellcheck source=/dev/null
        . "$WIRE/cases/$topic.sh"
    done
    scenario='the end'
    if operator_alive main; then operator_stop main; fi
    [ -z "${SAN:-}" ] || leak_is_seen
    leaks=$(sanitizer_reports "$dir/op")
    equal 'no sanitizer has anything to say' '' "$leaks"
    # shellcheck disable=SC2086
    [ -z "$leaks" ] || grep -hE -A30 "$SANITIZERS" $leaks | head -100 >&2
    echo "$(grep -c ok "$dir/results") $(grep -c fail "$dir/results")" >"$counts"
}

# add COUNTS: what a worker wrote; one that wrote nothing has failed.
add() {
    local passed failed
    if read -r passed failed <"$1"; then result_add "$passed" "$failed"; else result fail "a half of the wire tests" 'it did not run to its end'; fi
}

main() {
    local out half
    local -a pids=()
    "$ROOT/hack/cluster/build-tools.sh" etcd kube-apiserver kubectl kube-controller-manager helm || exit 1
    out=$(mktemp -d)
    if [ $# -gt 0 ]; then
        (work "$out/counts" "$@")
        add "$out/counts"
    else
        for half in 0 1; do
            # shellcheck disable=SC2086
            (work "$out/counts.$half" ${halves[half]}) >"$out/log.$half" 2>&1 &
            pids+=($!)
        done
        for half in 0 1; do
            wait "${pids[half]}"
            cat "$out/log.$half"
            add "$out/counts.$half"
        done
    fi
    rm -rf "$out"
    results_end "$LAYER"
}

main "$@"
exit
