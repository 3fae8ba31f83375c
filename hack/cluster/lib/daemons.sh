# Starts the node's daemons, each idempotent. Source after node.sh.
# shellcheck shell=bash

# All of them, in the order in which they are started.
DAEMONS=(etcd apiserver containerd coredns controller-manager scheduler kubelet proxy)

start_etcd() {
    node_daemon etcd "$(tool etcd)" --name "$NODE_NAME" --data-dir "$STATE/etcd" \
        --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
        --listen-peer-urls http://127.0.0.1:2380 \
        --initial-advertise-peer-urls http://127.0.0.1:2380 \
        --initial-cluster "$NODE_NAME=http://127.0.0.1:2380" --unsafe-no-fsync --log-level warn
}

start_apiserver() {
    local -a more=()
    read -r -a more <<<"${RCO_APISERVER_FLAGS:-}"
    node_daemon apiserver "$(tool kube-apiserver)" \
        --etcd-servers http://127.0.0.1:2379 --secure-port 6443 --advertise-address "$NODE_IP" \
        --service-cluster-ip-range "$SERVICE_CIDR" --allow-privileged \
        --tls-cert-file "$PKI/apiserver.crt" --tls-private-key-file "$PKI/apiserver.key" \
        --client-ca-file "$PKI/ca.crt" \
        --service-account-issuer https://kubernetes.default.svc.cluster.local \
        --service-account-key-file "$PKI/sa.pub" --service-account-signing-key-file "$PKI/sa.key" \
        --authorization-mode Node,RBAC --enable-admission-plugins NodeRestriction \
        --requestheader-client-ca-file "$PKI/ca.crt" --requestheader-allowed-names front-proxy \
        --requestheader-username-headers X-Remote-User \
        --requestheader-group-headers X-Remote-Group \
        --requestheader-extra-headers-prefix X-Remote-Extra- \
        --kubelet-client-certificate "$PKI/apiserver-kubelet.crt" \
        --kubelet-client-key "$PKI/apiserver-kubelet.key" \
        --kubelet-certificate-authority "$PKI/ca.crt" \
        --kubelet-preferred-address-types InternalIP "${more[@]}"
}

start_containerd() { node_daemon containerd containerd --config "$STATE/etc/containerd.toml"; }

start_coredns() { node_daemon coredns "$(tool coredns)" -conf "$STATE/etc/Corefile"; }

start_controller-manager() {
    local config=$PKI/controller-manager.kubeconfig
    node_daemon controller-manager "$(tool kube-controller-manager)" \
        --kubeconfig "$config" --authentication-kubeconfig "$config" \
        --authorization-kubeconfig "$config" --bind-address 127.0.0.1 \
        --service-account-private-key-file "$PKI/sa.key" --root-ca-file "$PKI/ca.crt" \
        --cluster-signing-cert-file "$PKI/ca.crt" --cluster-signing-key-file "$PKI/ca.key" \
        --controllers '*,-nodeipam' --use-service-account-credentials --leader-elect=false \
        --flex-volume-plugin-dir "$STATE/varlib/volume-plugins"
}

start_scheduler() {
    local config=$PKI/scheduler.kubeconfig
    node_daemon scheduler "$(tool kube-scheduler)" --kubeconfig "$config" \
        --authentication-kubeconfig "$config" --authorization-kubeconfig "$config" \
        --bind-address 127.0.0.1 --leader-elect=false
}

start_kubelet() {
    node_daemon kubelet "$(tool kubelet)" --config "$STATE/etc/kubelet.yaml" \
        --kubeconfig "$PKI/kubelet.kubeconfig" --hostname-override "$NODE_NAME" \
        --node-ip "$NODE_IP"
}

start_proxy() { node_daemon proxy "$(tool kube-proxy)" --config "$STATE/etc/proxy.yaml"; }

start_daemon() { # NAME, one of DAEMONS
    [[ " ${DAEMONS[*]} " == *" $1 "* ]] || die "unknown daemon '$1' (known: ${DAEMONS[*]})"
    "start_$1"
}

# await_daemon NAME: until it serves. Nothing restarts a daemon, and several end at once when one
# that they need is not there yet as they start.
await_daemon() {
    wait_until 180 "$1" daemon_ready "$1" ||
        daemon_fail "$STATE" "$1" "$1 of cluster '$CLUSTER_NAME' does not become ready"
}

daemon_ready() { # NAME
    daemon_alive "$STATE" "$1" || return 1
    case "$1" in
    etcd) node_get http://127.0.0.1:2379/health ;;
    apiserver) kubectl get --raw /readyz ;;
    containerd) node_ctr version ;;
    coredns) node_get http://127.0.0.1:8181/ready ;;
    controller-manager) node_get https://127.0.0.1:10257/healthz ;;
    scheduler) node_get https://127.0.0.1:10259/healthz ;;
    kubelet) node_get http://127.0.0.1:10248/healthz ;;
    proxy) node_get http://127.0.0.1:10256/healthz ;;
    esac
}

node_get() { in_node curl -fsSk --max-time 2 "$1"; }

# node_ctr ARGUMENTS...: containerd's client, where kubelet's images are.
node_ctr() { in_node ctr --address "$CONTAINERD_SOCKET" --namespace k8s.io "$@"; }
