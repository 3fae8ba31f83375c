# The image store of the test cluster's builds. Source after common.sh.
# shellcheck shell=bash disable=SC2034

BASE_IMAGE=docker.io/library/debian:bookworm-slim
# Raise it when images.sh makes something else; the mark tells that the store has this one.
BASE_VERSION=bookworm-2
BASE_MARK=localhost/debian-base:$BASE_VERSION

IMAGE_STORE=$RCO_CACHE/buildah

# store_driver: overlay where the kernel can, else vfs, which copies each layer.
store_driver() {
    local driver=$IMAGE_STORE/driver probe
    if ! [ -s "$driver" ]; then
        mkdir -p "$IMAGE_STORE"
        probe=$(mktemp -d "$IMAGE_STORE/probe.XXXXXX")
        mkdir "$probe"/{lower,upper,work,merged}
        if mount -t overlay -o \
            "lowerdir=$probe/lower,upperdir=$probe/upper,workdir=$probe/work" \
            overlay "$probe/merged" 2>/dev/null; then
            umount "$probe/merged"
            echo overlay >"$driver"
        else
            echo vfs >"$driver"
        fi
        rm -rf "$probe"
    fi
    cat "$driver"
}

# In a mount namespace of its own, for a build that fails leaves its layers mounted.
store_buildah() { # VERB ARGUMENTS...
    STORAGE_DRIVER=$(store_driver) BUILDAH_ISOLATION=chroot \
        unshare --mount --propagation private \
        buildah --root "$IMAGE_STORE/root" --runroot "$IMAGE_STORE/run" "$@" 9>&-
}

store_has() { store_buildah inspect --type image "$1" >/dev/null 2>&1; }

# debian_sources: the file that tells apt where this machine's Debian packages come from. Its name differs
# with how the machine was installed.
debian_sources() {
    local file
    for file in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list \
        /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list; do
        if [ -s "$file" ] &&
            grep -qE '^Suites:(.* )?bookworm( |$)|^deb( \[.*\])? [^ ]+ bookworm main' "$file"; then
            echo "$file"
            return 0
        fi
    done
    die "no apt sources for Debian 12 (bookworm) in /etc/apt"
}
