# What the chart's tests share: counting, and talking to a real API server by curl. Source it.
# shellcheck shell=bash disable=SC2034

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=../lib/results.sh
. "$ROOT/test/lib/results.sh"
cd "$ROOT" || exit

ok() { result ok; }
not_ok() { result fail "$1" "${2-}"; } # NAME DETAIL

# server_up: a kube-apiserver of our own in $dir until the script ends; sets url and kubeconfig.
server_up() {
    dir=$(mktemp -d)
    trap server_down EXIT
    "$ROOT/hack/cluster/control-plane.sh" up "$dir/cp" >"$dir/log" 2>&1 || {
        cat "$dir/log" >&2
        exit 1
    }
    export KUBECONFIG=$dir/cp/kubeconfig
    url=https://127.0.0.1:$(cat "$dir/cp/port")
    kubectl=$("$ROOT/hack/cluster/build-tools.sh" --path kubectl)
}

server_down() {
    "$ROOT/hack/cluster/control-plane.sh" down "$dir/cp" >/dev/null 2>&1 || true
    rm -rf "$dir"
}

# api METHOD PATH [BODY]: prints the answer's body; sets code (in the file $dir/code, for subshells).
# The variable as holds a user name to impersonate, groups its groups.
api() {
    local -a args=(--silent --cacert "$dir/cp/pki/ca.crt" --cert "$dir/cp/pki/admin.crt"
        --key "$dir/cp/pki/admin.key" --request "$1" --write-out '\n%{http_code}')
    local group type=application/json
    [ "$1" != PATCH ] || type=application/merge-patch+json
    args+=(--header "Content-Type: $type")
    if [ -n "${as-}" ]; then
        args+=(--header "Impersonate-User: $as" --header 'Impersonate-Group: system:authenticated')
        for group in ${groups-}; do args+=(--header "Impersonate-Group: $group"); done
    fi
    [ $# -lt 3 ] || args+=(--data-binary @-)
    local answer
    answer=$(curl "${args[@]}" "$url$2" <<<"${3-}")
    code=${answer##*$'\n'}
    body=${answer%$'\n'*}
}

# accepted NAME: the last answer was a success.
accepted() {
    case $code in
    2*) ok ;;
    *) not_ok "$1: should be accepted" "$code $(jq -r '.message // .' <<<"$body")" ;;
    esac
}

# refused NAME SENTENCE [CODE]: the last answer was a refusal that contains SENTENCE.
refused() {
    local message
    message=$(jq -r '.message // empty' <<<"$body")
    case $code in
    4*)
        if [ "${3:-$code}" = "$code" ] && grep -qF -- "$2" <<<"$message"; then ok; else
            not_ok "$1: refused with another sentence than: $2" "$code $message"
        fi
        ;;
    *) not_ok "$1: should be refused with: $2" "$code $message" ;;
    esac
}

GROUP=/apis/runtimecloud.io/v1alpha1
declare -A PLURAL=([Environment]=environments [DeploymentSpecification]=deploymentspecifications
    [ProvisioningRun]=provisioningruns [Tenant]=tenants)

# collection OBJECT: the path its kind's objects are made at.
collection() {
    local kind ns
    kind=$(jq -r .kind <<<"$1")
    ns=$(jq -r '.metadata.namespace // empty' <<<"$1")
    echo "$GROUP${ns:+/namespaces/$ns}/${PLURAL[$kind]}"
}

# try_create OBJECT: asks the server whether it would take it; nothing is stored.
try_create() { api POST "$(collection "$1")?dryRun=All&fieldValidation=Strict" "$1"; }
