#!/usr/bin/env bash
# sshd.sh DIR: becomes the SSH server of git-server.sh, by DIR/ssh/sshd_config. It runs in a mount
# namespace of its own, in which there is a user `git`; the machine's users are left alone.
set -euo pipefail

dir=$1
if [ -z "${RCO_SSHD_PRIVATE:-}" ]; then
    RCO_SSHD_PRIVATE=1 exec unshare --mount --propagation slave "$0" "$dir"
fi
mount -t tmpfs -o mode=0755 tmpfs /run
mkdir /run/sshd
{
    # Root by another name: the repositories may lie where only root can go. The configuration
    # leaves it nothing but git-ssh.sh.
    echo "git:x:0:0:Git over SSH:/:/bin/sh"
    grep -v '^git:' /etc/passwd
} >"$dir/ssh/passwd"
mount --bind "$dir/ssh/passwd" /etc/passwd
exec /usr/sbin/sshd -D -e -f "$dir/ssh/sshd_config"
