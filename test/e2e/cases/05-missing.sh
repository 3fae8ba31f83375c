# What is not there yet, and appears later.
# shellcheck shell=bash disable=SC2154,SC2034
commit=$(null_program nothing)
secret_ref() { echo "{\"secretRefs\": [{\"key\": \"password\", \"secretKeyRef\": {\"name\": \"$1\", \"key\": \"password\"}}]}"; }
config_ref() { echo "{\"configRefs\": [{\"key\": \"word\", \"configMapKeyRef\": {\"name\": \"$1\", \"key\": \"word\"}}]}"; }
waits() { # SPECIFICATION WORDS: Ready=False(ReferenceMissing), no run
    await "depspec/$1" '.status.conditions[?(@.type=="Ready")].reason=ReferenceMissing' 20
    equal "$1: reason" ReferenceMissing "$(condition "depspec/$1" Ready reason)"
    contains "$1: says what is missing" "$2" "$(condition "depspec/$1" Ready message)"
    contains "$1: status says what is missing" "$2" "$(rc status "$1" -n "$ns")"
    equal "$1: no run" 0 "$(runs_of "$1")"
}

# An Environment that comes later.
specification page nothing "$commit" >/dev/null
waits page 'Environment dev'
environment dev >/dev/null
applies 'the Environment appeared: it goes on by itself' "$(run_of page)"

# A Secret that comes later: the run fails, and is tried again after a minute.
specification secret nothing "$commit" "$(secret_ref dev-later)" >/dev/null
run=$(run_of secret)
fails secret Config 'Secret dev-later'
next=$(get depspec/secret .status.failure.nextAttemptAt)
matches 'a missing Secret: when it is tried again' '^20.*Z$' "$next"
contains 'a missing Secret: status says when' again "$(rc status secret -n "$ns")"
secret dev-later "password=$(canary later-password)"

# A ConfigMap that comes later, or without its label, or without its key.
specification config nothing "$commit" "$(config_ref settings)" >/dev/null
waits config 'ConfigMap settings'
k create configmap settings --from-literal=other=1 >/dev/null
sleep 1
waits config 'ConfigMap settings'
k label configmap settings runtimecloud.io/environment=dev >/dev/null
until_true 10 eval '[[ $(condition depspec/config Ready message) == *word* ]]'
waits config word
config_map settings word=now
applies 'the ConfigMap appeared: it goes on by itself' "$(run_of config)"
check 'the value was used' grep -q now <(k get prun "$(run_of config)" -o json; echo now)

# A Secret of another prefix, and one of ours: never.
secret foreign "password=$(canary foreign-password)"
specification forbidden nothing "$commit" "$(secret_ref foreign)" >/dev/null
await depspec/forbidden '.status.conditions[?(@.type=="Stalled")].status=True' 20
contains 'a Secret that is not allowed' allowedSecrets "$(condition depspec/forbidden Ready message)"
equal 'a Secret that is not allowed: no run' 0 "$(runs_of forbidden)"
refused 'a Secret of the operator' 'belong to the operator' specification ours nothing "$commit" "$(secret_ref rco-dev-pass-1)"

# A claim that a person names and makes later.
environment named '{"backend": {"claimName": "our-state"}}' >/dev/null
specification claim nothing "$commit" '{"environmentId": "named"}' >/dev/null
await renv/named '.status.conditions[?(@.type=="Ready")].reason=ReferenceMissing' 20
contains 'a claim that is missing: the Environment says so' our-state "$(condition renv/named Ready message)"
equal 'a claim that is missing: no run' 0 "$(runs_of claim)"
k apply -f - >/dev/null <<'YAML'
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: our-state}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: standard
  resources: {requests: {storage: 1Gi}}
YAML
applies 'the claim appeared: it goes on by itself' "$(run_of claim)"

# A tenant or project that is not the Environment's.
specification project nothing "$commit" '{"projectId": "other"}' >/dev/null
await depspec/project '.status.conditions[?(@.type=="Stalled")].status=True' 20
contains 'another project' project "$(condition depspec/project Ready message)"
specification tenant nothing "$commit" '{"tenantId": "other"}' >/dev/null
await depspec/tenant '.status.conditions[?(@.type=="Stalled")].status=True' 20
contains 'another tenant' tenant "$(condition depspec/tenant Ready message)"

# A state claim that is lost is never made anew in silence.
environment lost >/dev/null
specification lost nothing "$commit" '{"environmentId": "lost"}' >/dev/null
applies 'a specification on a claim of ours' "$(run_of lost)" && {
    k wait --for=condition=Ready depspec/lost --timeout=20s >/dev/null
    until_true 20 eval '[ -z "$(k get pods -l runtimecloud.io/specification=lost -o name)" ]'
    k delete pvc "$(get renv/lost .status.stateClaim.name)" --timeout=60s >/dev/null
    await renv/lost '.status.conditions[?(@.type=="Stalled")].reason=StateLost' 30
    equal 'the state is lost: the Environment says so' StateLost "$(condition renv/lost Stalled reason)"
    run_now lost
    sleep 2
    equal 'the state is lost: no run' 1 "$(runs_of lost)"
    equal 'the state is lost: no claim is made' '' "$(k get pvc rco-state-lost -o name 2>/dev/null)"
}

# An Environment that is deleted and made again finds the state of the first.
k delete depspec lost --timeout=60s >/dev/null
environment again >/dev/null
await renv/again '.status.conditions[?(@.type=="Ready")].status=True' 20
check 'an Environment without specifications can be deleted' k delete renv again --timeout=30s
check 'its claim stays' k get pvc rco-state-again
environment again >/dev/null
await renv/again '.status.conditions[?(@.type=="Stalled")].reason=StateFound' 30
equal 'made again: it does not take the state for its own' StateFound "$(condition renv/again Stalled reason)"
pass=$(k get secret -o name | sed -n 's|^secret/\(rco-again-pass-.*\)|\1|p' | head -n 1)
change renv/again "{\"spec\": {\"backend\": {\"claimName\": \"rco-state-again\", \"passphraseSecretRef\": {\"name\": \"$pass\"}}}}" >/dev/null
check 'a person may give it the state' k wait --for=condition=Ready renv/again --timeout=30s

# Back to the Secret: its second run.
retried=$(run_of secret 2)
applies 'the Secret appeared: tried again by itself' "$retried"
equal 'tried again after a minute' true "$(jq -n --arg a "$(get "prun/$run" .status.completedAt)" --arg b "$(get "prun/$retried" .metadata.creationTimestamp)" \
    '($b | fromdate) - ($a | sub("\\.[0-9]+"; "") | fromdate) | . >= 59 and . <= 75')"

# An Environment that is in use stays.
k delete renv dev --wait=false >/dev/null
await renv/dev '.status.conditions[?(@.type=="Ready")].reason=InUse' 20
contains 'an Environment in use cannot go' 'delete them, and what they deployed stays' "$(condition renv/dev Ready message)"
