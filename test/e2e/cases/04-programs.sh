# Programs that are broken, that lack rights, or that print what must not be seen.
# shellcheck shell=bash disable=SC2154,SC2034
environment dev >/dev/null
config_map settings word=hello
password=$(canary program-password)
secret dev-password "password=$password"

syntax=$(program syntax <<'YAML'
name: syntax
runtime: yaml
resources: [this is: {not: a program
YAML
)
unknown=$(program unknown <<'YAML'
name: unknown
runtime: yaml
resources:
  thing: {type: "kubernetes:core/v1:NoSuchThing", properties: {}}
YAML
)
reference=$(program reference <<'YAML'
name: reference
runtime: yaml
outputs:
  word: ${there.is.no.such.thing}
YAML
)
invalid=$(program invalid <<YAML
name: invalid
runtime: yaml
resources:
  cluster:
    type: pulumi:providers:kubernetes
    defaultProvider: true
    options: {version: 4.25.0}
  bad:
    type: kubernetes:core/v1:ConfigMap
    properties:
      metadata: {name: Not_A_Name, namespace: $ns}
YAML
)
required=$(program required <<'YAML'
name: required
runtime: yaml
config:
  must: {type: string}
outputs:
  must: ${must}
YAML
)
outputs=$(program outputs <<'YAML'
name: outputs
runtime: yaml
config:
  word: {type: string}
  password: {type: string, secret: true}
variables:
  hidden: {"fn::secret": "${word}-hidden"}
outputs:
  word: ${word}
  number: 12
  map: {a: [1, 2], b: true}
  password: ${password}
  hidden: ${hidden}
  unlisted: not to be seen
YAML
)
# A container that cannot start: what Pulumi says of it is a list of errors, and the cause is not its first point.
startless=$(deployment_program startless startless hello 'terminationGracePeriodSeconds: 1' 'command: [/no-such-command]' \
    'customTimeouts: {create: 40s}')
page=$(page_program page)
environment half '{"runner": {"planServiceAccountName": "deployer", "applyServiceAccountName": "default"}}' >/dev/null
environment rightless '{"runner": {"applyServiceAccountName": "default"}}' >/dev/null

specification syntax syntax "$syntax" >/dev/null
specification unknown unknown "$unknown" >/dev/null
specification reference reference "$reference" >/dev/null
specification startless startless "$startless" >/dev/null
specification invalid invalid "$invalid" >/dev/null
specification required required "$required" >/dev/null
specification rightless page "$page" '{"environmentId": "rightless"}' >/dev/null
specification half page "$page" '{"environmentId": "half"}' >/dev/null
specification outputs outputs "$outputs" '{
    "configRefs": [{"key": "word", "configMapKeyRef": {"name": "settings", "key": "word"}}],
    "secretRefs": [{"key": "password", "secretKeyRef": {"name": "dev-password", "key": "password"}},
                   {"env": "TEST_PASSWORD", "secretKeyRef": {"name": "dev-password", "key": "password"}}],
    "exportOutputs": ["word", "number", "map", "password", "hidden", "not-there"]}' >/dev/null

fails syntax Source 'Pulumi.yaml'
fails unknown Source 'NoSuchThing' && log_has "$(run_of unknown)" 'NoSuchThing'
fails reference Source 'there' && log_has "$(run_of reference)" 'there'
contains 'reference: where in the program' '(Pulumi.yaml line 4)' "$(get "prun/$(run_of reference)" .status.failure.message)"
fails required Config 'must' && log_has "$(run_of required)" 'must'
fails invalid Resource 'Not_A_Name' && log_has "$(run_of invalid)" 'Not_A_Name'
fails startless Resource '/no-such-command' && log_has "$(run_of startless)" 'startless: Waiting for app ReplicaSet'
contains 'the resource that failed is named' 'kubernetes:core/v1:ConfigMap::bad' "$(get "prun/$(run_of invalid)" .status.failure.urn)"
fails rightless Resource 'forbidden' && log_has "$(run_of rightless)" 'cannot'
# Planned with rights, applied without: it ends in the apply, and nothing is there.
if fails half Resource 'forbidden: User "system:serviceaccount:'"$ns"':default" cannot'; then
    run=$(run_of half)
    matches 'half: it was planned' '^[0-9a-f]{64}$' "$(get "prun/$run" .status.planReceipt.planDigest)"
    equal 'half: it failed in the apply' 'a p' "$(jobs_made "$run" | sort | xargs)"
    refused 'half: nothing was made' NotFound k get configmap page
fi

run=$(run_of outputs)
if applies 'a program with outputs' "$run"; then
    outputs() { k get prun "$run" -o json | jq -c ".status.applyReceipt.outputs${1-}"; }
    equal 'outputs: those that are exported and not secret' \
        '{"map":"{\"a\":[1,2],\"b\":true}","number":"12","word":"hello"}' "$(outputs)"
    equal 'outputs: a string as it is' '"hello"' "$(outputs .word)"
    equal 'outputs: a number' '"12"' "$(outputs .number)"
    equal 'outputs: other values as JSON' '{"a":[1,2],"b":true}' "$(outputs .map | jq -r .)"
fi
