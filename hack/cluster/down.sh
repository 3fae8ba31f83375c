#!/usr/bin/env bash
# Takes a cluster down and leaves nothing of it: processes, pods, mounts, cgroups, network, state.
# RCO_CLUSTER_NAME and RCO_CLUSTER_STATE as for up.sh. Works on a half-made or broken one too.
set -euo pipefail
# shellcheck source=lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
# shellcheck source=lib/node.sh
. "$CLUSTER_DIR/lib/node.sh"
# shellcheck source=lib/namespaces.sh
. "$CLUSTER_DIR/lib/namespaces.sh"

need_root
if [ -d "$STATE" ] && [ -z "${RCO_HAVE_LOCK:-}" ]; then
    exec 7>"$STATE/.lock"
    flock 7
fi
cgroups_kill
# Its mount namespace ends with the last process in it; only then is STATE free.
daemon_stop "$STATE" holder 0
network_down
cgroups_down
rm -rf "$STATE"
