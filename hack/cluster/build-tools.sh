#!/usr/bin/env bash
# Builds the programs of the test cluster from their Go modules, once for each version.
#
#   build-tools.sh [wire|node|engine|all|languages|NAME...]    (default: all)
#   build-tools.sh --path NAME                       prints where NAME is; builds it if need be
#   build-tools.sh --list                            prints the names
#
#   wire    etcd, kube-apiserver, kubectl
#   node    wire and kubelet, kube-controller-manager, kube-scheduler, kube-proxy, coredns, git-server
#   engine  the Pulumi CLI, its YAML language plugin and the Kubernetes provider
#   languages  Pulumi's hosts of other languages, which `all` leaves out
#
# A program lies in $RCO_CACHE/bin/NAME-VERSION-KEY/NAME, where KEY is a hash of all that goes into
# it (go.mod, go.sum, our sources, linker flags); what is there is never built again. Cold, all of
# it takes about half an hour on two cores. Each module directory below tools/ has its own go.mod,
# since the programs pin different versions of the same libraries.
set -euo pipefail
# shellcheck source=lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"

KUBERNETES_VERSION=1.34.4
PULUMI_KUBERNETES_VERSION=4.25.0
KUBE_FLAGS="-X k8s.io/component-base/version.gitVersion=v$KUBERNETES_VERSION \
-X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=34"

# Cheap ones first among those that a target shares, so that a broken build shows early.
WIRE=(etcd kube-apiserver kubectl)
NODE=("${WIRE[@]}" git-server kubelet kube-controller-manager kube-scheduler kube-proxy coredns)
ENGINE=(pulumi-language-yaml pulumi pulumi-resource-kubernetes)
ALL=("${NODE[@]}" "${ENGINE[@]}" helm)
LANGUAGES=(pulumi-language-python pulumi-language-nodejs)

# describe NAME: sets module (directory below tools/), version, package and flags.
describe() {
    flags=
    case "$1" in
    etcd) module=etcd version=3.6.16 package=go.etcd.io/etcd/server/v3 ;;
    kube-apiserver | kube-controller-manager | kube-scheduler | kube-proxy | kubelet | kubectl)
        module=kubernetes version=$KUBERNETES_VERSION package=k8s.io/kubernetes/cmd/$1
        # Without these the server says v0.0.0 and clients misbehave.
        flags=$KUBE_FLAGS
        ;;
    coredns) module=coredns version=1.15.0 package=github.com/coredns/coredns ;;
    helm)
        module=helm version=3.22.0 package=helm.sh/helm/v3/cmd/helm
        flags="-X helm.sh/helm/v3/internal/version.version=v3.22.0"
        ;;
    pulumi)
        module=pulumi version=3.274.1 package=github.com/pulumi/pulumi/pkg/v3/cmd/pulumi
        flags="-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v3.274.1"
        ;;
    pulumi-language-yaml)
        module=pulumi-language-yaml version=1.25.0
        package=github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml
        ;;
    # Each host is of the last version of Pulumi's SDK module that has it inside; the engine goes on
    # speaking to hosts of that age.
    pulumi-language-python)
        module=pulumi-language-python version=3.75.0
        package=github.com/pulumi/pulumi/sdk/v3/python/cmd/pulumi-language-python
        ;;
    pulumi-language-nodejs)
        module=pulumi-language-nodejs version=3.60.0
        package=github.com/pulumi/pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs
        ;;
    pulumi-resource-kubernetes)
        module=pulumi-resource-kubernetes version=$PULUMI_KUBERNETES_VERSION package=.
        flags="-X main.version=$PULUMI_KUBERNETES_VERSION"
        ;;
    git-server) module=git-server version=1 package=. ;;
    *) die "unknown program '$1' (known: ${ALL[*]} ${LANGUAGES[*]})" ;;
    esac
}

# locate NAME: describe, and sets target (the program's final path).
locate() {
    local key
    describe "$1"
    key=$(cd "$CLUSTER_DIR/tools/$module" &&
        { cat go.mod; cat go.sum 2>/dev/null; cat ./*.go; echo "$package $flags"; } | sha256sum)
    target=$RCO_CACHE/bin/$1-$version-${key:0:8}/$1
}

# prepare_kubernetes_provider DIR: copies the two files its main package embeds from the module.
prepare_kubernetes_provider() {
    local from=github.com/pulumi/pulumi-kubernetes/provider/v4
    from=$(cd "$1" && "$go" mod download "$from" && "$go" list -m -f '{{.Dir}}' "$from")
    from=$from/cmd/pulumi-resource-kubernetes
    sed "0,/{/s//{ \"version\": \"$version\",/" "$from/schema.json" >"$1/schema-embed.json"
    cp "$from/terraform-mapping.json" "$1/terraform-mapping-embed.json"
}

# copy_python_executor DIR: the script by which the Python host runs a program belongs beside it.
copy_python_executor() {
    local from
    from=$("$go" list -m -f '{{.Dir}}' github.com/pulumi/pulumi/sdk/v3)
    install -m 0755 "$from/python/cmd/pulumi-language-python-exec" "$1/"
}

# compile NAME: builds it into a temporary directory beside its place, and renames that.
compile() {
    local name=$1 work out log pid began=$SECONDS next=$((SECONDS + 60))
    out=$(dirname "$target")
    work=$out.tmp
    log=$RCO_CACHE/log/build-$name.log
    rm -rf "$work" "$out"
    mkdir -p "$work/src" "$RCO_CACHE/log"
    # A copy of the module directory: the source tree stays as it is.
    cp "$CLUSTER_DIR/tools/$module"/* "$work/src/"
    (
        set -e
        cd "$work/src"
        export CGO_ENABLED=0 GOFLAGS=-mod=readonly GOTOOLCHAIN=local GOWORK=off
        if [ "$name" = pulumi-resource-kubernetes ]; then prepare_kubernetes_provider .; fi
        # Modules are fetched on the way; once more if the first attempt failed, for networks do.
        set -- nice -n 5 "$go" build -trimpath -ldflags "-s -w $flags" -o "../$name" "$package"
        "$@" || { sleep 5 && "$@"; }
        if [ "$name" = pulumi-language-python ]; then copy_python_executor ..; fi
    ) >"$log" 2>&1 9>&- &
    pid=$!
    while kill -0 "$pid" 2>/dev/null; do
        sleep 0.2
        if [ "$SECONDS" -ge "$next" ]; then
            say "  $name: still building after $((SECONDS - began)) s"
            next=$((SECONDS + 60))
        fi
    done
    if ! wait "$pid"; then
        tail -n 30 "$log" >&2
        die "$name $version did not build (log: $log)"
    fi
    rm -rf "$work/src"
    mv -T "$work" "$out"
}

build() { # NAME...
    local name n=0 began
    local -a todo=()
    for name in "$@"; do
        locate "$name"
        [ -x "$target" ] || todo+=("$name")
    done
    [ ${#todo[@]} -gt 0 ] || return 0

    mkdir -p "$RCO_CACHE/bin"
    exec 9>"$RCO_CACHE/bin/.lock"
    if ! flock -n 9; then
        say "waiting for another build to finish"
        flock 9
    fi
    go=$("$CLUSTER_DIR/../deps/go.sh")
    for name in "${todo[@]}"; do
        n=$((n + 1))
        locate "$name"
        if [ -x "$target" ]; then continue; fi
        began=$SECONDS
        say "[$n/${#todo[@]}] $name $version: building"
        compile "$name"
        say "[$n/${#todo[@]}] $name $version: $((SECONDS - began)) s"
    done
    exec 9>&-
}

case "${1:-all}" in
--list) printf '%s\n' "${ALL[@]}" "${LANGUAGES[@]}" ;;
--path)
    [ $# = 2 ] || die "usage: build-tools.sh --path NAME"
    build "$2" >&2
    locate "$2"
    echo "$target"
    ;;
wire) build "${WIRE[@]}" ;;
node) build "${NODE[@]}" ;;
engine) build "${ENGINE[@]}" ;;
languages) build "${LANGUAGES[@]}" ;;
all) build "${ALL[@]}" ;;
*) build "$@" ;;
esac
