#!/usr/bin/env bash
# Builds one target of a Dockerfile as it is, without a registry, into an archive to load.
#
#   build-image.sh DOCKERFILE TARGET NAME:TAG [BUILDAH-OPTION...]
#
# The context is the Dockerfile's directory; RCO_IMAGE_CONTEXT names another. Options go to
# `buildah build`, for example --build-context pulumi=DIR or --build-arg VERSION=1. Layers are
# cached, and an image that came out the same is not written again. Prints the archive's path, which
# load-image.sh takes.
set -euo pipefail
# shellcheck source=lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
# shellcheck source=lib/images.sh
. "$CLUSTER_DIR/lib/images.sh"

[ $# -ge 3 ] || die "usage: build-image.sh DOCKERFILE TARGET NAME:TAG [BUILDAH-OPTION...]"
dockerfile=$(realpath "$1") target=$2 image=$3
shift 3
need_root
"$CLUSTER_DIR/../deps/install.sh" cluster >&2
"$CLUSTER_DIR/images.sh" >&2

began=$SECONDS
log=$RCO_CACHE/log/image-$target.log
mkdir -p "$RCO_CACHE/log" "$RCO_CACHE/images"
exec 9>"$RCO_CACHE/images/.lock"
flock 9
# Those of builds that were interrupted; under the lock there are no others.
store_buildah rm --all >/dev/null 2>&1 || true
if ! store_buildah build --isolation chroot --pull-never --layers --format docker \
    --file "$dockerfile" --target "$target" --tag "$image" "$@" \
    "${RCO_IMAGE_CONTEXT:-$(dirname "$dockerfile")}" >"$log" 2>&1; then
    store_buildah rm --all >/dev/null 2>&1 || true
    tail -n 40 "$log" >&2
    die "target $target of $dockerfile did not build (log: $log)"
fi

name=${image//[\/:]/_}
id=$(store_buildah inspect --type image --format '{{.FromImageID}}' "$image")
archive=$RCO_CACHE/images/$name-${id:0:12}.tar
if ! [ -s "$archive" ]; then
    rm -f "$RCO_CACHE/images/$name"-*.tar
    store_buildah push --quiet "$image" "docker-archive:$archive.new:$image" >&2
    mv "$archive.new" "$archive"
fi
say "$image ready after $((SECONDS - began)) s" >&2
echo "$archive"
