#!/usr/bin/env bash
# Shows what a bare Debian 12 machine lacks: runs a command in a clone of this repository's HEAD, in
# a root directory that has nothing but Debian's base system.
#
#   fresh-machine.sh [--warm] COMMAND...     for example: fresh-machine.sh sh -c 'apt-get update &&
#                                            apt-get install -y make git && make test'
#
# --warm copies the built programs of the cluster there, which saves half an hour; without it, all
# caches are empty. The command has mount and process namespaces of its own, this machine's network
# and cgroups, and no environment but HOME and PATH. The directory is removed at the end.
set -euo pipefail
# shellcheck source=lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
# shellcheck source=lib/images.sh
. "$CLUSTER_DIR/lib/images.sh"

need_root
if [ "${1:-}" != --inside ]; then
    warm=
    if [ "${1:-}" = --warm ]; then
        warm=1
        shift
    fi
    [ $# -gt 0 ] || die "usage: fresh-machine.sh [--warm] COMMAND..."
    "$CLUSTER_DIR/../deps/install.sh" cluster
    "$CLUSTER_DIR/images.sh"
    root=$(mktemp -d "$RCO_CACHE/fresh.XXXXXX")
    trap 'rm -rf --one-file-system "$root"' EXIT
    tar -C "$root" -xf "$RCO_CACHE/images/base-$BASE_VERSION.tar"
    git clone -q --no-hardlinks "$CLUSTER_DIR/../.." "$root/src"
    # How this machine finds names, and whom it trusts, is part of its network.
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    mkdir -p "$root/usr/local/share/ca-certificates" "$root/etc/ssl/certs"
    cp -rL /usr/local/share/ca-certificates/. "$root/usr/local/share/ca-certificates/"
    cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
    if [ -n "$warm" ]; then
        mkdir -p "$root/root/.cache/runtime-cloud"
        cp -r "$RCO_CACHE/bin" "$root/root/.cache/runtime-cloud/"
    fi
    # Whatever the command leaves running ends with its process namespace.
    unshare --mount --pid --fork --kill-child --propagation private "$0" --inside "$root" "$@"
    exit
fi

root=$2
shift 2
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/tmp"
mount -t tmpfs -o mode=0755 tmpfs "$root/run"
mkdir "$root/old"
cd "$root"
pivot_root . old
exec env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    sh -c 'umount -l /old && rmdir /old && cd /src && exec "$@"' sh "$@"
