#!/usr/bin/env bash
# Looks into a running cluster's node, and breaks it. RCO_CLUSTER_NAME as for up.sh.
#
#   node.sh exec COMMAND...            runs a command in the node's namespaces
#   node.sh ctr ARGUMENTS...           containerd's client
#   node.sh stop|kill|start DAEMON     SIGTERM, SIGKILL, up again and ready: etcd apiserver containerd
#                                      coredns controller-manager scheduler kubelet proxy
#   node.sh info                       NAME=value lines: state, addresses, kubeconfig
set -euo pipefail
# shellcheck source=lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
for part in node daemons; do
    # shellcheck source=/dev/null
    . "$CLUSTER_DIR/lib/$part.sh"
done

usage="usage: node.sh exec COMMAND... | ctr ARGUMENTS... | stop|kill|start DAEMON | info"
need_root
need_node
verb=${1:?$usage}
shift
case "$verb" in
exec) in_node "$@" ;;
ctr) node_ctr "$@" ;;
start)
    start_daemon "${1:?$usage}"
    await_daemon "$1"
    ;;
stop) daemon_stop "$STATE" "${1:?$usage}" ;;
kill) daemon_stop "$STATE" "${1:?$usage}" 0 ;;
info)
    printf '%s=%s\n' state "$STATE" kubeconfig "$KUBECONFIG_ADMIN" node_name "$NODE_NAME" \
        node_ip "$NODE_IP" host_ip "$HOST_IP" netns "$NETNS" pod_cidr "$POD_CIDR" \
        service_cidr "$SERVICE_CIDR"
    ;;
*) die "$usage" ;;
esac
