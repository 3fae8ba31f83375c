# What the operator says when it cannot start, and how it ends. It has to be said in one place, with what
# is wrong and what to do, and with an exit code that a supervisor can act on.
# shellcheck shell=bash disable=SC2154,SC2034,SC2030,SC2031,SC2119,SC2120

# try FLAG...: runs the binary to its end (at most 20 s); sets rc and output. Output of a crash is a failure.
try() {
    output=$(timeout 20 "$BINARY" "$@" 2>&1)
    rc=$?
}
good_flags() { # with a kubeconfig of its own
    echo --kubeconfig "${1:-$dir/operator.kubeconfig}" --namespace ${2:-$OPERATOR_NS} --gateway-url https://127.0.0.1:9443 \
        --health-probe-bind-address 0 --metrics-bind-address 0 --gateway-bind-address 127.0.0.1:$startup_port
}
startup_port=$(free_ports 1)

refuses() { # NAME CODE SENTENCE
    if [ "$rc" = "$2" ] && [[ $output == *"$3"* ]]; then ok "$1"; else not_ok "$1" "exit $rc, want $2 with '$3': $(head -c 600 <<<"$output")"; fi
}

usage() {
    local flags
    flags=$(good_flags)
    try --no-such-flag
    refuses 'an unknown flag' 2 'unknown flag "--no-such-flag"'
    contains 'usage follows' 'Usage: runtime-cloud-controller' "$output"
    try nonsense
    refuses 'an argument' 2 'unexpected argument "nonsense"'
    local bad
    for bad in --log-level=loud --log-format=xml --leader-elect=maybe --leader-elect-lease-duration=soon --gateway-bind-address=8443 \
        --metrics-bind-address=:99999 --gateway-url=http://x --gateway-bind-address=0 --kubeconfig= \
        '--leader-elect-lease-duration=10s --leader-elect-renew-deadline=10s' '--leader-elect-retry-period=20s'; do
        # shellcheck disable=SC2086
        try $flags $bad
        refuses "$bad" 2 "${bad%%=*}"
    done
    try --kubeconfig
    refuses 'a flag without its value' 2 '--kubeconfig needs a value'
    try --kubeconfig x --gateway-url https://x
    refuses 'no namespace' 2 'set POD_NAMESPACE or --namespace'
    try --help
    refuses '--help' 0 'Usage:'
    try --version
    refuses '--version' 0 'runtime-cloud-controller 0.1.0'
}

kubeconfig() {
    # shellcheck disable=SC2046
    try $(good_flags "$dir/nowhere")
    refuses 'a kubeconfig that is not there' 1 "$dir/nowhere"
    echo 'clusters: [' >"$dir/broken"
    # shellcheck disable=SC2046
    try $(good_flags "$dir/broken")
    refuses 'one that is not YAML' 1 "$dir/broken"
    echo 'apiVersion: v1' >"$dir/broken"
    # shellcheck disable=SC2046
    try $(good_flags "$dir/broken")
    refuses 'one without a context' 1 context
    # shellcheck disable=SC2046
    try $(good_flags) --context elsewhere
    refuses 'a context that is not in it' 1 elsewhere
    sed "s|$dir/token|$dir/no-token|" "$dir/operator.kubeconfig" >"$dir/broken"
    # shellcheck disable=SC2046
    try $(good_flags "$dir/broken")
    refuses 'a token file that is not there' 1 "$dir/no-token"
    sed "s|certificate-authority: .*}|certificate-authority: $dir/nowhere.crt}}|" "$dir/operator.kubeconfig" >"$dir/broken"
    # shellcheck disable=SC2046
    try $(good_flags "$dir/broken")
    refuses 'a CA that is not there' 1 "$dir/nowhere.crt"
    output=$(env -u KUBECONFIG timeout 20 "$BINARY" --namespace x --gateway-url https://127.0.0.1:9443 2>&1)
    rc=$?
    refuses 'neither a kubeconfig nor a pod' 1 KUBERNETES_SERVICE_HOST
}

config_file() {
    local flags
    flags=$(good_flags)
    echo 'histroyLimit: 3' >"$dir/config.yaml"
    # shellcheck disable=SC2086
    try $flags --config "$dir/config.yaml"
    refuses 'an unknown key is named' 1 histroyLimit
    contains 'and the file' "$dir/config.yaml" "$output"
    printf 'runner:\n  resources:\n    requests: {memory: lots}\n' >"$dir/config.yaml"
    # shellcheck disable=SC2086
    try $flags --config "$dir/config.yaml"
    refuses 'a value that is none' 1 runner.resources.requests.memory
    # shellcheck disable=SC2086
    try $flags --config "$dir/nowhere.yaml"
    refuses 'a file that is not there' 1 "$dir/nowhere.yaml"
}

crd() { echo "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/$1.runtimecloud.io"; }

definitions() {
    operator_alive main && operator_stop main
    local flags tenants
    flags=$(good_flags)
    api GET "$(crd tenants)"
    tenants=$(jq 'del(.metadata.uid, .metadata.resourceVersion, .metadata.creationTimestamp, .metadata.generation, .status)' <<<"$body")
    must DELETE "$(crd tenants)"
    await_gone 'definition gone' "$(crd tenants)"
    # shellcheck disable=SC2086
    try $flags
    refuses 'a missing definition' 1 tenants.runtimecloud.io
    must POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions "$(jq '.spec.versions[0].name = "v1beta7"' <<<"$tenants")"
    await 'established' "$(crd tenants)" 'any(.status.conditions[]?; .type == "Established" and .status == "True")'
    # shellcheck disable=SC2086
    try $flags
    refuses 'a definition of another version' 1 tenants.runtimecloud.io
    contains 'both versions are named' v1alpha1 "$output"
    contains 'also the one that is there' v1beta7 "$output"
    must DELETE "$(crd tenants)"
    await_gone 'definition gone' "$(crd tenants)"
    must POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions "$tenants"
    await 'established' "$(crd tenants)" 'any(.status.conditions[]?; .type == "Established" and .status == "True")'
}

second_installation() {
    # shellcheck disable=SC2046
    try $(good_flags "$dir/operator.kubeconfig" elsewhere)
    refuses 'a second installation' 1 "the operator in namespace $OPERATOR_NS, and this one is in elsewhere"
}

old_server() {
    local port
    port=$(free_ports 1)
    mkdir -p "$dir/old"
    echo '{"major": "1", "minor": "29", "gitVersion": "v1.29.9"}' >"$dir/old/version"
    nghttpd --htdocs "$dir/old" --address 127.0.0.1 "$port" "$dir/cp/pki/apiserver.key" "$dir/cp/pki/apiserver.crt" >/dev/null 2>&1 &
    local server=$!
    helpers=("$server")
    sed "s|server: \"[^\"]*\"|server: \"https://127.0.0.1:$port\"|" "$dir/operator.kubeconfig" >"$dir/old.kubeconfig"
    while port_free "$port"; do sleep 0.05; done
    # shellcheck disable=SC2046
    try $(good_flags "$dir/old.kubeconfig")
    refuses 'an API server older than 1.30' 1 'has version v1.29.9, but 1.30 or newer is needed'
    kill $server
    # Nobody answers: it goes on asking, and is not ready meanwhile.
    operator_alive main && operator_stop main
    own_operators=(lonely)
    operator_launch lonely --kubeconfig "$dir/old.kubeconfig"
    sleep 7
    check 'without an API server it waits' operator_alive lonely
    equal 'it is alive' 200 "$(curl --silent --output /dev/null --write-out '%{http_code}' "http://127.0.0.1:$(cat "$dir/op/lonely/ports")/livez")"
    equal 'and not ready' 503 "$(curl --silent --output /dev/null --write-out '%{http_code}' "http://127.0.0.1:$(cat "$dir/op/lonely/ports")/readyz")"
    contains 'and says why' 'cannot be asked yet' "$(cat "$dir/op/lonely/log")"
    operator_stop lonely
}

# A right that is missing is said, with the right; with it back it goes on by itself.
missing_rights() {
    operator_ensure
    api GET /apis/rbac.authorization.k8s.io/v1/clusterrolebindings/runtime-cloud-operator
    local binding=$body
    [ "$code" = 200 ] || die 'the binding of the operator' "$body"
    must DELETE /apis/rbac.authorization.k8s.io/v1/clusterrolebindings/runtime-cloud-operator
    sleep 0.5
    must POST "$(envs)" "$(object environment)"
    sleep 2
    check 'it goes on running' operator_alive main
    must POST /apis/rbac.authorization.k8s.io/v1/clusterrolebindings "$(jq 'del(.metadata.uid, .metadata.resourceVersion, .metadata.creationTimestamp)' <<<"$binding")"
    await 'it goes on by itself' "$(envs dev)" '.status.conditions[]? | select(.type == "Ready" and .status == "True")'
    contains 'it has said what it lacks' 'cannot' "$(grep 'is forbidden: User' "$dir/op/main/log" | head -1)"
}

scenario 'flags' usage
scenario 'kubeconfig' kubeconfig
scenario 'configuration file' config_file
scenario 'custom resource definitions' definitions
scenario 'a second installation' second_installation
scenario 'an old API server, and none' old_server
scenario 'rights are taken away' missing_rights
