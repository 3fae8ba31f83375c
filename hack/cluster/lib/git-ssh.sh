#!/usr/bin/env bash
# git-ssh.sh ROOT: all that a login by SSH can do. Serves Git's two commands for the repositories
# below ROOT/public and ROOT/private.
set -euo pipefail

root=$1
if ! [[ ${SSH_ORIGINAL_COMMAND:-} =~ ^git-(upload|receive)-pack\ \'/?((public|private)/[A-Za-z0-9._/-]+)\'$ ]] ||
    [[ ${BASH_REMATCH[2]} == *..* ]]; then
    echo "only git fetch and push to public/... and private/... are served" >&2
    exit 1
fi
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
exec "git-${BASH_REMATCH[1]}-pack" "$root/${BASH_REMATCH[2]}"
