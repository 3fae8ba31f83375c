# Makes and removes what the node is made of: network, mounts, cgroups. Source after node.sh.
# shellcheck shell=bash

# network_up: takes a number, makes the namespace and the link. Idempotent.
network_up() {
    if ! [ -s "$STATE/number" ]; then
        network_take_number
    fi
    node_load
    ip netns list | grep -qE "^$NETNS( |\$)" || ip netns add "$NETNS"
    if ! ip -n "$NETNS" link show eth0 >/dev/null 2>&1; then
        ip link add "$NODE_LINK" type veth peer name eth0 netns "$NETNS"
    fi
    ip -n "$NETNS" link set lo up
    ip -n "$NETNS" addr replace "$NODE_IP/$LINK_BITS" dev eth0
    ip -n "$NETNS" link set eth0 up
    ip addr replace "$HOST_IP/$LINK_BITS" dev "$NODE_LINK"
    ip link set "$NODE_LINK" up
    ip -n "$NETNS" route replace default via "$HOST_IP"
    ip route replace "$SERVICE_CIDR" via "$NODE_IP"
    ip route replace "$POD_CIDR" via "$NODE_IP"
    nsenter "--net=/run/netns/$NETNS" sysctl -q -w net.ipv4.ip_forward=1
}

# The number is taken by making the link, which the kernel lets only one do.
network_take_number() {
    local n
    ip netns list | grep -qE "^$NETNS( |\$)" || ip netns add "$NETNS"
    for ((n = 0; n < 100; n++)); do
        node_addresses $n
        if ip link show "$NODE_LINK" >/dev/null 2>&1; then continue; fi
        if ip -4 route show root "10.199.$((2 * n)).0/23" | grep -q .; then continue; fi
        if ip link add "$NODE_LINK" type veth peer name eth0 netns "$NETNS" 2>/dev/null; then
            echo $n >"$STATE/number"
            return 0
        fi
    done
    die "no free network among 10.199.0.0/16 for cluster '$CLUSTER_NAME'"
}

network_down() {
    if node_load; then
        ip link del "$NODE_LINK" 2>/dev/null || true
    fi
    ip netns del "$NETNS" 2>/dev/null || true
}

cgroups_up() {
    local root controller
    cgroup_roots | while read -r root; do
        if [ -e "$root/cgroup.controllers" ]; then
            for controller in $(<"$root/cgroup.controllers"); do
                echo "+$controller" >"$root/cgroup.subtree_control" 2>/dev/null || true
            done
        fi
        mkdir -p "$root/$CGROUP/node"
        if [ -e "$root/$CGROUP/cgroup.controllers" ]; then
            for controller in $(<"$root/$CGROUP/cgroup.controllers"); do
                echo "+$controller" >"$root/$CGROUP/cgroup.subtree_control" 2>/dev/null || true
            done
        fi
        if [ -e "$root/cpuset.cpus" ]; then
            # A new group of this hierarchy is unusable until both are set.
            cat "$root/cpuset.cpus" >"$root/$CGROUP/cpuset.cpus"
            cat "$root/cpuset.mems" >"$root/$CGROUP/cpuset.mems"
        fi
    done
}

# cgroups_kill: ends every process of the node and of its pods. Nothing else is in these groups.
cgroups_kill() {
    local group end=$((SECONDS + 30)) pid found
    group=$(cgroup_tracker)/$CGROUP
    while [ -d "$group" ]; do
        found=
        while read -r pid; do
            found=1
            kill -KILL "$pid" 2>/dev/null || true
        done < <(find "$group" -name cgroup.procs -exec cat {} + 2>/dev/null)
        [ -n "$found" ] || return 0
        [ "$SECONDS" -lt "$end" ] || die "processes in $group do not end"
        sleep 0.1
    done
}

cgroups_down() {
    local group n
    find /sys/fs/cgroup -mindepth 1 -maxdepth 2 -type d -name "$CGROUP" | while read -r group; do
        # A group can be busy for a moment after its last process has gone.
        for ((n = 0; n < 50; n++)); do
            find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || true
            [ -d "$group" ] || break
            sleep 0.1
        done
        ! [ -d "$group" ] || die "cannot remove cgroup $group"
    done
}

# mounts_up: starts the process that holds the node's mount namespace. All that the node's daemons
# mount, and what they write outside STATE, lives in there and vanishes with its last process.
mounts_up() {
    mkdir -p "$STATE"/{varlib,varlib-work,varlog,volumes}
    daemon_start "$STATE" holder unshare --mount --propagation slave \
        "$CLUSTER_DIR/lib/holder.sh" "$STATE"
    wait_until 10 "mount namespace" test -e "$STATE/mounted" ||
        daemon_fail "$STATE" holder "the node's mounts cannot be made"
}
