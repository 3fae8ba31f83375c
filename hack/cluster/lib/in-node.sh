#!/usr/bin/env bash
# in-node.sh STATE CGROUP NETNS COMMAND...: becomes COMMAND inside a node. See node.sh.
#
# nsenter, not `ip netns exec`: the latter mounts /sys anew, which hides the cgroups.
set -euo pipefail
state=$1 cgroup=$2 netns=$3
shift 3

for root in /sys/fs/cgroup/pids /sys/fs/cgroup/systemd /sys/fs/cgroup; do
    if [ -e "$root/$cgroup/node/cgroup.procs" ]; then
        echo $$ >"$root/$cgroup/node/cgroup.procs"
        break
    fi
done
read -r holder _ <"$state/pids/holder"
exec nsenter "--net=/run/netns/$netns" "--mount=/proc/$holder/ns/mnt" -- "$@"
