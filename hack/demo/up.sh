#!/usr/bin/env bash
# `make demo`: the main job on a one-node Kubernetes that this script sets up itself, from package registries
# only. Needs root on Debian 12. The first time it builds Kubernetes and Pulumi from their Go modules (about 30
# minutes on two cores); later it starts in under a minute. `make demo-down` takes everything away.
set -euo pipefail
cd "$(dirname "$0")/../.."
export RCO_CLUSTER_NAME=${RCO_CLUSTER_NAME:-demo}
VERSION=${VERSION:-0.1.0}
NAMESPACE=quickstart
began=$SECONDS

step() { printf '\n\033[1m[%3ds] %s\033[0m\n' $((SECONDS - began)) "$*"; }
[ -t 1 ] || step() { printf '\n[%3ds] %s\n' $((SECONDS - began)) "$*"; }
value() { sed -n "s/^$1=//p" <<<"$git_info"; }

[ "$(id -u)" = 0 ] || { echo "make demo must run as root: it makes network namespaces, mounts and cgroups" >&2; exit 1; }

step "Packages, programs, cluster tools"
hack/deps/install.sh build cluster
hack/cluster/build-tools.sh all
make --no-print-directory -j"$(nproc)" programs
hack/images/prepare.sh build/images

step "A one-node Kubernetes"
hack/cluster/up.sh
KUBECONFIG=$(hack/cluster/node.sh info | sed -n "s/^kubeconfig=//p")
export KUBECONFIG

step "Images of the operator, the runner and the demo's web server"
image() { # DOCKERFILE TARGET NAME:TAG
    hack/cluster/load-image.sh "$(hack/cluster/build-image.sh "$@")"
}
built_from=$(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
image Dockerfile controller "runtimecloud.local/runtime-cloud-controller:$VERSION" --build-arg "REVISION=$built_from"
image Dockerfile runner "runtimecloud.local/runtime-cloud-runner:$VERSION" --build-arg "REVISION=$built_from"
image examples/quickstart/web/Dockerfile web runtimecloud.local/demo-web:1

step "A Git server with the example's program"
git_info=$(hack/cluster/git-server.sh up)
commit=$(hack/cluster/git-server.sh repository public/quickstart examples/quickstart/program)
kubectl=$(hack/cluster/build-tools.sh --path kubectl)
helm=$(hack/cluster/build-tools.sh --path helm)
PATH=$PWD/build/bin:$(dirname "$kubectl"):$PATH

step "The operator, by Helm"
"$helm" upgrade --install runtime-cloud-operator charts/runtime-cloud-operator \
    --namespace runtime-cloud --create-namespace --wait --timeout 6m >/dev/null || {
    kubectl -n runtime-cloud get pods -o wide
    kubectl -n runtime-cloud get events --sort-by=.metadata.creationTimestamp | tail -n 20
    exit 1
}
kubectl -n runtime-cloud get deployment runtime-cloud-operator

step "examples/quickstart: an Environment and a DeploymentSpecification"
kubectl apply -f examples/quickstart/namespace.yaml
kubectl -n $NAMESPACE create secret generic git-ca --from-file=ca.crt="$(value ca)" \
    --dry-run=client -o yaml | kubectl apply -f -
# The example with this Git server's address and the commit that was just pushed to it.
kubectl kustomize examples/quickstart |
    sed -e "s|https://git.example.com/demo/quickstart.git//|$(value url)/public/quickstart.git//|" \
        -e "s|https://git.example.com/demo/|$(value url)/public/|" \
        -e "s|\"0000000000000000000000000000000000000000\"|\"$commit\"|" \
        -e "s|0000000000000000000000000000000000000000|$commit|" |
    kubectl apply -f -

step "Plan and apply, by the real Pulumi CLI in two Jobs"
if ! hack/demo/follow.sh $NAMESPACE web; then
    kubectl runtimecloud status web -n $NAMESPACE || true
    exit 1
fi

step "What was deployed answers"
kubectl -n $NAMESPACE rollout status deployment/web --timeout=60s
kubectl -n $NAMESPACE get --raw "/api/v1/namespaces/$NAMESPACE/services/web:http/proxy/"
echo
kubectl -n $NAMESPACE get prun -o wide
kubectl runtimecloud status web -n $NAMESPACE
again=''
[ "$RCO_CLUSTER_NAME" = demo ] || again="RCO_CLUSTER_NAME=$RCO_CLUSTER_NAME "
cat <<EOT

Try next (KUBECONFIG=$KUBECONFIG):
  export KUBECONFIG=$KUBECONFIG PATH=$PWD/build/bin:$(dirname "$kubectl"):\$PATH
  kubectl -n $NAMESPACE patch configmap web --type=merge -p '{"data":{"replicas":"2"}}'   # a new run by itself
  kubectl runtimecloud run list -n $NAMESPACE
  kubectl runtimecloud run watch --spec web -n $NAMESPACE
  kubectl runtimecloud run logs --spec web -n $NAMESPACE
  kubectl -n $NAMESPACE annotate --overwrite depspec web runtimecloud.io/run-now="\$(date +%s)"
  kubectl -n $NAMESPACE delete depspec web          # keeps what was deployed
  docs/first-deployment.md                          # a program of your own, step by step
  ${again}make demo-down
EOT
