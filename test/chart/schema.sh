#!/usr/bin/env bash
# The definitions of crds/ on a real kube-apiserver: established; whole objects accepted; every bad
# object refused with the sentence that tells its author what to do; immutable fields; the edges of
# a run's state, every pair of states.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

server_up
"$kubectl" apply --server-side -f "$ROOT/crds" >/dev/null
for crd in "$ROOT"/crds/*.yaml; do
    if "$kubectl" wait --for=condition=Established --timeout=30s -f "$crd" >/dev/null 2>"$dir/err"; then ok; else
        not_ok "$(basename "$crd") is established" "$(cat "$dir/err")"
    fi
done
"$kubectl" create namespace shop >/dev/null
until api GET "$GROUP/provisioningruns" && [ "$code" = 200 ]; do sleep 0.2; done

object() { cat "$ROOT/test/chart/objects/$1.json"; }
good() { # NAME FILTER: the object is accepted
    try_create "$(object "$1" | jq "$2")"
    accepted "$1 | $2"
}
bad() { # NAME FILTER SENTENCE: the object is refused with the sentence
    try_create "$(object "$1" | jq "$2")"
    refused "$1 | $2" "$3" 422
}
unknown() { # NAME FILTER SENTENCE: refused since the field is not known
    try_create "$(object "$1" | jq "$2")"
    refused "$1 | $2" "$3" 400
}
long() { printf '%*s' "$1" '' | tr ' ' a; }

# --- accepted ---------------------------------------------------------------------------------
for name in environment production specification tenant run; do good $name .; done
good environment '.spec |= {tenantId, projectId, class}'
good environment '.spec.class = "staging" | del(.spec.runner, .spec.git)'
good environment '.spec.allowedSecrets = []'
good environment '.spec.backend = {claimName: "old-state", passphraseSecretRef: {name: "rco-dev-pass-1"}}'
for backend in s3://bucket/prefix gs://bucket azblob://container https://api.example.com 'postgres://db.example.com/pulumi?sslmode=require&table=state'; do
    good environment ".spec.backend = {url: \"$backend\"}"
done
good production '.spec.backend |= (del(.passphraseSecretRef) | .secretsProvider = "awskms://alias/state?region=eu-west-1")'
good specification '.spec |= {tenantId, projectId, environmentId, kind, programRef, programVersion}'
good specification '.spec.programRef = "ssh://git@git.example.com:2222/team/infra.git//web"'
good specification '.spec.programRef = "https://git.example.com:8443/infra//."'
good specification '.spec.programVersion = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"'
good specification ".metadata.name = \"$(long 40)\""
good tenant '.spec.residency.regions = ["*"]'
good tenant '.spec.residency.regions = []'
good run ".metadata.name = \"$(long 63)\""
good run '.spec.snapshot.backend = {url: "postgres://db/pulumi", secretsProvider: "passphrase", credentialsSecretName: "db"}'

# What a user copies.
"$kubectl" create namespace quickstart >/dev/null
if "$kubectl" apply --dry-run=server -k "$ROOT/examples/quickstart" >"$dir/out" 2>&1; then ok; else
    not_ok 'examples/quickstart is accepted' "$(cat "$dir/out")"
fi

# --- Environment ------------------------------------------------------------------------------
bad environment ".metadata.name = \"$(long 41)\"" "an Environment's name must be at most 40 characters"
bad environment '.metadata.name = "dev.eu"' "must consist of lower-case letters, digits and '-'"
bad environment 'del(.spec)' 'spec: Required value'
bad environment 'del(.spec.tenantId)' 'spec.tenantId: Required value'
bad environment '.spec.projectId = "Shop"' 'spec.projectId'
bad environment '.spec.class = "test"' 'supported values: "development", "staging", "production"'
bad environment 'del(.spec.class)' 'class production (the default) needs backend.url'
bad environment '.spec.class = "production"' 'class production (the default) needs backend.passphraseSecretRef'
bad production 'del(.spec.backend.passphraseSecretRef)' 'a generated passphrase is for development and staging only'
bad production 'del(.spec.backend.url, .spec.backend.credentialsSecretRef)' 'the state goes to a PersistentVolumeClaim'
bad environment '.spec.backend = {url: "file:///state"}' 'a file:// URL would point into the runner'
bad environment '.spec.backend = {url: "file://~"}' 'leave url out to keep the state on a PersistentVolumeClaim'
bad environment '.spec.backend = {url: "http://state.example.com"}' 'must begin with s3://, gs://, azblob://, postgres:// or https://'
bad environment '.spec.backend = {url: "S3://bucket"}' 'must begin with s3://'
bad environment '.spec.backend = {url: "postgres://user:secret@db.example.com/pulumi"}' 'must not carry a user name or password'
bad environment '.spec.backend = {url: "postgres:///pulumi"}' 'must name host and database'
bad environment '.spec.backend = {url: "postgres://db.example.com"}' 'must name host and database'
bad environment '.spec.backend = {url: "postgres://db.example.com/pulumi?sslmode=require&host=other"}' 'one state store has one name'
bad environment '.spec.backend = {url: "postgres://user@db.example.com/pulumi"}' 'its keys PGUSER and PGPASSWORD'
bad environment '.spec.backend = {url: "postgres://db.example.com/pulumi?sslmode=require&password=x"}' 'must not carry credentials in its query'
bad environment '.spec.backend = {url: "s3://bucket?AccessKey=x"}' 'must not carry credentials in its query'
bad environment '.spec.backend = {url: "s3://buck et"}' 'must not contain spaces or control characters'
bad environment '.spec.backend = {url: "s3://b", claimName: "c"}' 'url and claimName exclude each other'
bad environment '.spec.backend = {credentialsSecretRef: {name: "c"}}' 'credentialsSecretRef needs url'
bad environment '.spec.backend = {secretsProvider: "vault"}' 'must be passphrase, or a URL that begins with awskms://'
bad environment '.spec.backend = {secretsProvider: "hashivault://k@h"}' 'carries no credentials'
bad environment '.spec.backend = {secretsProvider: "gcpkms://k", passphraseSecretRef: {name: "p"}}' 'passphraseSecretRef is for secretsProvider passphrase only'
bad environment '.spec.backend = {url: "s3://b", credentialsSecretRef: {name: "rco-dev-pass-1"}}' 'belong to the operator and cannot be referenced'
bad environment 'del(.spec.runner.applyServiceAccountName)' 'clusterAccess ServiceAccount needs applyServiceAccountName'
bad environment '.spec.runner.clusterAccess = "Admin"' 'supported values: "None", "ServiceAccount"'
bad environment '.spec.runner.timeout = "30s"' 'must be between 1m and 24h'
bad environment '.spec.runner.timeout = "25h"' 'must be between 1m and 24h'
bad environment '.spec.runner.timeout = "1 hour"' 'spec.runner.timeout'
bad environment '.spec.runner.timeout = "90"' 'spec.runner.timeout'
bad environment '.spec.runner.terminationGracePeriod = "2m59s"' 'must be between 3m and 2h'
bad environment '.spec.runner.resources.limits."ephemeral-storage" = "1Gi"' 'a limit of ephemeral-storage would evict an apply in its middle'
bad environment '.spec.runner.resources.requests.gpu = "1"' 'keys must be cpu, memory or ephemeral-storage'
bad environment '.spec.runner.resources.requests.cpu = "lots"' 'values must be quantities'
bad environment '.spec.runner.resources.requests.cpu = 1' 'must be of type string'
bad environment '.spec.runner.pod.labels."azure.workload.identity/use" = "true"' 'labels of workload identity are not available in this version'
bad environment '.spec.runner.pod.labels."runtimecloud.io/run" = "x"' 'are set by the operator and by Kubernetes'
bad environment '.spec.runner.pod.labels."job-name" = "x"' 'are set by the operator and by Kubernetes'
bad environment '.spec.runner.pod.annotations."iam.amazonaws.com/role" = "admin"' 'annotations of workload identity and secret injection are not available'
bad environment '.spec.runner.pod.annotations."vault.hashicorp.com/agent-inject" = "true"' 'annotations of workload identity and secret injection are not available'
bad environment '.spec.runner.pod.env = [{name: "PULUMI_ACCESS_TOKEN", value: "x"}]' 'names that begin with PULUMI_, LD_ or GIT_ are set by the runner'
bad environment '.spec.runner.pod.env = [{name: "LD_PRELOAD", value: "x"}]' 'are set by the runner'
bad environment '.spec.runner.pod.env = [{name: "A-B", value: "x"}]' 'spec.runner.pod.env[0].name'
bad environment '.spec.runner.pod.env = [{name: "A", value: "1"}, {name: "A", value: "2"}]' 'Duplicate value'
bad environment '.spec.runner.pod.proxy.httpsProxy = "http://user:pw@proxy:3128"' 'spec.runner.pod.proxy.httpsProxy'
bad environment '.spec.runner.pod.pluginMirror = "http://mirror"' 'spec.runner.pod.pluginMirror'
bad environment 'del(.spec.git.allowedRepositories)' 'credentialsSecretRef needs allowedRepositories'
bad environment '.spec.git.allowedRepositories = []' 'the credentials are sent to repositories of that list only'
bad environment '.spec.git.allowedRepositories = ["git@git.example.com:team"]' 'write ssh://git@host/path in place of git@host:path'
bad environment '.spec.git.allowedRepositories = ["http://git.example.com/"]' 'must begin with https:// or ssh:// and a host'
bad environment '.spec.git.allowedRepositories = ["https://me:pw@git.example.com/"]' 'carry no password'
bad environment '.spec.git.allowedRepositories = ["https://git.example.com/a/../b"]' "must not contain '.' or '..' as a path segment"
bad environment '.spec.git.allowedRepositories = ["https://git.example.com/%2e%2e"]' "must not contain spaces, '?', '#', '%' or a backslash"
bad environment '.spec.git.requireSignedCommits = true' 'requireSignedCommits is not available in this version'
bad environment '.spec.git.caSecretRef.name = "rco-x"' 'belong to the operator and cannot be referenced'
bad environment '.spec.allowedSecrets = ["*"]' 'must be the name of a Secret, or a prefix of at least one character'
bad environment '.spec.allowedSecrets = ["a*b"]' 'must be the name of a Secret, or a prefix'
bad environment '.spec.allowedSecrets = ["rco-*"]' 'belong to the operator and are always refused'
bad environment '.spec.approval = {ttl: "24h"}' 'approval is not available in this version'
bad environment '.spec.policy = {allow: [{name: "all"}]}' 'policy is not available in this version'
bad environment '.spec.policyPacks = ["p"]' 'policyPacks is not available in this version'
bad environment '.spec.maintenanceWindows = ["w"]' 'maintenanceWindows is not available in this version'
bad environment '.spec.protectFromDestroy = true' 'protectFromDestroy is not available in this version'
bad environment '.spec.deletionPolicy = "Destroy"' 'deletionPolicy Destroy is not available in this version'
bad environment '.spec.retention = {appliedVersions: 5}' 'retention is not available in this version'
bad environment '.spec.drift = {interval: "1h"}' 'drift is not available in this version'
bad environment '.spec.inventory = {}' 'inventory is not available in this version'
unknown environment '.spec.backends = {}' 'unknown field "spec.backends"'

# --- DeploymentSpecification ------------------------------------------------------------------
bad specification ".metadata.name = \"$(long 41)\"" "a DeploymentSpecification's name must be at most 40 characters"
bad specification '.metadata.name = "web.eu"' "must consist of lower-case letters, digits and '-'"
bad specification '.spec.kind = "Job"' 'supported values: "Environment", "Workload"'
bad specification '.spec.programVersion = "main"' 'must be a full commit id of 40 or 64 lower-case hex digits, not a branch, a tag or a short id'
bad specification '.spec.programVersion = "0123456"' 'not a branch, a tag or a short id'
bad specification '.spec.programVersion = "0123456789ABCDEF0123456789ABCDEF01234567"' 'lower-case hex digits'
bad specification '.spec.programVersion = "0123456789abcdef0123456789abcdef01234567\n"' 'must be a full commit id'
bad specification '.spec.programVersion = 1234567890123456789012345678901234567890' 'must be of type string'
bad specification '.spec.programRef = "http://git.example.com/infra.git//web"' 'a repository URL that begins with https:// or ssh://'
bad specification '.spec.programRef = "git@git.example.com:team/infra.git//web"' 'write ssh://git@host/path in place of git@host:path'
bad specification '.spec.programRef = "file:///srv/infra.git//web"' 'a repository URL that begins with https:// or ssh://'
bad specification '.spec.programRef = "ext::sh -c id//web"' 'a repository URL that begins with https:// or ssh://'
bad specification '.spec.programRef = "https://user:pw@git.example.com/infra.git//web"' 'must not carry a user name or password'
bad specification '.spec.programRef = "https://token@git.example.com/infra.git//web"' 'must not carry a user name or password'
bad specification '.spec.programRef = "ssh://git:pw@git.example.com/infra.git//web"' 'must not carry a user name or password'
bad specification '.spec.programRef = "ssh://-oProxyCommand=id/infra.git//web"' 'must name a host after the scheme'
bad specification '.spec.programRef = "ssh://-l@git.example.com/infra.git//web"' 'must name a host after the scheme'
bad specification '.spec.programRef = "https:///infra.git//web"' 'must name a host after the scheme'
bad specification '.spec.programRef = "https://git.example.com/infra.git"' 'must have exactly one // between the repository and the path'
bad specification '.spec.programRef = "https://git.example.com/infra.git//"' 'the root of the repository is written //.'
bad specification '.spec.programRef = "https://git.example.com//web"' 'must have exactly one //'
bad specification '.spec.programRef = "https://git.example.com/infra.git//a//b"' 'must have exactly one //'
bad specification '.spec.programRef = "https://git.example.com/infra.git///etc"' 'the path after // must be relative to the root of the repository'
bad specification '.spec.programRef = "https://git.example.com/infra.git//../other"' "must not contain '..': the path must stay in the repository"
bad specification '.spec.programRef = "https://git.example.com/infra.git//a/.."' "must not contain '..'"
bad specification '.spec.programRef = "https://git.example.com/infra.git//a b"' "must not contain spaces"
bad specification '.spec.programRef = "https://git.example.com/infra.git//a?ref=main"' "must not contain spaces, control characters, '?'"
bad specification '.spec.programRef = "https://git.example.com/infra.git//%2e%2e"' "must not contain spaces, control characters, '?'"
bad specification '.spec.programRef = "https://git.example.com/infra.git//a\nb"' "must not contain spaces, control characters"
bad specification '.spec.releaseId = "v1.2.3"' 'spec.releaseId'
bad specification '.spec.stackName = "org/web"' 'spec.stackName'
bad specification '.spec.stackName = "-x"' 'spec.stackName'
bad specification '.spec.strategy = "Targeted"' 'strategy Targeted is not available in this version'
bad specification '.spec.targets = ["urn"]' 'targets is not available in this version'
bad specification '.spec.guard = "Counts"' 'guard Counts and None are not available in this version'
bad specification '.spec.guard = "None"' 'guard Counts and None are not available in this version'
bad specification '.spec.deletionPolicy = "Destroy"' 'deletionPolicy Destroy is not available in this version; use Retain'
bad specification '.spec.outputsSecretName = "out"' 'outputsSecretName is not available in this version'
bad specification '.spec.declaredBy = "me"' 'declaredBy is not available in this version'
bad specification '.spec.promotion = {promotionId: "x"}' 'promotion is not available in this version'
bad specification '.spec.dependsOn = [{name: "db"}]' 'dependsOn is not available in this version'
bad specification '.spec.retry = {maxAttempts: 3}' 'retry is not available in this version'
bad specification '.spec.orphan = {reason: "x"}' 'orphan is not available in this version'
bad specification '.spec.forceUnlock = {holder: "x"}' 'forceUnlock is not available in this version'
bad specification '.spec.configRefs[0].key = "-f"' 'spec.configRefs[0].key'
bad specification '.spec.configRefs[1].key = "replicas"' 'Duplicate value'
bad specification 'del(.spec.configRefs[0].configMapKeyRef)' 'configMapKeyRef is required'
bad specification '.spec.configRefs[0] |= (del(.configMapKeyRef) | .http = {server: "s"})' 'http is not available in this version; use configMapKeyRef'
unknown specification '.spec.configRefs[0].value = "5"' 'unknown field "spec.configRefs[0].value"'
bad specification '.spec.secretRefs[0].env = "X"' 'exactly one of key (a Pulumi configuration key) and env'
bad specification 'del(.spec.secretRefs[0].key)' 'exactly one of key (a Pulumi configuration key) and env'
bad specification 'del(.spec.secretRefs[0].secretKeyRef)' 'secretKeyRef is required'
bad specification '.spec.secretRefs[0] |= (del(.secretKeyRef) | .vault = {path: "p"})' 'vault is not available in this version; use secretKeyRef'
bad specification '.spec.secretRefs[0].secretKeyRef.name = "rco-dev-pass-1"' 'belong to the operator and cannot be referenced'
bad specification '.spec.secretRefs[1].env = "PULUMI_CONFIG_PASSPHRASE"' 'are set by the runner'
bad specification '.spec.secretRefs[1].env = "GIT_SSH_COMMAND"' 'are set by the runner'
bad specification '.spec.secretRefs += [.spec.secretRefs[0]]' 'a key must not appear twice'
bad specification '.spec.secretRefs += [.spec.secretRefs[1]]' 'an env must not appear twice'
unknown specification '.spec.secretRefs[0].value = "hunter2"' 'unknown field "spec.secretRefs[0].value"'
bad specification '.spec.exportOutputs = [range(65) | "o\(.)"]' 'spec.exportOutputs'
bad specification '.spec.waitPolicy = "Wait"' 'supported values: "DoNotBlock", "Block"'

# --- Tenant, ProvisioningRun ------------------------------------------------------------------
bad tenant ".metadata.name = \"$(long 41)\"" "a Tenant's name must be at most 40 characters"
bad tenant '.spec.residency.regions = ["*", "eu"]' 'regions must not mix'
bad tenant 'del(.spec.edition)' 'spec.edition: Required value'
bad run ".metadata.name = \"$(long 64)\"" "a ProvisioningRun's name must be at most 63 characters"
bad run 'del(.spec.snapshot)' 'spec.snapshot: Required value'
bad run 'del(.spec.environmentClass)' 'spec.environmentClass: Required value'
bad run '.spec.specificationId = "other"' 'specificationId must equal specificationRef.uid'
bad run '.spec.approval = {verdict: "Approve"}' 'approvals are not available in this version'
bad run '.spec.snapshot.backend.url = "s3://b"' 'exactly one of url and claimName must be given'
bad run '.spec.snapshot.program.commit = "0123456789abcdef0123456789abcdef0123456789"' 'spec.snapshot.program.commit'

# --- immutable fields -------------------------------------------------------------------------
for name in environment specification run; do
    api POST "$(collection "$(object $name)")" "$(object $name)"
    accepted "create $name"
done
patch() { # NAME PATCH
    local path
    path=$(collection "$(object "$1")")/$(object "$1" | jq -r .metadata.name)
    api PATCH "$path?dryRun=All" "$2"
}
changed() { patch "$1" "$2" && refused "$1 patched with $2" "$3" 422; }
unchanged() { patch "$1" "$2" && accepted "$1 patched with $2"; }

changed environment '{"spec":{"tenantId":"other"}}' 'tenantId is immutable'
changed environment '{"spec":{"projectId":"other"}}' 'projectId is immutable'
unchanged environment '{"spec":{"class":"staging"}}'
changed specification '{"spec":{"tenantId":"other"}}' 'tenantId is immutable'
changed specification '{"spec":{"projectId":"other"}}' 'projectId is immutable'
changed specification '{"spec":{"environmentId":"other"}}' 'environmentId is immutable'
changed specification '{"spec":{"kind":"Environment"}}' 'kind is immutable'
changed specification '{"spec":{"stackName":"other"}}' 'stackName is immutable (its default is <projectId>-<name>)'
unchanged specification '{"spec":{"stackName":"shop-web"}}'
unchanged specification '{"spec":{"programVersion":"ffffffffffffffffffffffffffffffffffffffff","suspend":true}}'
changed run '{"spec":{"kind":"Destroy"}}' 'is immutable except for cancel; a re-run is a new ProvisioningRun'
changed run '{"spec":{"environmentClass":"staging"}}' 'is immutable except for cancel'
changed run '{"spec":{"specificationVersion":2}}' 'is immutable except for cancel'
changed run '{"spec":{"snapshot":{"image":"evil"}}}' 'snapshot is immutable'
changed run '{"spec":{"snapshot":{"git":null}}}' 'snapshot is immutable'
changed run '{"spec":{"snapshot":{"secrets":[]}}}' 'snapshot is immutable'
run=$(collection "$(object run)")/web-1a2b3-v1-b1
api PATCH "$run" '{"spec":{"cancel":{"by":"me","reason":"wrong commit"}}}'
accepted 'cancel a run'
changed run '{"spec":{"cancel":null}}' 'cancel is immutable once set'
changed run '{"spec":{"cancel":{"by":"you"}}}' 'cancel is immutable once set'

# --- status -----------------------------------------------------------------------------------
for name in environment specification run; do
    patch $name '{}'
    if [ "$(jq .status.observedGeneration <<<"$body")" = -1 ]; then ok; else
        not_ok "$name: status.observedGeneration is -1 before anyone wrote it" "$body"
    fi
done

plan=$(object plan-receipt)
hash=$(jq -r .planDigest <<<"$plan")
apply=$(jq -n --arg hash "$hash" '{result: "Succeeded", duration: "1m2s", adds: 2, outputs: {url: "https://example.com"}, stateDigest: $hash, runnerVersion: "0.1.0"}')
STATES=(Pending Planning Planned AwaitingApproval Applying Applied Failed Rejected Cancelled)
EDGES=" Pending>Planning Pending>Failed Pending>Cancelled Planning>Planned Planning>Failed Planning>Cancelled
Planned>AwaitingApproval Planned>Applying Planned>Cancelled AwaitingApproval>Applying AwaitingApproval>Rejected
Applying>Applied Applying>Failed "
EDGES=${EDGES//$'\n'/ }
# A way from nothing to each state.
declare -A WAY=([Pending]=Pending [Planning]='Pending Planning' [Planned]='Pending Planning Planned'
    [AwaitingApproval]='Pending Planning Planned AwaitingApproval' [Applying]='Pending Planning Planned Applying'
    [Applied]='Pending Planning Planned Applying Applied' [Failed]='Pending Planning Failed'
    [Rejected]='Pending Planning Planned AwaitingApproval Rejected' [Cancelled]='Pending Cancelled')

# status_for STATE: a status patch that brings all that the state needs.
status_for() {
    case $1 in
    Planned | AwaitingApproval | Applying | Rejected) jq -n --arg s "$1" --argjson plan "$plan" '{status: {state: $s, planReceipt: $plan}}' ;;
    Applied) jq -n --argjson plan "$plan" --argjson apply "$apply" '{status: {state: "Applied", planReceipt: $plan, applyReceipt: $apply}}' ;;
    *) jq -n --arg s "$1" '{status: {state: $s}}' ;;
    esac
}
runs=$GROUP/namespaces/shop/provisioningruns
# make_run NAME STATE [FILTER]: a run in that state, reached edge by edge.
make_run() {
    local state
    api POST "$runs" "$(object run | jq --arg n "$1" ".metadata.name = \$n | ${3:-.}")"
    accepted "create run $1"
    for state in ${WAY[$2]}; do
        api PATCH "$runs/$1/status" "$(status_for "$state")"
        accepted "run $1 reaches $state on its way to $2"
    done
}
to() { api PATCH "$runs/$1/status?dryRun=All" "$2"; }

api POST "$runs" "$(object run | jq '.metadata.name = "new"')"
for state in "${STATES[@]}"; do
    to new "$(status_for "$state")"
    if [ "$state" = Pending ]; then accepted "new to $state"; else
        refused "new to $state" 'the first state of a run must be Pending' 422
    fi
done
for from in "${STATES[@]}"; do
    name=from-${from,,}
    make_run "$name" "$from"
    for state in "${STATES[@]}"; do
        to "$name" "$(status_for "$state")"
        if [ "$from" = "$state" ] || [[ $EDGES = *" $from>$state "* ]]; then
            accepted "$from to $state"
        else
            refused "$from to $state" "this change of state is not one of a run's edges" 422
        fi
    done
    to "$name" '{"status":{"state":null}}'
    refused "$from removed" 'state must not be removed' 422
    to "$name" '{"status":null}'
    refused "status removed from $from" 'must not be removed' 422
    to "$name" '{"status":{"state":"Done"}}'
    refused "$from to an unknown state" 'Unsupported value: "Done"' 422
done

for state in Planned AwaitingApproval Applying Rejected; do
    from=${WAY[$state]}
    from=${from% *}
    from=from-$(tr '[:upper:]' '[:lower:]' <<<"${from##* }")
    to "$from" "{\"status\":{\"state\":\"$state\",\"planReceipt\":null}}"
    refused "$state without planReceipt" 'planReceipt' 422
done
to from-applying '{"status":{"state":"Applied"}}'
refused 'Applied without applyReceipt' 'an Applied run must have an applyReceipt' 422
to from-planned "{\"status\":{\"planReceipt\":{\"adds\":3}}}"
refused 'another planReceipt' 'planReceipt is immutable once recorded' 422
to from-planned '{"status":{"planReceipt":null}}'
refused 'planReceipt removed' 'planReceipt is immutable once recorded' 422
to from-applied '{"status":{"applyReceipt":{"outputs":{"url":"other"}}}}'
refused 'another applyReceipt' 'applyReceipt is immutable once recorded' 422
to from-applied '{"status":{"applyReceipt":null}}'
refused 'applyReceipt removed' 'applyReceipt is immutable once recorded' 422
to from-planned "{\"status\":{\"applyReceipt\":$apply}}"
refused 'applyReceipt before applying' 'an applyReceipt needs a planReceipt and a run that applied' 422
api PATCH "$runs/from-applied/status" '{"status":{"provisioningRunId":"a","startedAt":"2026-01-02T03:04:05Z","completedAt":"2026-01-02T03:05:05Z"}}'
accepted 'identity and times'
to from-applied '{"status":{"provisioningRunId":"b"}}'
refused 'another identity' 'provisioningRunId is immutable' 422
to from-applied '{"status":{"startedAt":null}}'
refused 'startedAt removed' 'startedAt is immutable once set' 422
to from-applied '{"status":{"completedAt":"2026-01-02T03:06:05Z"}}'
refused 'another completedAt' 'completedAt is immutable once set' 422
to from-applied '{"status":{"failure":{"class":"Bogus"}}}'
refused 'an unknown failure class' 'Unsupported value: "Bogus"' 422
events() { jq -n --argjson n "$1" '{status: {events: [range($n) | {sequence: (. + 1), type: "ProvisioningPlanned", time: "2026-01-02T03:04:05Z"}]}}'; }
to from-planned "$(events 32)"
accepted '32 events'
to from-planned "$(events 33)"
refused '33 events' 'must have at most 32 items' 422

# Production: nothing is applied without an approval, which this version cannot record.
make_run production-planned Planned '.spec.environmentClass = "production"'
to production-planned "$(status_for AwaitingApproval)"
accepted 'production to AwaitingApproval'
to production-planned "$(status_for Applying)"
refused 'production to Applying' 'an apply to an environment of class production needs an approval' 422
plan=$(jq '.adds = 0 | .changes = 0 | del(.artifact) | .types = [] | .resources = []' <<<"$plan")
apply='{"result":"NoChanges"}'
make_run production-nochanges Applied '.spec.environmentClass = "production"'

results_end chart-schema
