#!/usr/bin/env bash
# as-postgres.sh DIR COMMAND...: runs a PostgreSQL program on the data in DIR/data, as the user
# `postgres`. DIR may lie where only root can go: in a mount namespace of its own it appears as
# /var/lib/postgresql, which Debian's package made.
set -euo pipefail

dir=$1
shift
if [ -z "${RCO_POSTGRES_PRIVATE:-}" ]; then
    RCO_POSTGRES_PRIVATE=1 exec unshare --mount --propagation slave "$0" "$dir" "$@"
fi
mount --bind "$dir" /var/lib/postgresql
cd /var/lib/postgresql
exec setpriv --reuid postgres --regid postgres --clear-groups "$@"
