# The image of every pod's first container. Source after common.sh.
# shellcheck shell=bash

PAUSE_IMAGE=localhost/pause:1

# pause_archive: prints the path of the image as a tar of an OCI layout; makes it if need be.
pause_archive() {
    local source=$CLUSTER_DIR/pause/pause.c key archive
    key=$(sha256sum <"$source")
    archive=$RCO_CACHE/images/pause-1-${key:0:8}.tar
    if ! [ -s "$archive" ]; then pause_build "$source" "$archive"; fi
    echo "$archive"
}

pause_build() { # SOURCE ARCHIVE
    local work image
    mkdir -p "$(dirname "$2")"
    work=$(mktemp -d "$RCO_CACHE/images/.pause.XXXXXX")
    gcc -std=gnu17 -Os -static -s -Wall -Wextra -o "$work/pause" "$1"
    {
        umoci init --layout "$work/layout"
        # umoci takes a tag without colons or slashes; the name is set as an annotation below.
        image=$work/layout:pause
        umoci new --image "$image"
        umoci insert --image "$image" "$work/pause" /pause
        umoci config --image "$image" --config.entrypoint /pause --config.user 65535:65535
    } >&2
    jq --arg name "$PAUSE_IMAGE" \
        '.manifests[0].annotations["io.containerd.image.name"] = $name' \
        "$work/layout/index.json" >"$work/index.json"
    mv "$work/index.json" "$work/layout/index.json"
    tar -C "$work/layout" -cf "$work/pause.tar" .
    mv "$work/pause.tar" "$2"
    rm -rf "$work"
}
