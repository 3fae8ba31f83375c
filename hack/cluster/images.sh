#!/usr/bin/env bash
# Makes the base image docker.io/library/debian:bookworm-slim out of Debian packages, once, into the
# image store that build-image.sh uses. No registry is asked.
set -euo pipefail
# shellcheck source=lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
# shellcheck source=lib/images.sh
. "$CLUSTER_DIR/lib/images.sh"

need_root
if store_has "$BASE_MARK"; then exit 0; fi
mkdir -p "$RCO_CACHE/images"
exec 9>"$RCO_CACHE/images/.lock"
flock 9
if store_has "$BASE_MARK"; then exit 0; fi

archive=$RCO_CACHE/images/base-$BASE_VERSION.tar
if ! [ -s "$archive" ]; then
    say "making $BASE_IMAGE from packages (about a minute)"
    sources=$(debian_sources)
    include=()
    # The real image has no certificates; they are only there when apt needs them to install any.
    if grep -q https: "$sources"; then include=(--include=ca-certificates); fi
    # Not debootstrap: this one follows apt's own configuration. The exclusions are what `slim` means.
    if ! mmdebstrap --format=tar --variant=minbase "${include[@]}" \
        --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
        --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
        bookworm "$archive.new" "$sources" >"$RCO_CACHE/images/base.log" 2>&1; then
        tail -n 20 "$RCO_CACHE/images/base.log" >&2
        die "mmdebstrap could not make the base system (log: $RCO_CACHE/images/base.log)"
    fi
    mv "$archive.new" "$archive"
fi
container=$(store_buildah from scratch)
store_buildah add --quiet "$container" "$archive" / >/dev/null
store_buildah config --cmd /bin/bash \
    --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
store_buildah commit --quiet --rm "$container" "$BASE_IMAGE" >/dev/null
store_buildah tag "$BASE_IMAGE" "$BASE_MARK"
say "$BASE_IMAGE is ready"
