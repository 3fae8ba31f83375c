# Counting of test results, for sourcing. A layer calls `result ok NAME` or `result fail NAME [why]` for each
# test and `results_end LAYER` last, which prints the layer's line, records it for the summary over all
# layers (directory RCO_RESULTS) and returns non-zero when something failed or nothing ran.
RCO_RESULTS=${RCO_RESULTS:-build/results}
results_passed=0
results_failed=0

result() { # ok|fail NAME [WHY]
    if [ "$1" = ok ]; then
        results_passed=$((results_passed + 1))
    else
        results_failed=$((results_failed + 1))
        printf 'FAILED  %s%s\n' "$2" "${3:+: $3}" >&2
    fi
}

# Adds counts of a program that counted by itself.
result_add() { # PASSED FAILED
    results_passed=$((results_passed + $1))
    results_failed=$((results_failed + $2))
}

results_end() { # LAYER
    mkdir -p "$RCO_RESULTS"
    [ $((results_passed + results_failed)) -gt 0 ] || results_failed=1
    echo "$results_passed $results_failed" >"$RCO_RESULTS/$1"
    echo "$1: $results_passed passed, $results_failed failed"
    [ "$results_failed" -eq 0 ]
}
