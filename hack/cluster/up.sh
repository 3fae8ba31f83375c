#!/usr/bin/env bash
# Brings up a real one-node Kubernetes on this machine; about 15 s from built programs. When it is
# up already, starts again what has stopped and returns.
#
#   RCO_CLUSTER_NAME   which of several clusters (default: main)
#   RCO_CLUSTER_STATE  where their directories lie (default: $RCO_CACHE/cluster)
#   RCO_APISERVER_FLAGS, RCO_LOCAL_STORAGE_ISOLATION=false   see lib/daemons.sh, lib/config.sh
#
# Prints the path of a kubeconfig that works from this machine. down.sh takes everything away again.
set -euo pipefail
# shellcheck source=lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
for part in node pki pause namespaces config daemons; do
    # shellcheck source=/dev/null
    . "$CLUSTER_DIR/lib/$part.sh"
done

began=$SECONDS
need_root
"$CLUSTER_DIR/../deps/install.sh" cluster
"$CLUSTER_DIR/build-tools.sh" node
mkdir -p "$STATE"
exec 7>"$STATE/.lock"
flock 7

if [ -s "$STATE/number" ] && ! daemon_alive "$STATE" holder; then
    say "cluster '$CLUSTER_NAME' was not taken down; clearing what it left"
    RCO_HAVE_LOCK=1 "$CLUSTER_DIR/down.sh"
    mkdir -p "$STATE"
fi

pause=$(pause_archive)
network_up
cgroups_up
mounts_up
write_pki
write_configs

start_etcd
start_apiserver
start_containerd
await_daemon containerd
node_ctr images import "$pause" >/dev/null
await_daemon apiserver
start_controller-manager
start_scheduler
start_kubelet
start_proxy
kubectl apply -f "$CLUSTER_DIR/manifests/coredns.yaml" >/dev/null
start_coredns
"$CLUSTER_DIR/volumes.sh"

node_ready() { [ "$(kubectl get node "$NODE_NAME" -o jsonpath="$1" 2>/dev/null)" = True ]; }
wait_until 240 "node ready" node_ready '{.status.conditions[?(@.type=="Ready")].status}' ||
    daemon_fail "$STATE" kubelet "node $NODE_NAME does not become ready"
wait_until 120 "default ServiceAccount" kubectl -n default get serviceaccount default ||
    daemon_fail "$STATE" controller-manager "the controller manager does not work"
for daemon in "${DAEMONS[@]}"; do await_daemon "$daemon"; done
say "cluster '$CLUSTER_NAME' ready after $((SECONDS - began)) s" >&2
echo "$KUBECONFIG_ADMIN"
