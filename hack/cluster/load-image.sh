#!/usr/bin/env bash
# load-image.sh ARCHIVE...: gives images (docker-archive or OCI tar files) to the cluster's
# containerd. Pods use them with imagePullPolicy Never or IfNotPresent. RCO_CLUSTER_NAME as for up.sh.
set -euo pipefail
# shellcheck source=lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
for part in node daemons; do
    # shellcheck source=/dev/null
    . "$CLUSTER_DIR/lib/$part.sh"
done

[ $# -gt 0 ] || die "usage: load-image.sh ARCHIVE..."
need_root
need_node
for archive in "$@"; do
    node_ctr images import "$(realpath "$archive")" >/dev/null ||
        die "containerd does not take $archive"
    say "loaded $(basename "$archive")"
done
