# A kube-apiserver with etcd, the controllers of Kubernetes that the operator relies on (Jobs, garbage
# collection, namespaces), and the chart, without a node.
# shellcheck shell=bash disable=SC2154,SC2034,SC2030,SC2031,SC2119,SC2120

cluster_up() {
    dir=$(mktemp -d)
    : >"$dir/results"
    mkdir -p "$dir/op"
    copy_binary
    trap cluster_down EXIT
    # Kept in the environment: an API server that is started again has them too.
    export RCO_APISERVER_FLAGS="--audit-policy-file=$WIRE/objects/audit.yaml --audit-log-path=$dir/audit.log --audit-log-maxsize=500"
    "$ROOT/hack/cluster/control-plane.sh" up "$dir/cp" >"$dir/log" 2>&1 || {
        cat "$dir/log" >&2
        exit 1
    }
    export KUBECONFIG=$dir/cp/kubeconfig
    url=https://127.0.0.1:$(cat "$dir/cp/port")
    kubectl=$("$ROOT/hack/cluster/build-tools.sh" --path kubectl)
    controllers_up
    install_chart
    operator_credentials
    reserve_ports
    must POST /api/v1/nodes '{"metadata": {"name": "wire"}}'
}

control_plane() { "$ROOT/hack/cluster/control-plane.sh" "$1" "$dir/cp" "${@:2}" >>"$dir/log" 2>&1; }

# The real Job controller, garbage collector, namespace and volume claim controllers: what they do to
# pods, finalizers and owners is not ours to imitate.
controllers_up() {
    local binary
    binary=$("$ROOT/hack/cluster/build-tools.sh" --path kube-controller-manager)
    "$binary" --kubeconfig "$KUBECONFIG" --authentication-kubeconfig "$KUBECONFIG" \
        --authorization-kubeconfig "$KUBECONFIG" --bind-address 127.0.0.1 --secure-port 0 \
        --leader-elect=false --service-account-private-key-file "$dir/cp/pki/sa.key" \
        --kube-api-qps 200 --kube-api-burst 400 \
        --controllers job-controller,garbage-collector-controller,namespace-controller,serviceaccount-controller,persistentvolumeclaim-protection-controller \
        >>"$dir/controllers.log" 2>&1 &
    echo $! >"$dir/controllers.pid"
    disown
}

install_chart() {
    local helm
    helm=$("$ROOT/hack/cluster/build-tools.sh" --path helm)
    "$helm" install runtime-cloud-operator "$ROOT/charts/runtime-cloud-operator" --namespace "$OPERATOR_NS" \
        --create-namespace >"$dir/helm" 2>&1 || {
        cat "$dir/helm" >&2
        exit 1
    }
}

controllers_pid() { cat "$dir/controllers.pid"; }

# Perhaps from another subshell than the one that started them, so there is nothing to wait for.
controllers_down() {
    [ -s "$dir/controllers.pid" ] || return 0
    kill -KILL "$(controllers_pid)"
    while kill -0 "$(controllers_pid)"; do sleep 0.05; done
} 2>/dev/null

cluster_down() {
    local name
    for name in "$dir"/op/*/; do
        name=$(basename "$name")
        operator_alive "$name" && operator_kill "$name"
    done
    controllers_down
    "$ROOT/hack/cluster/control-plane.sh" down "$dir/cp" >/dev/null 2>&1
    if [ -n "${KEEP-}" ]; then echo "kept: $dir"; else rm -rf "$dir"; fi
}

# audit FILTER: the operator's requests that match, one JSON a line. The log is read anew each time.
audit() { jq -c "select(.user.username == \"$OPERATOR_USER\") | select($1)" "$dir/audit.log" 2>/dev/null; }

# refuse_status NAME CEL: until allow_status NAME, the API server refuses status writes of runs of this
# namespace for which CEL holds.
refuse_status() {
    must POST /apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies "$(jq -n --arg n "$1" --arg ns "$ns" --arg cel "!($2)" \
        '{metadata: {name: $n}, spec: {failurePolicy: "Fail",
          matchConstraints: {namespaceSelector: {matchLabels: {"kubernetes.io/metadata.name": $ns}},
            resourceRules: [{apiGroups: ["runtimecloud.io"], apiVersions: ["*"], operations: ["UPDATE"], resources: ["provisioningruns/status"]}]},
          validations: [{expression: $cel, message: "refused by a test", reason: "Forbidden"}]}}')"
    must POST /apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings "$(jq -n --arg n "$1" \
        '{metadata: {name: $n}, spec: {policyName: $n, validationActions: ["Deny"]}}')"
    sleep 1 # until it is in force
}
allow_status() {
    must DELETE "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/$1"
    must DELETE "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/$1"
    sleep 1
}
