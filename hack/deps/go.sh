#!/usr/bin/env bash
# Prints the path of a `go` command that can build the cluster tools.
#
# A Go of at least $GO_MIN on PATH is used as it is. Otherwise any older Go, such as the one in
# Debian 12, fetches the toolchain $GO_PINNED as a module (that is how Go distributes its own
# toolchains) and the one from the module cache is used. Debian's Go is installed when there is none.
set -euo pipefail

GO_MIN=1.26.6
GO_PINNED=1.26.8
declare -A GO_SUMS=(
    [amd64]=h1:ZOmGe1OnfREDMIdb1Qi4G9JSuDPBLGExZMQ4nis1RXM=
    [arm64]=h1:sYL/O6MqS68ML0kjsQ36WoYIpJqkw60TxizWUYUKQMc=
)

case "$(uname -m)" in
x86_64) arch=amd64 ;;
aarch64) arch=arm64 ;;
*)
    echo "go.sh: no Go toolchain is known for machine type $(uname -m); put Go >= $GO_MIN on PATH" >&2
    exit 1
    ;;
esac

new_enough() { # VERSION: true when VERSION >= GO_MIN
    [ "$(printf '%s\n%s\n' "$GO_MIN" "$1" | sort -V | head -n 1)" = "$GO_MIN" ]
}

if command -v go >/dev/null; then
    version=$(GOTOOLCHAIN=local go env GOVERSION 2>/dev/null | sed 's/^go//; s/[^0-9.].*//')
    if [ -n "$version" ] && new_enough "$version"; then
        command -v go
        exit 0
    fi
    seed=$(command -v go)
elif [ -x /usr/lib/go/bin/go ]; then
    seed=/usr/lib/go/bin/go
else
    "$(dirname "$0")/install.sh" golang >&2
    seed=/usr/bin/go
fi

module="golang.org/toolchain@v0.0.1-go$GO_PINNED.linux-$arch"
root="$(GOTOOLCHAIN=local "$seed" env GOMODCACHE)/$module"
if ! [ -x "$root/bin/go" ]; then
    echo "go.sh: fetching Go $GO_PINNED as a module" >&2
    # The old Go knows no checksum for toolchains; the sum is compared here instead.
    if ! info=$(cd / && GOTOOLCHAIN=local GOSUMDB=off GOFLAGS='' "$seed" mod download -json "$module"); then
        echo "go.sh: the module proxy does not give $module: $info" >&2
        exit 1
    fi
    sum=$(sed -n 's/.*"Sum": "\(.*\)".*/\1/p' <<<"$info")
    if [ "$sum" != "${GO_SUMS[$arch]}" ]; then
        echo "go.sh: $module has checksum '$sum', expected '${GO_SUMS[$arch]}'" >&2
        exit 1
    fi
    # Modules carry no execute bits.
    find "$root/bin" "$root/pkg/tool" -type f -exec chmod 0755 {} +
fi
echo "$root/bin/go"
