#!/usr/bin/env bash
# The fault campaign on the simulated cluster: planned faults of every workload, random seeds, and the proof
# that each rule of the protocol, when broken, is found. SIM_PLANS (per workload, 0 = all), SIM_SEEDS and
# SIM_HUNT (seeds to look for what is broken; 0: neither that nor operations) change the counts.
set -uo pipefail
cd "$(dirname "$0")/../.."
. test/lib/results.sh
dir=${SIM_DIR:-build/sim}
plans=${SIM_PLANS:-0} seeds=${SIM_SEEDS:-10000} hunt=${SIM_HUNT:-300}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# Families of a campaign's output become tests.
count() { # FILE
    local name n failed
    while read -r _ name n _ failed _; do
        if [ "$failed" = 0 ]; then result ok "sim $name"; else result fail "sim $name" "$failed of $n plans"; fi
    done < <(grep -a '^family' "$1")
    grep -a '^VIOLATION' -A1 "$1" | head -20
    grep -a '^at most' "$1"
    grep -aE ' plans, .* of CPU a plan' "$1" || result fail "sim $(basename "$1")" "did not come to its end"
}

# Two seeds whose traces are compared byte by byte, in two processes.
for seed in 7 4711; do
    if cmp -s <("$dir/sim" seed $seed) <("$dir/sim" seed $seed); then
        result ok "same trace for seed $seed"
    else
        result fail "same trace for seed $seed"
    fi
done

# Plans that once found something; each must stay clean.
while read -r name words; do
    [ -n "$name" ] && [ "${name:0:1}" != "#" ] || continue
    # shellcheck disable=SC2086
    if "$dir/sim" replay $words >"$out/replay" 2>&1; then
        result ok "regression $name"
    else
        result fail "regression $name" "$(tail -1 "$out/replay")"
    fi
done <test/sim/regressions

"$dir/sim" plans "$plans" >"$out/plans" 2>&1 &
{ "$dir/sim" seeds 1 "$seeds" >"$out/seeds" 2>&1; [ "$hunt" = 0 ] || "$dir/sim" ops 0 0 >"$out/operations" 2>&1; } &
wait
for part in plans seeds; do count "$out/$part"; done

[ "$hunt" != 0 ] || { results_end "sim${SAN:+-asan}"; exit; }

# Operations: every property of the schemas, every rule of the CRDs.
want=$(cat crds/*.yaml | grep -c ' rule: ')
got=$("$dir/sim" rules | grep -ac '^rule ')
if [ "$got" = "$want" ]; then result ok "all $want rules of the CRDs are known"; else
    result fail "all rules of the CRDs are known" "$got of $want"
fi
operations() { # NAME PATTERN: the campaign's output has no such line
    if grep -aq "$2" "$out/operations"; then result fail "operations: $1" "$(grep -am1 "$2" "$out/operations")"; else
        result ok "operations: $1"
    fi
}
operations "nothing is violated" '^VIOLATION'
operations "every property is covered" '^NOT COVERED'
operations "every rule refuses something" '^NEVER BROKEN'
operations "what shows nowhere is listed, and nothing else" '^STALE'
grep -a '^VIOLATION' -A2 "$out/operations" | head -30
grep -aE '^(coverage|rules):' "$out/operations"
grep -aE '^[0-9]+ operations in .* 0 failed' "$out/operations" || result fail "operations" "$(tail -1 "$out/operations")"

# What is broken on purpose must be found, in a plan that the sound program passes; operations find some of it.
hunt_one() { # SWITCH
    local how=hunt n=$hunt
    case $1 in op-*) how=ops-hunt n=60 ;; esac
    timeout 300 "$dir/sim_broken" --break "$1" $how "$n" >"$out/hunt.$1" 2>&1
    echo $? >"$out/rc.$1"
}
switches=$("$dir/sim" switches | cut -d' ' -f1)
for switch in $switches; do
    while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
    hunt_one "$switch" &
done
wait
for switch in $switches; do
    if [ "$(cat "$out/rc.$switch")" = 0 ]; then
        result ok "broken $switch is found"
        printf '%-16s %s\n' "$switch" "$(grep -a -m1 '^VIOLATION' "$out/hunt.$switch" | cut -c1-110)"
        grep -a -m1 'replay:' "$out/hunt.$switch"
    else
        result fail "broken $switch is found" "$(tail -1 "$out/hunt.$switch")"
    fi
done
results_end "sim${SAN:+-asan}"
