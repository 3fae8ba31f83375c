#!/usr/bin/env bash
# The chart on a real kube-apiserver, installed by Helm: what its ValidatingAdmissionPolicies refuse
# and admit, to whom, and with which sentence; what its roles allow and what they do not.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

server_up
helm=$("$ROOT/hack/cluster/build-tools.sh" --path helm)
"$helm" install runtime-cloud-operator "$ROOT/charts/runtime-cloud-operator" --namespace runtime-cloud \
    --create-namespace >"$dir/helm" 2>&1 || {
    cat "$dir/helm" >&2
    exit 1
}
for ns in shop sealed; do "$kubectl" create namespace $ns >/dev/null; done
"$kubectl" label namespace sealed runtimecloud.io/sealed=true >/dev/null

# People: each has one role of the chart in both namespaces; root-alike has only Kubernetes' own
# admin rights on our kinds, without the verbs that the policies ask for.
bind() { # USER CLUSTERROLE
    local ns
    for ns in shop sealed; do
        "$kubectl" -n $ns create rolebinding "$1" --clusterrole="$2" --user="$1" >/dev/null
    done
}
bind vera runtime-cloud-viewer
bind edda runtime-cloud-editor
bind april runtime-cloud-approver
bind emma runtime-cloud-environment-admin
"$kubectl" create clusterrolebinding paula --clusterrole=runtime-cloud-platform-admin --user=paula >/dev/null
"$kubectl" create clusterrole plain --verb=get,list,create,update,patch,delete \
    --resource=environments.runtimecloud.io,provisioningruns.runtimecloud.io,tenants.runtimecloud.io,namespaces,pods,jobs.batch >/dev/null
"$kubectl" create clusterrole plain-more --verb=create,update,patch \
    --resource=namespaces/status,namespaces/finalize,pods/exec,pods/attach,pods/portforward,pods/ephemeralcontainers,serviceaccounts/token >/dev/null
for role in plain plain-more; do
    "$kubectl" create clusterrolebinding $role --clusterrole=$role --user=oscar --user=system:serviceaccount:kube-system:generic-garbage-collector >/dev/null
done
"$kubectl" create clusterrolebinding nodes --clusterrole=plain-more --group=system:nodes >/dev/null
OPERATOR=system:serviceaccount:runtime-cloud:runtime-cloud-operator
COLLECTOR=system:serviceaccount:kube-system:generic-garbage-collector

object() { cat "$ROOT/test/chart/objects/$1.json"; }
envs=$GROUP/namespaces/shop/environments
runs=$GROUP/namespaces/shop/provisioningruns

# Policies take a moment to come into force.
wait_for_policy() { # NAME METHOD PATH BODY
    local n
    for ((n = 0; n < 150; n++)); do
        as=oscar api "$2" "$3" "$4"
        if [ "$code" = 403 ] || [ "$code" = 422 ]; then return 0; fi
        sleep 0.2
    done
    not_ok "policy $1 comes into force" "$code $body"
    results_end chart-policies
    exit 1
}
label() { jq -n --arg k "$1" --arg v "$2" '{metadata: {labels: {($k): $v}}}'; }
wait_for_policy environments POST "$envs?dryRun=All" "$(object environment)"
wait_for_policy operator-owned POST "$runs?dryRun=All" "$(object run)"
wait_for_policy namespaces PATCH '/api/v1/namespaces/shop?dryRun=All' "$(label runtimecloud.io/tenant acme)"
token() { jq -n --argjson a "$1" '{apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {audiences: $a}}'; }
"$kubectl" -n sealed create serviceaccount default >/dev/null
"$kubectl" -n shop create serviceaccount default >/dev/null
wait_for_policy sealed-tokens POST '/api/v1/namespaces/sealed/serviceaccounts/default/token' "$(token '["runtime-cloud-gateway"]')"

# call NAME AS METHOD PATH [BODY] -- then: admitted, or denied SENTENCE
call() {
    name="$2: $1"
    as=$2 api "${@:3}"
}
admitted() { accepted "$name"; }
denied() { refused "$name" "$1" 403; }

# --- environments: govern -----------------------------------------------------------------------
govern='needs the verb govern on environments in namespace shop'
call 'make an Environment' oscar POST "$envs" "$(object environment)"
denied "making an Environment $govern, which oscar does not have"
call 'make an Environment' edda POST "$envs" "$(object environment)"
denied 'cannot create resource "environments"'
call 'make an Environment' emma POST "$envs" "$(object environment)"
admitted
for change in class='"staging"' backend='{"url":"s3://b"}' 'runner={"image":"evil"}' 'git={"allowedRepositories":["https://evil.example.com/"]}' \
    'allowedSecrets=["a*"]' 'region="us-east-1"'; do
    body_of_change=$(jq -n --arg k "${change%%=*}" --argjson v "${change#*=}" '{spec: {($k): $v}}')
    call "change ${change%%=*}" oscar PATCH "$envs/dev?dryRun=All" "$body_of_change"
    denied "changing the spec of an Environment $govern"
    call "change ${change%%=*}" emma PATCH "$envs/dev?dryRun=All" "$body_of_change"
    admitted
done
call 'label an Environment' oscar PATCH "$envs/dev" "$(label team shop)"
admitted
call 'set a finalizer' $OPERATOR PATCH "$envs/dev" '{"metadata":{"finalizers":["runtimecloud.io/environment"]}}'
admitted
call 'change an Environment' $OPERATOR PATCH "$envs/dev?dryRun=All" '{"spec":{"class":"staging"}}'
denied "changing the spec of an Environment $govern"
"$kubectl" create role by-name -n shop --verb=govern --resource=environments.runtimecloud.io --resource-name=dev >/dev/null 2>&1
"$kubectl" create rolebinding by-name -n shop --role=by-name --user=oscar >/dev/null
sleep 0.5
call 'change the one Environment he governs' oscar PATCH "$envs/dev?dryRun=All" '{"spec":{"class":"staging"}}'
admitted
call 'make another Environment' oscar POST "$envs?dryRun=All" "$(object environment | jq '.metadata.name = "dev2"')"
denied "making an Environment $govern"

# --- runs: the operator's -----------------------------------------------------------------------
call 'make a run' oscar POST "$runs" "$(object run)"
denied 'a ProvisioningRun is made by the operator alone; to run a DeploymentSpecification again, annotate it with runtimecloud.io/run-now'
call 'make a run' $OPERATOR POST "$runs" "$(object run | jq '.metadata.ownerReferences = [{apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "u"}]')"
admitted
run=$runs/web-1a2b3-v1-b1
cancel() { jq -n --arg by "$1" '{spec: {cancel: {by: $by, reason: "wrong commit"}}}'; }
call 'cancel without the verb' oscar PATCH "$run?dryRun=All" "$(cancel oscar)"
denied 'cancelling a run needs the verb cancel on provisioningruns in namespace shop, which oscar does not have'
call 'cancel in her name' edda PATCH "$run?dryRun=All" "$(cancel edda)"
admitted
call 'cancel in her name' april PATCH "$run?dryRun=All" "$(cancel april)"
admitted
call 'cancel in the name of another' edda PATCH "$run?dryRun=All" "$(cancel april)"
denied 'spec.cancel.by must be your own user name, edda'
call 'cancel' vera PATCH "$run?dryRun=All" "$(cancel vera)"
denied 'cannot patch resource "provisioningruns"'
call 'change the snapshot' edda PATCH "$run?dryRun=All" '{"spec":{"snapshot":{"image":"evil"}}}'
refused "$name" 'snapshot is immutable' 422
call 'label a run' edda PATCH "$run?dryRun=All" "$(label team shop)"
admitted
labels='the labels runtimecloud.io/* and app.kubernetes.io/managed-by of a run are the operator'
for change in '{"runtimecloud.io/specification":"other"}' '{"runtimecloud.io/specification":null}' '{"runtimecloud.io/tenant":"other"}' \
    '{"app.kubernetes.io/managed-by":"me"}' '{"app.kubernetes.io/managed-by":null}'; do
    call "labels $change" edda PATCH "$run?dryRun=All" "{\"metadata\":{\"labels\":$change}}"
    denied "$labels"
done
call 'all labels away' edda PATCH "$run?dryRun=All" '{"metadata":{"labels":null}}'
denied "$labels"
call 'finalizer away' edda PATCH "$run?dryRun=All" '{"metadata":{"finalizers":null}}'
denied 'the finalizer runtimecloud.io/run of a run is the operator'
call 'a finalizer of ours more' edda PATCH "$run?dryRun=All" '{"metadata":{"finalizers":["runtimecloud.io/run","runtimecloud.io/x"]}}'
denied 'the finalizer runtimecloud.io/run of a run is the operator'
call 'a finalizer of her own' edda PATCH "$run?dryRun=All" '{"metadata":{"finalizers":["runtimecloud.io/run","example.com/x"]}}'
admitted
call 'owners away' edda PATCH "$run?dryRun=All" '{"metadata":{"ownerReferences":null}}'
denied 'the ownerReferences of a run must not be changed'
call 'owners away' $COLLECTOR PATCH "$run?dryRun=All" '{"metadata":{"ownerReferences":null}}'
admitted
call 'finalizer of the run away' $COLLECTOR PATCH "$run?dryRun=All" '{"metadata":{"finalizers":null}}'
denied 'the finalizer runtimecloud.io/run of a run is the operator'
call 'labels and finalizer away' $OPERATOR PATCH "$run?dryRun=All" '{"metadata":{"labels":null,"finalizers":null}}'
admitted
call 'write the status' $OPERATOR PATCH "$run/status?dryRun=All" '{"status":{"state":"Pending"}}'
admitted
for person in vera edda april emma; do
    call 'write the status' $person PATCH "$run/status?dryRun=All" '{"status":{"state":"Pending"}}'
    denied 'cannot patch resource "provisioningruns/status"'
done

# --- namespaces: whose they are -----------------------------------------------------------------
tenancy='needs the verb govern on tenants, which oscar does not have'
namespace() { jq -n --arg n "$1" --argjson l "$2" '{apiVersion: "v1", kind: "Namespace", metadata: {name: $n, labels: $l}}'; }
call 'make a namespace' oscar POST '/api/v1/namespaces?dryRun=All' "$(namespace other '{"team":"shop"}')"
admitted
call 'make a namespace of a tenant' oscar POST '/api/v1/namespaces?dryRun=All' "$(namespace other '{"runtimecloud.io/tenant":"acme"}')"
denied "$tenancy"
call 'make a sealed namespace' oscar POST '/api/v1/namespaces?dryRun=All' "$(namespace other '{"runtimecloud.io/sealed":"true"}')"
denied "$tenancy"
call 'make a namespace of a tenant' paula POST '/api/v1/namespaces?dryRun=All' "$(namespace other '{"runtimecloud.io/tenant":"acme"}')"
admitted
call 'give a namespace to a tenant' oscar PATCH '/api/v1/namespaces/shop?dryRun=All' "$(label runtimecloud.io/tenant acme)"
denied "$tenancy"
call 'an empty tenant' oscar PATCH '/api/v1/namespaces/shop?dryRun=All' "$(label runtimecloud.io/tenant '')"
denied "$tenancy"
call 'unseal a namespace' oscar PATCH '/api/v1/namespaces/sealed?dryRun=All' '{"metadata":{"labels":{"runtimecloud.io/sealed":null}}}'
denied "$tenancy"
call 'another label' oscar PATCH '/api/v1/namespaces/sealed?dryRun=All' "$(label team shop)"
admitted
call 'by the status' oscar PATCH '/api/v1/namespaces/shop/status?dryRun=All' "$(label runtimecloud.io/tenant acme)"
denied "$tenancy"
call 'by finalize' oscar PUT '/api/v1/namespaces/shop/finalize?dryRun=All' "$("$kubectl" get namespace shop -o json | jq '.metadata.labels["runtimecloud.io/tenant"] = "acme"')"
denied "$tenancy"
call 'give a namespace to a tenant' paula PATCH '/api/v1/namespaces/shop?dryRun=All' "$(label runtimecloud.io/tenant acme)"
admitted

# --- sealed namespaces --------------------------------------------------------------------------
pod() { jq -n --arg n "$1" --arg ns "$2" '{apiVersion: "v1", kind: "Pod", metadata: {name: $n, namespace: $ns}, spec: {serviceAccountName: "default", automountServiceAccountToken: false, containers: [{name: "engine", image: "x"}]}}'; }
for ns in sealed shop; do
    for pod in rco-0123456789ab-a-x1 web; do
        call "make pod $ns/$pod" '' POST "/api/v1/namespaces/$ns/pods" "$(pod $pod $ns)" # by who may do everything
        admitted
    done
done
runner='is a runner of a sealed namespace: exec, attach, port-forward and ephemeral containers are refused'
for verb in exec attach portforward; do
    call $verb oscar POST "/api/v1/namespaces/sealed/pods/rco-0123456789ab-a-x1/$verb?command=id&container=engine"
    denied "$runner"
    # Not the runner's pod, or not sealed: the request goes on and fails for want of a node.
    for other in sealed/pods/web shop/pods/rco-0123456789ab-a-x1; do
        call "$verb $other" oscar POST "/api/v1/namespaces/$other/$verb?command=id&container=engine"
        if [ "$code" != 403 ]; then ok; else not_ok "$name" "$body"; fi
    done
done
debug='{"spec":{"ephemeralContainers":[{"name":"d","image":"x"}]}}'
call 'an ephemeral container' oscar PATCH '/api/v1/namespaces/sealed/pods/rco-0123456789ab-a-x1/ephemeralcontainers?dryRun=All' "$debug"
denied "$runner"
call 'an ephemeral container elsewhere' oscar PATCH '/api/v1/namespaces/sealed/pods/web/ephemeralcontainers?dryRun=All' "$debug"
admitted
only='only a kubelet obtains tokens of the audience runtime-cloud-gateway'
sealed_token=/api/v1/namespaces/sealed/serviceaccounts/default/token
call 'a token for the gateway' oscar POST $sealed_token "$(token '["runtime-cloud-gateway"]')"
denied "$only"
call 'a token for the gateway and more' oscar POST $sealed_token "$(token '["x","runtime-cloud-gateway"]')"
denied "$only"
call 'another token' oscar POST $sealed_token "$(token '["x"]')"
admitted
call 'a token for the gateway, not sealed' oscar POST /api/v1/namespaces/shop/serviceaccounts/default/token "$(token '["runtime-cloud-gateway"]')"
admitted
groups=system:nodes call 'a token for a pod of its own' some-kubelet POST $sealed_token "$(token '["runtime-cloud-gateway"]')"
admitted

# The objects of a run: by name, label or owner, whoever asks.
sealed_objects='of a run (name rco-..., labels runtimecloud.io/...) in sealed namespace sealed are written by the operator alone'
job() { jq -n --argjson meta "$1" '{apiVersion: "batch/v1", kind: "Job", metadata: $meta, spec: {suspend: true, template: {spec: {restartPolicy: "Never", containers: [{name: "x", image: "x"}]}}}}'; }
labelled='{"name":"mine","labels":{"runtimecloud.io/run-uid":"7c2e9a41-5b0d-4000-8000-000000000001"}}'
batch=/apis/batch/v1/namespaces
for meta in '{"name":"rco-0123456789ab-p"}' "$labelled" '{"name":"mine","labels":{"app.kubernetes.io/managed-by":"runtime-cloud"}}' \
    '{"generateName":"rco-"}' '{"name":"mine","ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"rco-x-p","uid":"1"}]}'; do
    call "a Job with $meta" oscar POST "$batch/sealed/jobs?dryRun=All" "$(job "$meta")"
    denied "jobs $sealed_objects"
    call "a Job with $meta, not sealed" oscar POST "$batch/shop/jobs?dryRun=All" "$(job "$meta")"
    admitted
done
call 'a Job of another kind' oscar POST "$batch/sealed/jobs" "$(job '{"name":"mine","labels":{"app.kubernetes.io/managed-by":"Helm"}}')"
admitted
call 'make a Job one of a run' oscar PATCH "$batch/sealed/jobs/mine" "$(label runtimecloud.io/run-uid x)"
denied "jobs $sealed_objects"
call 'a pod with our label' oscar PATCH '/api/v1/namespaces/sealed/pods/web' "$(label runtimecloud.io/run-uid x)"
denied "pods $sealed_objects"
call 'force a runner away' oscar DELETE '/api/v1/namespaces/sealed/pods/rco-0123456789ab-a-x1?gracePeriodSeconds=0'
denied "pods $sealed_objects"
call 'take the finalizer of a runner' oscar PATCH '/api/v1/namespaces/sealed/pods/rco-0123456789ab-a-x1' '{"metadata":{"finalizers":[]}}'
denied "pods $sealed_objects"
call 'and another sentence says what to do' oscar DELETE '/api/v1/namespaces/sealed/pods/rco-0123456789ab-a-x1'
denied 'the verb govern on environments is needed, which oscar does not have'
# A right to govern environments is one to repair: it says what these pods run anyway.
"$kubectl" -n sealed create rolebinding emma-too --clusterrole=plain --user=emma >/dev/null
call 'repair by hand' emma PATCH '/api/v1/namespaces/sealed/pods/rco-0123456789ab-a-x1?dryRun=All' "$(label repaired yes)"
admitted
# The cluster itself goes on: Job controller, scheduler, kubelets, garbage.
"$kubectl" create clusterrolebinding plain-cluster --clusterrole=plain --user=system:serviceaccount:kube-system:job-controller \
    --user=system:kube-scheduler --group=system:nodes >/dev/null
groups=system:serviceaccounts:kube-system call 'the Job controller' system:serviceaccount:kube-system:job-controller POST '/api/v1/namespaces/sealed/pods?dryRun=All' "$(pod rco-0123456789ab-p-x2 sealed)"
admitted
call 'the scheduler' system:kube-scheduler PATCH '/api/v1/namespaces/sealed/pods/rco-0123456789ab-a-x1?dryRun=All' "$(label a b)"
admitted
call 'the operator' "$OPERATOR" PATCH '/api/v1/namespaces/sealed/pods/rco-0123456789ab-a-x1?dryRun=All' '{"metadata":{"finalizers":[]}}'
admitted
lease='{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"rco-claim-1"},"spec":{}}'
"$kubectl" create clusterrole leases --verb=create --resource=leases.coordination.k8s.io >/dev/null
"$kubectl" create clusterrolebinding leases --clusterrole=leases --user=oscar >/dev/null
call 'a claim' oscar POST '/apis/coordination.k8s.io/v1/namespaces/sealed/leases?dryRun=All' "$lease"
denied "leases $sealed_objects"
call 'a Lease of another' oscar POST '/apis/coordination.k8s.io/v1/namespaces/sealed/leases?dryRun=All' "${lease/rco-claim-1/mine}"
admitted

# --- what the roles allow -----------------------------------------------------------------------
# can USER VERB RESOURCE[.GROUP][/SUBRESOURCE] NAMESPACE [NAME]: yes or no, as the API server says.
can() {
    local resource=${3%%/*} sub='' group=''
    [[ $3 != */* ]] || sub=${3#*/}
    [[ $resource != *.* ]] || { group=${resource#*.} resource=${resource%%.*}; }
    as='' api POST /apis/authorization.k8s.io/v1/subjectaccessreviews "$(jq -n --arg u "$1" --arg v "$2" --arg r "$resource" \
        --arg g "$group" --arg s "$sub" --arg ns "$4" --arg n "${5-}" \
        '{apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", spec: {user: $u, groups: ["system:authenticated"],
          resourceAttributes: {verb: $v, resource: $r, group: $g, subresource: $s, namespace: $ns, name: $n}}}')"
    jq -r 'if .status.allowed then "yes" else "no" end' <<<"$body"
}
expect() { # WANT USER VERBS RESOURCE NAMESPACE [NAME]
    local verb got
    for verb in ${3//,/ }; do
        got=$(can "$2" "$verb" "${@:4}")
        if [ "$got" = "$1" ]; then ok; else not_ok "may $2 $verb $4 ${6-} in ${5:-the cluster}?" "want $1, got $got"; fi
    done
}
all=get,list,watch,create,update,patch,delete,deletecollection
expect yes $OPERATOR create secrets shop
expect no $OPERATOR get,list,watch,update,patch,delete,deletecollection secrets shop
expect no $OPERATOR get,list,watch,update,patch,delete secrets runtime-cloud
expect yes $OPERATOR get,list,watch,update,patch,create secrets runtime-cloud runtime-cloud-gateway-tls
expect no $OPERATOR delete secrets runtime-cloud runtime-cloud-gateway-tls
expect no $OPERATOR get secrets shop runtime-cloud-gateway-tls
expect yes $OPERATOR get,list,watch,create,patch,delete configmaps shop
expect no $OPERATOR update,deletecollection configmaps shop
expect yes $OPERATOR get,list,watch,create,delete jobs.batch shop
expect no $OPERATOR update,patch,deletecollection jobs.batch shop
expect yes $OPERATOR get,list,watch,patch pods shop
expect no $OPERATOR create,update,delete,deletecollection pods shop
expect no $OPERATOR get,create pods/exec shop
expect no $OPERATOR get pods/log shop
expect yes $OPERATOR get,list,watch,create persistentvolumeclaims shop
expect no $OPERATOR update,patch,delete persistentvolumeclaims shop
expect yes $OPERATOR get,list,watch,create,update,patch,delete leases.coordination.k8s.io runtime-cloud
expect no $OPERATOR $all leases.coordination.k8s.io shop
expect yes $OPERATOR create tokenreviews.authentication.k8s.io ''
expect no $OPERATOR create serviceaccounts/token shop
expect yes $OPERATOR create,patch events.events.k8s.io shop
expect yes $OPERATOR get,list,watch namespaces ''
expect no $OPERATOR create,update,patch,delete namespaces ''
expect no $OPERATOR impersonate users ''
expect no $OPERATOR bind,escalate clusterroles.rbac.authorization.k8s.io ''
expect yes $OPERATOR get,list,watch,patch deploymentspecifications.runtimecloud.io shop
expect no $OPERATOR create,update,delete deploymentspecifications.runtimecloud.io shop
expect yes $OPERATOR get,list,watch,create,patch,delete provisioningruns.runtimecloud.io shop
expect yes $OPERATOR patch provisioningruns.runtimecloud.io/status shop
expect no $OPERATOR approve,cancel provisioningruns.runtimecloud.io shop
expect no $OPERATOR create,delete,govern environments.runtimecloud.io shop
expect no $OPERATOR create,update,patch,delete,govern tenants.runtimecloud.io ''
expect yes $OPERATOR list,watch validatingadmissionpolicies.admissionregistration.k8s.io ''
expect no $OPERATOR create,update,patch,delete validatingadmissionpolicies.admissionregistration.k8s.io ''
expect no $OPERATOR get customresourcedefinitions.apiextensions.k8s.io '' other.example.com
expect yes $OPERATOR get customresourcedefinitions.apiextensions.k8s.io '' provisioningruns.runtimecloud.io
for person in vera edda april emma; do
    expect yes $person get,list,watch provisioningruns.runtimecloud.io shop
    expect yes $person get configmaps shop
    expect no $person get,list secrets shop
    expect no $person create,delete provisioningruns.runtimecloud.io/status shop
    expect no $person govern tenants.runtimecloud.io ''
done
expect no vera create,update,patch,delete deploymentspecifications.runtimecloud.io shop
expect no vera approve,cancel,update,patch provisioningruns.runtimecloud.io shop
expect yes edda create,update,patch,delete deploymentspecifications.runtimecloud.io shop
expect yes edda cancel provisioningruns.runtimecloud.io shop
expect no edda approve,create,delete provisioningruns.runtimecloud.io shop
expect no edda create,patch,govern environments.runtimecloud.io shop
expect yes april approve,cancel provisioningruns.runtimecloud.io shop
expect no april create,patch deploymentspecifications.runtimecloud.io shop
expect yes emma create,patch,delete,govern environments.runtimecloud.io shop
expect no emma approve provisioningruns.runtimecloud.io shop
expect no emma create,patch,govern environments.runtimecloud.io default
expect yes paula create,patch,govern tenants.runtimecloud.io ''
expect no paula approve provisioningruns.runtimecloud.io shop

# --- the life of a release ----------------------------------------------------------------------
# Refused for all: there is one installation in a cluster.
if "$helm" install other "$ROOT/charts/runtime-cloud-operator" --namespace elsewhere --create-namespace >"$dir/helm" 2>&1; then
    not_ok 'a second installation is refused'
elif grep -q 'invalid ownership metadata' "$dir/helm"; then ok; else
    not_ok 'a second installation is refused for its owner' "$(cat "$dir/helm")"
fi
release() { # VERB ARGUMENT...
    if "$helm" "$1" runtime-cloud-operator "${@:2}" --namespace runtime-cloud >"$dir/helm" 2>&1; then ok; else
        not_ok "helm $*" "$(cat "$dir/helm")"
    fi
}
release upgrade "$ROOT/charts/runtime-cloud-operator" --set replicaCount=1
as='' api GET "$envs/dev"
accepted 'the Environment is there after an upgrade'
release uninstall
as='' api GET "$envs/dev"
accepted 'definitions and objects are kept when the release is uninstalled'
release install "$ROOT/charts/runtime-cloud-operator"
as='' api GET "$envs/dev"
accepted 'the Environment is there after installing again'

results_end chart-policies
