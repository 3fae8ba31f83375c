# The controller binary under test: instances by name, each with its directory $dir/op/NAME.
# shellcheck shell=bash disable=SC2154,SC2034,SC2030,SC2031,SC2119,SC2120

# A copy: what is tested stays the same if the tree is built meanwhile.
copy_binary() {
    BINARY=$dir/runtime-cloud-controller
    cp "$BUILD/bin/runtime-cloud-controller" "$BINARY" || exit
}
export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1

# A kubeconfig with the rights that the chart gives, and no more.
operator_credentials() {
    "$kubectl" -n "$OPERATOR_NS" create token runtime-cloud-operator --duration 4h >"$dir/token"
    cat >"$dir/operator.kubeconfig" <<YAML
apiVersion: v1
kind: Config
current-context: wire
contexts: [{name: wire, context: {cluster: wire, user: operator}}]
clusters: [{name: wire, cluster: {server: "$url", certificate-authority: $dir/cp/pki/ca.crt}}]
users: [{name: operator, user: {tokenFile: $dir/token}}]
YAML
}

port_free() { ! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

free_ports() { # NUMBER: prints a base
    local port i
    while :; do
        port=$((20000 + RANDOM % 6000))
        for ((i = 0; i < $1; i++)); do port_free $((port + i)) || continue 2; done
        echo $port
        return
    done
}

# The gateway's URL is the same for all replicas, as a Service's is: that of the shared instance.
reserve_ports() {
    mkdir -p "$dir/op/main"
    free_ports 3 >"$dir/op/main/ports"
    gateway_port=$(($(cat "$dir/op/main/ports") + 2))
}

# operator_start NAME [FLAG...]: starts it and waits until it is ready. Flags win over these.
operator_start() {
    operator_launch "$@"
    operator_await "$1" "$(cat "$dir/op/$1/ports")" /readyz
}

operator_launch() {
    local name=$1 home=$dir/op/$1 port
    shift
    mkdir -p "$home"
    [ -s "$home/ports" ] || free_ports 3 >"$home/ports"
    port=$(cat "$home/ports")
    rm -f "$home/pid" "$home/rc"
    {
        # shellcheck disable=SC2016
        sh -c 'echo $$ >"$0/pid"; exec "$@"' "$home" "$BINARY" --kubeconfig "$dir/operator.kubeconfig" \
            --namespace "$OPERATOR_NS" --identity "$name" \
            --health-probe-bind-address "127.0.0.1:$port" --metrics-bind-address "127.0.0.1:$((port + 1))" \
            --gateway-bind-address "127.0.0.1:$((port + 2))" \
            --gateway-url "https://127.0.0.1:$gateway_port" --log-level debug "$@" >>"$home/log" 2>&1
        echo $? >"$home/rc"
    } 2>/dev/null &
}

operator_await() { # NAME PORT PATH
    local until=$((SECONDS + PATIENCE))
    while [ $SECONDS -lt $until ]; do
        curl --silent --fail --max-time 2 "http://127.0.0.1:$2$3" >/dev/null && return 0
        [ ! -s "$dir/op/$1/rc" ] || die "operator $1 starts" "exit $(cat "$dir/op/$1/rc"): $(tail -3 "$dir/op/$1/log")"
        sleep 0.05
    done
    die "operator $1 becomes ready" "$(tail -3 "$dir/op/$1/log")"
}

operator_pid() { cat "$dir/op/$1/pid"; }
operator_alive() { [ -s "$dir/op/$1/pid" ] && [ ! -s "$dir/op/$1/rc" ] && kill -0 "$(operator_pid "$1")" 2>/dev/null; }

operator_wait() { # NAME [SECONDS]: sets rc to its exit code, or to nothing when it goes on
    local until=$((SECONDS + ${2:-$PATIENCE}))
    while [ ! -s "$dir/op/$1/rc" ] && [ $SECONDS -lt $until ]; do sleep 0.02; done
    rc=$(cat "$dir/op/$1/rc" 2>/dev/null)
}

operator_stop() { # NAME: SIGTERM; it ends with 0
    kill -TERM "$(operator_pid "$1")"
    operator_wait "$1"
    equal "operator $1 ends with 0 on SIGTERM" 0 "$rc"
    [ "$rc" = 0 ] || tail -40 "$dir/op/$1/log" >&2
}

operator_kill() { # NAME
    kill -KILL "$(operator_pid "$1")" 2>/dev/null
    operator_wait "$1"
}

# The instance that most scenarios share. Its identity is fixed, so that it takes its own Lease back at
# once after a SIGKILL.
operator_ensure() { operator_alive main || operator_start main "$@"; }

# Kills the shared instance at once and starts another.
operator_crash() {
    operator_kill main
    operator_start main
}
