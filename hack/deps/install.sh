#!/usr/bin/env bash
# Installs the Debian 12 packages that a stage of the build needs.
#
#   hack/deps/install.sh [build|cluster|test|bench|python|golang]...      (default: build)
#
#   build    compilers and libraries: `make`, `make test-unit`, `make test-sim`
#   cluster  what hack/cluster needs beyond its own Go programs: `make demo`, `make test-e2e`
#   test     what the test targets need beyond `build`
#   bench    what counts instructions for `make bench`
#   python   pip, which fetches the packages of the image runner-python
#   golang   Debian's Go, only good for fetching a newer one (see go.sh)
#
# Does nothing, in well under a second, when everything is there. No service is started: the cluster
# scripts run containerd, PostgreSQL and the rest themselves, with directories of their own.
set -euo pipefail

BUILD=(
    build-essential clang clang-format libclang-rt-14-dev llvm-14 pkg-config git ca-certificates
    libuv1-dev libcurl4-openssl-dev libwebsockets-dev libwebsockets-evlib-uv libhttp-parser-dev
    libjson-c-dev libyaml-dev libssl-dev libcmocka-dev
)
CLUSTER=(
    containerd runc containernetworking-plugins umoci buildah mmdebstrap
    iproute2 nftables conntrack procps util-linux gcc libc6-dev
    git openssl curl jq ca-certificates openssh-client openssh-server postgresql
)
TEST=(
    clang-tidy curl jq lua5.1 nghttp2-server openssh-server openssl procps python3 shellcheck spin
)
BENCH=(valgrind)
PYTHON=(python3 python3-pip)
GOLANG=(golang-go ca-certificates git)

declare -A wanted=()
[ $# -gt 0 ] || set -- build
for stage in "$@"; do
    case "$stage" in
    build) list=("${BUILD[@]}") ;;
    cluster) list=("${CLUSTER[@]}") ;;
    test) list=("${TEST[@]}") ;;
    bench) list=("${BENCH[@]}") ;;
    python) list=("${PYTHON[@]}") ;;
    golang) list=("${GOLANG[@]}") ;;
    *)
        echo "install.sh: unknown stage '$stage' (build, cluster, test, bench, python, golang)" >&2
        exit 2
        ;;
    esac
    for package in "${list[@]}"; do wanted[$package]=1; done
done

missing() { # prints those of the wanted packages that are not installed
    local installed package
    installed=$(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' "${!wanted[@]}" 2>/dev/null |
        sed -n 's/^ii *//p' || true)
    for package in "${!wanted[@]}"; do
        grep -qxF "$package" <<<"$installed" || echo "$package"
    done | sort
}

mapfile -t todo < <(missing)
[ ${#todo[@]} -gt 0 ] || exit 0

if ! command -v apt-get >/dev/null; then
    echo "install.sh: this machine has no apt-get; install by hand what matches: ${todo[*]}" >&2
    exit 1
fi
sudo=
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "install.sh: not root and no sudo; run as root: apt-get install ${todo[*]}" >&2
        exit 1
    fi
    sudo=sudo
fi

# Packages start their services unless a policy says no. A policy that is there already is kept.
policy=/usr/sbin/policy-rc.d
if ! [ -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' | $sudo tee "$policy" >/dev/null
    $sudo chmod 0755 "$policy"
    trap '$sudo rm -f "$policy"' EXIT
fi

log=$(mktemp)
apt() { $sudo env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=600 "$@" >"$log" 2>&1; }

echo "install.sh: installing ${todo[*]}"
# The lists are only fetched when apt cannot do without: they are empty or name packages that are gone.
if ! apt install -y --no-install-recommends "${todo[@]}"; then
    echo "install.sh: refreshing apt's package lists"
    if ! apt update || ! apt install -y --no-install-recommends "${todo[@]}"; then
        tail -n 30 "$log" >&2
        echo "install.sh: apt could not install: ${todo[*]} (full output: $log)" >&2
        exit 1
    fi
fi
rm -f "$log"
mapfile -t todo < <(missing)
if [ ${#todo[@]} -gt 0 ]; then
    echo "install.sh: still missing after installation: ${todo[*]}" >&2
    exit 1
fi
