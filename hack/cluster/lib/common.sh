# Shared by the scripts of hack/cluster: where things are, messages, daemons. Source, do not run.
# shellcheck shell=bash

CLUSTER_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Everything a later run can use again lies here, with its version in its name.
RCO_CACHE=${RCO_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/runtime-cloud}

say() { echo "${0##*/}: $*"; }

die() {
    echo "${0##*/}: $*" >&2
    exit 1
}

need_root() {
    [ "$(id -u)" = 0 ] || die "must run as root: it makes network namespaces, mounts and cgroups"
}

# tool NAME: the path of a program that build-tools.sh made (see there for the names).
tool() { "$CLUSTER_DIR/build-tools.sh" --path "$1"; }

# wait_until SECONDS WHAT COMMAND...: repeats the command until it succeeds.
wait_until() {
    local limit=$1 what=$2 end=$((SECONDS + $1))
    shift 2
    until "$@" >/dev/null 2>&1; do
        if [ "$SECONDS" -ge "$end" ]; then
            echo "${0##*/}: $what: not within $limit s" >&2
            return 1
        fi
        sleep 0.2
    done
}

# Daemons. One is known by DIR/pids/NAME, which holds "pid starttime": the start time (field 22 of
# /proc/PID/stat) keeps a recycled pid from being mistaken for ours. Its output is DIR/log/NAME.log.

start_time() { # PID: prints the start time of a process, fails when there is none
    local stat
    local -a fields
    stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
    # The name, field 2, may hold blanks; what follows its bracket is fields 3 and on.
    read -r -a fields <<<"${stat##*) }"
    [ "${fields[0]}" != Z ] || return 1
    echo "${fields[19]}"
}

daemon_alive() { # DIR NAME
    local pid start
    { read -r pid start <"$1/pids/$2"; } 2>/dev/null || return 1
    [ "$(start_time "$pid")" = "$start" ]
}

daemon_start() { # DIR NAME COMMAND...: does nothing when it runs already
    local dir=$1 name=$2 pid
    shift 2
    if daemon_alive "$dir" "$name"; then return 0; fi
    mkdir -p "$dir/pids" "$dir/log"
    # A session of its own keeps it from the terminal's signals; no lock may be inherited.
    setsid "$@" </dev/null >>"$dir/log/$name.log" 2>&1 7>&- 8>&- 9>&- &
    pid=$!
    echo "$pid $(start_time "$pid" || echo gone)" >"$dir/pids/$name"
}

daemon_stop() { # DIR NAME [SECONDS]: SIGTERM, then SIGKILL after SECONDS (default 10; 0: at once)
    local dir=$1 name=$2 end=$((SECONDS + ${3:-10})) pid
    if daemon_alive "$dir" "$name"; then
        read -r pid _ <"$dir/pids/$name"
        [ "${3:-10}" = 0 ] || kill -TERM "$pid" 2>/dev/null || true
        while daemon_alive "$dir" "$name"; do
            if [ "$SECONDS" -ge "$end" ]; then
                kill -KILL "$pid" 2>/dev/null || true
                end=$((SECONDS + 10))
            fi
            sleep 0.05
        done
    fi
    rm -f "$dir/pids/$name"
}

daemon_fail() { # DIR NAME MESSAGE: dies with the end of the daemon's log
    tail -n 20 "$1/log/$2.log" >&2 || true
    die "$3 (log: $1/log/$2.log)"
}
