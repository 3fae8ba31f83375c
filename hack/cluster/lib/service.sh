# Servers that tests need beside the cluster: where they listen and how they start. Source after
# node.sh.
# shellcheck shell=bash disable=SC2034
#
# With a cluster up, they run in its node: pods and this machine reach them at the node's address,
# and down.sh takes them along. Without one, or with RCO_SERVICE_LOOPBACK=1, they run on loopback.

service_place() {
    if [ -z "${RCO_SERVICE_LOOPBACK:-}" ] && node_load && daemon_alive "$STATE" holder; then
        SERVICE_IP=$NODE_IP SERVICE_DIR=$STATE/services
    else
        SERVICE_IP=127.0.0.1 SERVICE_DIR=$RCO_CACHE/services/$CLUSTER_NAME
    fi
}

# service_start NAME COMMAND...: a daemon in that place.
service_start() {
    local name=$1
    shift
    if [ "$SERVICE_IP" = 127.0.0.1 ]; then
        daemon_start "$SERVICE_DIR" "$name" "$@"
    else
        daemon_start "$SERVICE_DIR" "$name" \
            "$CLUSTER_DIR/lib/in-node.sh" "$STATE" "$CGROUP" "$NETNS" "$@"
    fi
}

port_open() { (exec 3<>"/dev/tcp/$SERVICE_IP/$1") 2>/dev/null; }

# service_forget NAME...: removes what daemons that were stopped leave.
service_forget() {
    local name
    for name in "$@"; do rm -f "$SERVICE_DIR/log/$name.log"; done
    rmdir "$SERVICE_DIR"/{log,pids} "$SERVICE_DIR" 2>/dev/null || true
}
