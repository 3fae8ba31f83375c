#!/usr/bin/env bash
# `make demo-down`: takes the demo's cluster away. Caches of built tools and images stay.
set -euo pipefail
cd "$(dirname "$0")/../.."
RCO_CLUSTER_NAME=${RCO_CLUSTER_NAME:-demo} hack/cluster/down.sh
