#!/usr/bin/env bash
# holder.sh STATE: lays out the mounts of a node in the namespace it is started in, then sleeps.
#
# Some of the daemons' directories are fixed in their code (/run/containerd, /var/lib/kubelet,
# /var/log/pods). Here these lead into STATE, and the host does not see them.
set -euo pipefail
state=$1
# kubelet offers mount propagation to containers, which needs shared mounts; those of the host are
# followed, and not told of ours.
mount --make-rshared /
mount -t tmpfs -o mode=0755 tmpfs /run
mount --bind "$state/varlog" /var/log
mount -t overlay -o "lowerdir=/var/lib,upperdir=$state/varlib,workdir=$state/varlib-work" \
    overlay /var/lib

# kubelet sets these for the whole machine unless they have the values it wants: it reads them here.
while read -r name value; do
    mkdir -p "$state/sysctl"
    echo "$value" >"$state/sysctl/${name//\//.}"
    mount --bind "$state/sysctl/${name//\//.}" "/proc/sys/$name"
done <<'EOF'
vm/overcommit_memory 1
vm/panic_on_oom 0
kernel/panic 10
kernel/panic_on_oops 1
kernel/keys/root_maxkeys 1000000
kernel/keys/root_maxbytes 25000000
EOF
touch "$state/mounted"
exec sleep infinity
