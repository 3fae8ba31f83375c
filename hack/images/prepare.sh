#!/usr/bin/env bash
# prepare.sh OUTDIR [LANGUAGE...]: puts the pre-built programs of the runner images into OUTDIR.
#
#   OUTDIR/pulumi/bin/pulumi
#   OUTDIR/pulumi/bin/pulumi-language-yaml        beside the CLI, where it is looked for first
#   OUTDIR/pulumi/plugins/resource-kubernetes-vV/pulumi-resource-kubernetes
#
# and for the language `python` (target runner-python):
#
#   OUTDIR/python/bin/pulumi-language-python      Pulumi's host of the language, with its executor
#   OUTDIR/python/wheels/*.whl                    the packages of hack/images/python/requirements.txt
#
# The Dockerfile takes OUTDIR=build/images by COPY.
#
# Pulumi writes into its home, beside the plugins too (a cache of their schemas). A runner whose root
# is read-only makes a home of its own: `cp -rs /opt/pulumi/plugins "$PULUMI_HOME/"`, real
# directories with symbolic links to the files. Links to directories are not taken for plugins. The
# CLI is built without cgo: USER must be set, unless the user id is in /etc/passwd.
set -euo pipefail

usage() {
    echo "usage: prepare.sh OUTDIR [python]" >&2
    exit 2
}
[ $# -ge 1 ] || usage
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tools=$here/../cluster/build-tools.sh
out=$1
shift
for language in "$@"; do [ "$language" = python ] || usage; done

place() { # FROM TO: a hard link into the cache where possible, for the binaries are large
    mkdir -p "$(dirname "$2")"
    if [ "$1" -ef "$2" ]; then return 0; fi
    ln -f "$1" "$2" 2>/dev/null || cp -f "$1" "$2"
}

engine() {
    local home=$out/pulumi provider version plugin
    "$tools" engine
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
}

# wheels DIR: downloads them for the image's Python (Debian 12's) and this machine's processor, whatever
# Python this machine has. They are checked against their hashes.
wheels() {
    local dir=$1 lock=$here/python/requirements.txt mark python platform
    local -a platforms=()
    mark=$(sha256sum <"$lock")
    [ "$(cat "$dir.mark" 2>/dev/null)" != "$mark" ] || return 0
    python=$(command -v /usr/bin/python3 python3 | head -n 1) || true
    if ! "${python:-python3}" -m pip --version >/dev/null 2>&1; then
        "$here/../deps/install.sh" python
        python=/usr/bin/python3
    fi
    for platform in manylinux2014 manylinux_2_17 manylinux_2_28 manylinux_2_31 manylinux_2_34; do
        platforms+=(--platform "${platform}_$(uname -m)")
    done
    rm -rf "$dir"
    "$python" -m pip --disable-pip-version-check --quiet download --require-hashes --no-deps \
        --only-binary :all: --implementation cp --python-version 3.11 --abi cp311 --abi abi3 --abi none \
        "${platforms[@]}" --dest "$dir" --requirement "$lock"
    echo "$mark" >"$dir.mark"
}

engine
for language in "$@"; do
    host=$("$tools" --path "pulumi-language-$language")
    place "$host" "$out/$language/bin/pulumi-language-$language"
    place "$(dirname "$host")/pulumi-language-python-exec" "$out/$language/bin/pulumi-language-python-exec"
    wheels "$out/$language/wheels"
done
