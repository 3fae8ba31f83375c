#!/usr/bin/env bash
# Checks every model with Spin: assertions and invalid end states, then each LTL property under weak fairness;
# that the model went through every row of the C table and through no other; and that what is broken on purpose
# is found. MODELS="elector" takes some. MODELS_DIR is where it works; MODELS_WORLD and MODELS_LIBS are what the
# model of the run is linked with (see the Makefile).
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2
. test/lib/results.sh
here=$PWD/test/models
work=${MODELS_DIR:-build/models}/runs
mkdir -p "$work"
work=$(cd "$work" && pwd)
rm -rf "${work:?}"/*

# MODEL PROPERTY|- DEFINES...: builds pan for it and runs it; the output goes to $work/NAME/out.
pan() { # NAME MODEL PROPERTY DEFINES
    local dir=$work/$1 model=$2 property=$3 defines=$4 flags level link=
    [ "$model" != run ] || link="${MODELS_WORLD:-} ${MODELS_LIBS:-}"
    mkdir -p "$dir"
    echo "$defines" >"$dir/flags"
    ln -sfn "$PWD/test" "$dir/test" # run_world.c reads the decision cases
    # shellcheck disable=SC2086
    (cd "$dir" && spin -a $defines "$here/$model.pml") >"$dir/spin" 2>&1 || { tail -5 "$dir/spin" >&2; return 1; }
    if [ "$property" = - ]; then flags="-DSAFETY -DNOCLAIM -DNOFAIR"; else flags="-DNFAIR=4"; fi
    # What is broken is found soon: there the compiler takes longer than the search.
    if [[ $defines == *BREAK* ]]; then level=0; else level=2; fi
    # shellcheck disable=SC2086
    gcc -O"$level" -w -DMEMLIM=1800 -DVECTORSZ=2048 $flags -I"$here" -Ipkg -o "$dir/pan" "$dir/pan.c" $link \
        >"$dir/cc" 2>&1 || { tail -5 "$dir/cc" >&2; return 1; }
    if [ "$property" = - ]; then flags=""; else flags="-a -f -N $property"; fi
    # shellcheck disable=SC2086
    (cd "$dir" && timeout 600 ./pan -n -b -m2000000 -w22 $flags) >"$dir/out" 2>&1
    grep -q '^State-vector.*errors: ' "$dir/out" || { tail -3 "$dir/out" >&2; return 1; }
}

errors() { sed -n 's/^State-vector.*errors: \([0-9]*\)$/\1/p' "$work/$1/out"; }
stored() { sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' "$work/$1/out"; }

name_of() { echo "$1.$2.$3" | tr -c 'A-Za-z0-9.\n' _; } # MODEL PROPERTY REST

holds() { # MODEL PROPERTY DEFINES
    local name what
    name=$(name_of "$1" "$2" "$3") what="models: $1: ${2/#-/assertions and end states}${3:+ ($3)}"
    if [ "$(cat "$work/$name/rc")" = 0 ] && [ "$(errors "$name")" = 0 ]; then
        result ok "$what"
        printf '%-10s %-20s %-26s %9s states\n' "$1" "${2/#-/assertions}" "$3" "$(stored "$name")"
    else
        result fail "$what" "$(grep -m1 '^pan' "$work/$name/out" 2>/dev/null)"
    fi
}

breaks() { # MODEL PROPERTY SWITCH DEFINES
    local name
    name=$(name_of "$1" "$2" "$3${4:+ $4}")
    if [ "$(cat "$work/$name/rc")" = 0 ] && [ "$(errors "$name")" != 0 ]; then
        result ok "models: $1: broken $3 is found"
        printf '%-10s broken %-18s %s\n' "$1" "$3" "$(grep -m1 '^pan:1' "$work/$name/out" | cut -c7-80)"
    else
        result fail "models: $1: broken $3 is found"
    fi
}

# Rows of the C table and rows that the model took, compared in both directions. What a model leaves out is
# said in it: `not modelled: STATE INPUT`.
table() { # MODEL
    local more less sound=()
    mapfile -t sound < <(grep -L DBREAK "$work/$1".*/flags | xargs -n1 dirname)
    sed -n 's/^ \* row \([A-Za-z]* [A-Za-z]*\).*/\1/p' "$here/zz_generated_$1.pml" | sort >"$work/$1.rows"
    sed -n 's/^.*not modelled: \([A-Za-z]* [A-Za-z]*\).*/\1/p' "$here/$1.pml" | sort >"$work/$1.left"
    cat "${sound[@]/%//out}" | sed -n 's/^visited //p' | sort -u >"$work/$1.taken"
    more=$(comm -13 "$work/$1.rows" "$work/$1.taken" | tr '\n' ',')
    less=$(comm -3 <(comm -23 "$work/$1.rows" "$work/$1.taken") "$work/$1.left" | tr '\n' ',')
    if [ -s "$work/$1.rows" ] && [ -z "$more$less" ]; then
        result ok "models: $1: the C table"
        ! grep -q '^row ' "${sound[0]}/out" ||
            echo "$1: $(cat "${sound[@]/%//out}" | grep '^row ' | sort -u | wc -l) rows of the decision were taken"
        echo "$1: $(wc -l <"$work/$1.taken") rows of the C table's $(wc -l <"$work/$1.rows") taken, $(wc -l <"$work/$1.left") not modelled"
    else
        result fail "models: $1: the C table" "only in the model: ${more:-none}; only in C: ${less:-none}"
    fi
}

mapfile -t lines < <(sed -e 's/#.*//' -e '/^ *$/d' "$here/properties")
models=${MODELS:-workqueue reflector elector run}

# Two at a time, the answers afterwards.
for line in "${lines[@]}"; do
    read -r model verb property rest <<<"$line"
    [[ " $models " == *" $model "* ]] || continue
    while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
    name=$(name_of "$model" "$property" "$rest")
    [ "$verb" = holds ] || rest="-DBREAK_$rest"
    { pan "$name" "$model" "$property" "$rest"; echo $? >"$work/$name/rc"; } &
done
wait
for model in $models; do
    for line in "${lines[@]}"; do
        read -r name verb property rest <<<"$line"
        [ "$name" = "$model" ] || continue
        if [ "$verb" = holds ]; then holds "$model" "$property" "$rest"; else breaks "$model" "$property" "${rest%% *}" "$([[ $rest == *" "* ]] && echo "${rest#* }")"; fi
    done
    table "$model"
done
results_end models
