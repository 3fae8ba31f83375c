#!/usr/bin/env bash
# prepare.sh OUTDIR: puts the pre-built programs of the runner image into OUTDIR/pulumi, in the
# layout of a PULUMI_HOME:
#
#   OUTDIR/pulumi/bin/pulumi
#   OUTDIR/pulumi/bin/pulumi-language-yaml        beside the CLI, where it is looked for first
#   OUTDIR/pulumi/plugins/resource-kubernetes-vV/pulumi-resource-kubernetes
#
# The Dockerfile takes it as a build context (`--build-context pulumi=OUTDIR/pulumi`) or by COPY.
#
# Pulumi writes into its home, beside the plugins too (a cache of their schemas). A runner whose root
# is read-only makes a home of its own: `cp -rs /opt/pulumi/plugins "$PULUMI_HOME/"`, real
# directories with symbolic links to the files. Links to directories are not taken for plugins. The
# CLI is built without cgo: USER must be set, unless the user id is in /etc/passwd.
set -euo pipefail

[ $# = 1 ] || {
    echo "usage: prepare.sh OUTDIR" >&2
    exit 2
}
tools=$(dirname "${BASH_SOURCE[0]}")/../cluster/build-tools.sh
"$tools" engine
home=$1/pulumi

place() { # FROM TO: a hard link into the cache where possible, for the binaries are large
    mkdir -p "$(dirname "$2")"
    if [ "$1" -ef "$2" ]; then return 0; fi
    ln -f "$1" "$2" 2>/dev/null || cp -f "$1" "$2"
}

provider=$("$tools" --path pulumi-resource-kubernetes)
version=$(basename "$(dirname "$provider")")
version=${version#pulumi-resource-kubernetes-}
version=${version%-*}
plugin=$home/plugins/resource-kubernetes-v$version
# One version of the provider in the image: programs that name another must fail, not find it here.
find "$home/plugins" -mindepth 1 -maxdepth 1 ! -path "$plugin" -exec rm -rf {} + 2>/dev/null || true
place "$("$tools" --path pulumi)" "$home/bin/pulumi"
place "$("$tools" --path pulumi-language-yaml)" "$home/bin/pulumi-language-yaml"
place "$provider" "$plugin/pulumi-resource-kubernetes"
