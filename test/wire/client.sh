#!/usr/bin/env bash
# The C programs of this folder (client and runtime) against a kube-apiserver of their own.
# Usage: test/wire/client.sh DIR LAYER, with the built programs in DIR.
set -euo pipefail
cd "$(dirname "$0")/../.."
dir=$(mktemp -d)
trap 'hack/cluster/control-plane.sh down "$dir/cp" >/dev/null 2>&1 || true; rm -rf "$dir"' EXIT
hack/cluster/control-plane.sh up "$dir/cp" >"$dir/up.log" 2>&1 || { cat "$dir/up.log" >&2; exit 1; }
export KUBECONFIG=$dir/cp/kubeconfig CONTROL_PLANE=$PWD/hack/cluster/control-plane.sh
export CONTROL_PLANE_DIR=$dir/cp
test/run-unit "$1" "$2"
