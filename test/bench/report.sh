# The table of the benchmarks. Source it.
# shellcheck shell=bash

missed_counts=0

report_head() { printf '%-66s %12s %12s %8s\n' measure value target ratio; }

# report times|counts NAME VALUE TARGET UNIT: at most TARGET. Counts decide the exit code, times do not.
report() {
    local ratio verdict
    ratio=$(awk -v v="$3" -v t="$4" 'BEGIN {if (t > 0) printf "%.2f", v / t; else print (v > 0 ? "-" : "0.00")}')
    verdict=$(awk -v v="$3" -v t="$4" 'BEGIN {print (v <= t ? "ok" : "MISSED")}')
    printf '%-66s %12s %12s %8s  %s\n' "$2" "$3 $5" "$4 $5" "$ratio" "$verdict"
    if [ "$1" = counts ] && [ "$verdict" = MISSED ]; then missed_counts=$((missed_counts + 1)); fi
}

# fact NAME VALUE UNIT: without a target
fact() { printf '%-66s %12s\n' "$1" "$2 $3"; }

skipped() { printf '%-66s %12s  (%s)\n' "$1" - "$2"; } # NAME WHY
