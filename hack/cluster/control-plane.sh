#!/usr/bin/env bash
# A kube-apiserver with its etcd on loopback, without a node: what `make test-wire` talks to.
#
#   control-plane.sh up DIR [PORT]    ready in a few seconds; writes DIR/kubeconfig (administrator)
#   control-plane.sh down DIR         stops both and removes DIR
#   control-plane.sh stop|start|kill DIR NAME
#                                     one of the two (etcd, apiserver), for faults: SIGTERM, back up
#                                     again, SIGKILL; the data stays
#
# PORT is the API server's; etcd takes the next two. Without one, three free ports are found. Any
# number of instances may run. RCO_APISERVER_FLAGS holds more flags for the API server.
#
# DIR: kubeconfig, port, pki/ (ca.crt, admin.crt, admin.key, ...), log/, pids/, etcd/.
# No controller-manager runs: no garbage collection, no default ServiceAccounts, no Job controller.
set -euo pipefail
# shellcheck source=lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
# shellcheck source=lib/pki.sh
. "$CLUSTER_DIR/lib/pki.sh"

usage="usage: control-plane.sh up DIR [PORT] | down DIR | stop|start|kill DIR etcd|apiserver"

port_free() { ! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# Prints the first of three free ports. Instances that start together are kept apart by a
# reservation file for each, held by the DIR that took it.
find_ports() {
    local reserved=$RCO_CACHE/ports port owner
    mkdir -p "$reserved"
    exec 8>"$reserved/.lock"
    flock 8
    for ((port = 26440; port < 29440; port += 3)); do
        owner=$(cat "$reserved/$port" 2>/dev/null || true)
        if [ -n "$owner" ] && [ "$owner" != "$dir" ] && [ -d "$owner" ]; then continue; fi
        if port_free $port && port_free $((port + 1)) && port_free $((port + 2)); then
            echo "$dir" >"$reserved/$port"
            echo $port
            exec 8>&-
            return 0
        fi
    done
    die "no three free ports between 26440 and 29440"
}

start_etcd() {
    local client=http://127.0.0.1:$((port + 1)) peer=http://127.0.0.1:$((port + 2))
    # No fsync: the data need not outlive the machine, and tests should not wait for its disk.
    daemon_start "$dir" etcd "$(tool etcd)" --name member --data-dir "$dir/etcd" \
        --listen-client-urls "$client" --advertise-client-urls "$client" \
        --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" \
        --initial-cluster "member=$peer" --unsafe-no-fsync --log-level warn
}

start_apiserver() {
    local pki=$dir/pki
    local -a more=()
    read -r -a more <<<"${RCO_APISERVER_FLAGS:-}"
    daemon_start "$dir" apiserver "$(tool kube-apiserver)" \
        --etcd-servers "http://127.0.0.1:$((port + 1))" \
        --bind-address 127.0.0.1 --advertise-address 127.0.0.1 --secure-port "$port" \
        --endpoint-reconciler-type none --service-cluster-ip-range 10.0.0.0/24 \
        --tls-cert-file "$pki/apiserver.crt" --tls-private-key-file "$pki/apiserver.key" \
        --client-ca-file "$pki/ca.crt" \
        --service-account-issuer https://kubernetes.default.svc.cluster.local \
        --service-account-key-file "$pki/sa.pub" --service-account-signing-key-file "$pki/sa.key" \
        --authorization-mode RBAC --allow-privileged "${more[@]}"
}

ready() {
    curl -fsS --max-time 2 --cacert "$dir/pki/ca.crt" --cert "$dir/pki/admin.crt" \
        --key "$dir/pki/admin.key" "https://127.0.0.1:$port/readyz"
}

await() {
    wait_until 180 "API server ready" ready ||
        daemon_fail "$dir" apiserver "the API server on port $port does not become ready"
}

up() {
    local pki=$dir/pki
    "$CLUSTER_DIR/../deps/install.sh" test
    "$CLUSTER_DIR/build-tools.sh" etcd kube-apiserver
    mkdir -p "$dir"
    if [ -s "$dir/port" ]; then
        port=$(<"$dir/port")
    else
        port=${1:-$(find_ports)}
        echo "$port" >"$dir/port"
    fi
    pki_ca "$pki"
    pki_service_account_key "$pki"
    pki_issue "$pki" apiserver "/CN=kube-apiserver" serverAuth "$(pki_apiserver_names IP:10.0.0.1)"
    pki_issue "$pki" admin "/O=system:masters/CN=admin" clientAuth
    start_etcd
    start_apiserver
    await
    kubeconfig_paths "$pki" admin "https://127.0.0.1:$port" >"$dir/kubeconfig.new"
    mv "$dir/kubeconfig.new" "$dir/kubeconfig"
    say "API server ready on port $port: KUBECONFIG=$dir/kubeconfig"
}

down() {
    daemon_stop "$dir" apiserver 5
    daemon_stop "$dir" etcd 5
    [ ! -s "$dir/port" ] || rm -f "$RCO_CACHE/ports/$(<"$dir/port")"
    rm -rf "$dir"
}

start_one() {
    port=$(<"$dir/port")
    case "$1" in
    etcd) start_etcd ;;
    apiserver)
        start_apiserver
        await
        ;;
    *) die "$usage" ;;
    esac
}

[ $# -ge 2 ] || die "$usage"
verb=$1
dir=$(realpath -m "$2")
case "$verb" in
up) up "${@:3}" ;;
down)
    # Only a directory that this script made is removed.
    if ! [ -d "$dir" ]; then exit 0; fi
    [ -d "$dir/pids" ] || [ -s "$dir/port" ] || die "$dir is not a control plane's directory"
    down
    ;;
start) start_one "${3:-}" ;;
stop) daemon_stop "$dir" "${3:?$usage}" ;;
kill) daemon_stop "$dir" "${3:?$usage}" 0 ;;
*) die "$usage" ;;
esac
