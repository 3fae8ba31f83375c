# The one node of a test cluster: names, addresses, directories, and how to run something in it.
# Source after common.sh, do not run.
# shellcheck shell=bash disable=SC2034
#
# Several clusters may run at once; RCO_CLUSTER_NAME tells them apart. The node is a network
# namespace and a mount namespace on this machine:
#
#   host --- rcoNh [10.199.2N.1/30] ~~~ [10.199.2N.2/30] eth0 in network namespace rco-NAME
#                                        |-- Services 10.199.2N.128/25
#                                        `-- pods     10.199.(2N+1).0/24, by CNI ptp
#
# N is the lowest number that no other cluster has. The host routes Services and pods to the node, so
# that tests can call them; nothing is masqueraded or forwarded from there to the outside.

CLUSTER_NAME=${RCO_CLUSTER_NAME:-main}
[[ $CLUSTER_NAME =~ ^[a-z0-9]([a-z0-9-]{0,14}[a-z0-9])?$ ]] ||
    die "RCO_CLUSTER_NAME '$CLUSTER_NAME' must be 1 to 16 of a-z, 0-9 and '-'"
STATE=${RCO_CLUSTER_STATE:-$RCO_CACHE/cluster}/$CLUSTER_NAME
NETNS=rco-$CLUSTER_NAME
NODE_NAME=$CLUSTER_NAME-node
CGROUP=rco-$CLUSTER_NAME
PKI=$STATE/pki
KUBECONFIG_ADMIN=$STATE/kubeconfig
CONTAINERD_SOCKET=/run/containerd/containerd.sock

# node_addresses N: sets the variables of the drawing above.
node_addresses() {
    local a=10.199.$((2 * $1)) b=10.199.$((2 * $1 + 1))
    NODE_LINK=rco${1}h
    HOST_IP=$a.1 NODE_IP=$a.2 LINK_BITS=30
    SERVICE_CIDR=$a.128/25 SERVICE_FIRST_IP=$a.129 POD_CIDR=$b.0/24
}

# node_load: node_addresses for the cluster that STATE describes; fails when there is none.
node_load() {
    [ -s "$STATE/number" ] || return 1
    node_addresses "$(<"$STATE/number")"
}

need_node() {
    if ! node_load || ! daemon_alive "$STATE" holder; then
        die "cluster '$CLUSTER_NAME' is not up (hack/cluster/up.sh makes it)"
    fi
}

# in_node COMMAND...: runs a command in the node's namespaces and cgroup.
in_node() { "$CLUSTER_DIR/lib/in-node.sh" "$STATE" "$CGROUP" "$NETNS" "$@"; }

# node_daemon NAME COMMAND...: starts a daemon there.
node_daemon() {
    local name=$1
    shift
    daemon_start "$STATE" "$name" "$CLUSTER_DIR/lib/in-node.sh" "$STATE" "$CGROUP" "$NETNS" "$@"
}

kubectl() { "$(tool kubectl)" --kubeconfig "$KUBECONFIG_ADMIN" "$@"; }

# cgroup_roots: prints the mount point of each cgroup hierarchy that has to carry the node's group.
cgroup_roots() {
    awk '$3 == "cgroup" { print $2 } $3 == "cgroup2" && $2 == "/sys/fs/cgroup" { print $2 }' \
        /proc/self/mounts
}

# cgroup_tracker: the one hierarchy by which the node's processes are found again.
cgroup_tracker() {
    local root
    for root in /sys/fs/cgroup/pids /sys/fs/cgroup/systemd /sys/fs/cgroup; do
        if [ -e "$root/cgroup.procs" ]; then
            echo "$root"
            return 0
        fi
    done
    die "no cgroup hierarchy is mounted at /sys/fs/cgroup"
}
