# Objects for the plugin's tests: made on a real API server, their status written as the operator would.
# Source it with kubectl and NS set. No controller runs, so what is written stays.
# shellcheck shell=bash disable=SC2154,SC2034

NOW=$(date -u +%s)
at() { date -u -d "@$((NOW - $1))" +%Y-%m-%dT%H:%M:%SZ; } # SECONDS-AGO
COMMIT=0123456789abcdef0123456789abcdef01234567
hex64() { printf '%s' "$1" | sha256sum | cut -d' ' -f1; }

k() { "$kubectl" -n "$NS" "$@"; }
apply() { k apply -f - >/dev/null; }
status() { # KIND NAME JSON: merges into the status
    k patch "$1" "$2" --subresource=status --type=merge -p "{\"status\":$3}" >/dev/null
}
uid_of() { k get "$1" "$2" -o jsonpath='{.metadata.uid}'; }
generation_of() { k get "$1" "$2" -o jsonpath='{.metadata.generation}'; }
condition() { # TYPE STATUS REASON MESSAGE
    jq -nc --arg t "$1" --arg s "$2" --arg r "$3" --arg m "$4" --arg at "$(at 60)" \
        '{type: $t, status: $s, reason: $r, message: $m, lastTransitionTime: $at, observedGeneration: 1}'
}

make_env() { # NAME CLASS [RUNNER-JSON]
    local backend='{}' runner=${3:-null}
    [ "$2" != production ] || backend='{"url":"s3://states","passphraseSecretRef":{"name":"pass"}}'
    jq -n --arg n "$1" --arg c "$2" --argjson b "$backend" --argjson r "$runner" '{apiVersion: "runtimecloud.io/v1alpha1", kind: "Environment",
        metadata: {name: $n}, spec: ({tenantId: "default", projectId: "shop", class: $c} +
        (if $b == {} then {} else {backend: $b} end) + (if $r then {runner: $r} else {} end))}' | apply
}
env_ready() { # NAME
    status environment.runtimecloud.io "$1" "{\"observedGeneration\":1,\"conditions\":[$(condition Ready True Ready 'state and keys are there')]}"
}

make_spec() { # NAME ENVIRONMENT [EXTRA-JSON]
    jq -n --arg n "$1" --arg e "$2" --arg c "$COMMIT" --argjson x "${3:-{\}}" \
        '{apiVersion: "runtimecloud.io/v1alpha1", kind: "DeploymentSpecification", metadata: {name: $n},
          spec: ({tenantId: "default", projectId: "shop", environmentId: $e, kind: "Workload",
                  programRef: "https://git.example.com/team/infra.git//web", programVersion: $c} + $x)}' | apply
}

make_run() { # NAME SPEC ENVIRONMENT VERSION CLASS
    local uid
    uid=$(uid_of deploymentspecification "$2")
    jq -n --arg n "$1" --arg s "$2" --arg e "$3" --argjson v "$4" --arg class "$5" --arg u "$uid" --arg c "$COMMIT" \
        '{apiVersion: "runtimecloud.io/v1alpha1", kind: "ProvisioningRun",
          metadata: {name: $n, labels: {"runtimecloud.io/specification": $s, "runtimecloud.io/environment": $e}},
          spec: {tenantId: "default", projectId: "shop", environmentId: $e, specificationId: $u,
            specificationRef: {name: $s, uid: $u}, specificationVersion: $v, kind: "Baseline", environmentClass: $class,
            snapshot: {program: {repository: "https://git.example.com/team/infra.git", path: "web", commit: $c},
              stackName: ("shop-" + $s), backend: {claimName: "rco-state-dev", secretsProvider: "passphrase",
              passphraseSecretName: "rco-dev-pass-1"}, hmacKeySecretName: "rco-dev-hmac-1",
              planServiceAccountName: "deployer", applyServiceAccountName: "deployer", clusterAccess: "ServiceAccount",
              image: "runner:1", timeoutSeconds: 3600, terminationGracePeriodSeconds: 600, guard: "Strict",
              environmentGeneration: 1, environmentUid: "e0e0e0e0-0000-4000-8000-000000000000", exportOutputs: ["url"]}}}' | apply
}
run_state() { # NAME STATE [EXTRA-JSON]
    status provisioningrun "$1" "$(jq -nc --arg s "$2" --argjson x "${3:-{\}}" '{state: $s, observedGeneration: 1} + $x')"
}
receipt() { # ADDS CHANGES DELETES REPLACES
    jq -nc --argjson a "$1" --argjson c "$2" --argjson d "$3" --argjson r "$4" --arg commit "$COMMIT" --arg h "$(hex64 plan)" \
        --arg at "$(at 90)" '{planReceipt: {adds: $a, changes: $c, deletes: $d, replaces: $r, sames: 4, inputsHash: $h,
          programVersion: $commit, planDigest: $h, operationsDigest: $h, baseStateDigest: $h, workspaceDigest: $h,
          engineVersion: "3.274.1", plannedAt: $at, types: [{type: "kubernetes:core/v1:ConfigMap", adds: $a}],
          resources: [{urn: "urn:pulumi:shop-shop::web::kubernetes:core/v1:ConfigMap::web-config", op: "create"},
                      {urn: "urn:pulumi:shop-shop::web::my:Component$kubernetes:apps/v1:Deployment::web", op: "update"}]}}'
}

# The name of part I of a log with DIGEST.
chunk_name() { # RUN PHASE DIGEST I
    echo "rco-$(uid_of provisioningrun "$1" | tr -d - | cut -c1-12)-${2:0:1}l$4-${3:0:10}"
}
# Stores FILE as a log, in parts of 512 KiB, and prints the artifact.
store_log() { # RUN PHASE FILE
    local digest i=0 piece
    digest=$(sha256sum "$3" | cut -d' ' -f1)
    piece=$(mktemp -d)
    split -b 524288 -d -a 3 "$3" "$piece/"
    for f in "$piece"/*; do
        jq -n --arg n "$(chunk_name "$1" "$2" "$digest" $i)" --rawfile d <(base64 -w0 "$f") \
            '{apiVersion: "v1", kind: "ConfigMap", metadata: {name: $n}, binaryData: {data: $d}}' |
            k create -f - >/dev/null
        i=$((i + 1))
    done
    rm -r "$piece"
    jq -nc --arg p "$2" --arg d "$digest" --argjson s "$(stat -c %s "$3")" \
        '{kind: "log", phase: $p, digest: $d, size: $s}'
}

# A specification whose first run failed.
make_failed() { # NAME CLASS MESSAGE [REASON]
    local run=$1-fffff-v1-b1 failure
    failure=$(jq -nc --arg c "$2" --arg m "$3" '{class: $c, message: $m}')
    make_spec "$1" dev
    make_run "$run" "$1" dev 1 development
    run_state "$run" Pending
    run_state "$run" Planning
    run_state "$run" Failed "{\"reason\":\"${4:-$2}\",\"completedAt\":\"$(at 30)\",\"failure\":$failure}"
    status deploymentspecification "$1" "{\"observedGeneration\":1,\"version\":1,\"lastRun\":{\"name\":\"$run\",\"uid\":\"$(uid_of provisioningrun "$run")\",\"version\":1,\"state\":\"Failed\"},\"failure\":{\"class\":\"$2\",\"attempts\":1},\"conditions\":[$(condition Ready False "$2" 'run failed')]}"
}

make_pod() { # NAME RUN PHASE STATUS-JSON [NODE]
    local uid
    uid=$(uid_of provisioningrun "$2")
    jq -n --arg n "$1" --arg r "$2" --arg p "$3" --arg u "$uid" --arg node "${5:-node}" '{apiVersion: "v1", kind: "Pod",
        metadata: {name: $n, labels: {"runtimecloud.io/run": $r, "runtimecloud.io/run-uid": $u, "runtimecloud.io/phase": $p}},
        spec: {nodeName: $node, serviceAccountName: "deployer", initContainers: [{name: "fetch", image: "runner:1"}, {name: "install", image: "runner:1"},
                 {name: "report", image: "runner:1", restartPolicy: "Always"}],
               containers: [{name: "engine", image: "runner:1"}]}}' | apply
    k patch pod "$1" --subresource=status --type=merge -p "{\"status\":$4}" >/dev/null
}
