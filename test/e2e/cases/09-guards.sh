# What is never done: an apply to production, an engine beside another, work for an object of somebody else.
# shellcheck shell=bash disable=SC2154,SC2034
page=$(page_program page 'never to be seen')
null=$(null_program nothing)

# --- production rests in AwaitingApproval ---
secret passphrase "passphrase=$(canary production-passphrase)"
secret postgres "PGUSER=$(value user <<<"$postgres_info")" "PGPASSWORD=$(cat "$(value password_file <<<"$postgres_info")")"
refused 'production without a state store of its own' 'needs backend.url' environment unfinished '{"class": "production"}'
refused 'production without a passphrase of its own' 'needs backend.passphraseSecretRef' environment unfinished '{"class": "production"}'
environment production "{\"class\": \"production\", \"backend\": {
    \"url\": \"postgres://postgres.rco.test:$(value port <<<"$postgres_info")/pulumi?sslmode=disable\",
    \"credentialsSecretRef\": {\"name\": \"postgres\"}, \"passphraseSecretRef\": {\"name\": \"passphrase\"}}}" >/dev/null
specification production page "$page" "{\"environmentId\": \"production\", \"stackName\": \"$ns-production-$RANDOM\"}" >/dev/null
run=$(run_of production)
k wait --for=create "prun/$run" --timeout=60s >/dev/null
await "prun/$run" .status.state=AwaitingApproval
equal 'production: the run rests' 'AwaitingApproval ApprovalUnavailable' "$(run_state "$run")"
equal 'production: its plan is recorded' 3 "$(get "prun/$run" .status.planReceipt.adds)"
await depspec/production '.status.conditions[?(@.type=="AwaitingDecision")].status=True' 20
equal 'production: somebody has to decide' True "$(condition depspec/production AwaitingDecision status)"
equal 'production: and tools do not hang' True "$(condition depspec/production Ready status)"
contains 'production: why says so' approv "$(rc why production -n "$ns")"
rc run watch "$run" -n "$ns" --timeout 20s >/dev/null 2>&1
equal 'production: run watch ends with 1' 1 $?
refused 'production: nobody can approve' 'approvals are not available' \
    change "prun/$run" "{\"spec\": {\"approval\": {\"verdict\": \"Approve\", \"planDigest\": \"$(get "prun/$run" .status.planReceipt.planDigest)\", \"decidedBy\": \"me\"}}}"
refused 'production: nobody can set it to Applying' 'needs an approval' \
    k patch "prun/$run" --subresource=status --type=merge -p '{"status": {"state": "Applying"}}'
equal 'production: only a plan Job was made' p "$(jobs_made "$run")"
equal 'production: nothing was applied' '' "$(k get configmap page -o name 2>/dev/null)"
change depspec/production "{\"spec\": {\"suspend\": true}}" >/dev/null
await "prun/$run" .status.completedAt 20
equal 'production: suspend ends it' Rejected "$(get "prun/$run" .status.state)"

# --- runs are the operator's ---
refused 'nobody makes a run' 'denied' k create -f <(k get prun "$run" -o json |
    jq 'del(.status, .metadata.uid, .metadata.resourceVersion) | .metadata.name = "forged"')
refused 'a run is immutable' 'immutable' change "prun/$run" '{"spec": {"specificationVersion": 7}}'
refused 'a final state is final' "edges" k patch "prun/$run" --subresource=status --type=merge -p '{"status": {"state": "Applying"}}'

# --- a Job of somebody else under the name of ours ---
environment dev >/dev/null
specification planted nothing "$null" >/dev/null
run=$(run_of planted)
k wait --for=create "prun/$run" --timeout=60s >/dev/null
applies 'a run whose uid is known now' "$run"
# The name of a Job follows from the uid of its run, which nobody knows before: the next one is planted while the
# volume is busy, when the run is there and its Job is not.
slow=$(slow_program slow)
specification blocker slow "$slow" >/dev/null
in_apply blocker || exit 1
blocker=$run
run_now planted
run=$(run_of planted 2)
k wait --for=create "prun/$run" --timeout=60s >/dev/null
until_true 20 eval '[ "$(run_state "$run")" = "Pending VolumeBusy" ]'
equal 'the volume is busy: the run waits' 'Pending VolumeBusy' "$(run_state "$run")"
uid=$(get "prun/$run" .metadata.uid | tr -d -)
k create -f - >/dev/null <<YAML
apiVersion: batch/v1
kind: Job
metadata:
  name: rco-${uid:0:12}-p
spec:
  suspend: true
  template:
    spec:
      restartPolicy: Never
      securityContext: {runAsNonRoot: true, runAsUser: 1000, seccompProfile: {type: RuntimeDefault}}
      containers:
        - name: engine
          image: runtimecloud.local/demo-web:1
          securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
YAML
open_gate
applies 'the other run ends' "$blocker"
await "prun/$run" '.status.conditions[?(@.type=="Stalled")].reason=ForeignObject' 60
equal 'a planted Job: the run says so' ForeignObject "$(condition "prun/$run" Stalled reason)"
contains 'a planted Job: which one' "rco-${uid:0:12}-p" "$(condition "prun/$run" Stalled message)"
contains 'a planted Job: why says so' "rco-${uid:0:12}-p" "$(rc why "run/$run" -n "$ns")"
k delete job "rco-${uid:0:12}-p" >/dev/null
applies 'the planted Job is gone: it goes on by itself' "$run"

# --- two specifications on one stack ---
specification second nothing "$null" "{\"stackName\": \"e2e-planted\"}" >/dev/null
fails second Config 'e2e-planted'
contains 'two specifications on one stack: whose it is' planted "$(get "prun/$(run_of second)" .status.failure.message)"

# --- a cancel while it waits ---
slow=$(slow_program slow two)
change depspec/blocker "{\"spec\": {\"programVersion\": \"$slow\"}}" >/dev/null
in_apply blocker || exit 1
blocker=$run
run_now planted
run=$(run_of planted 3)
k wait --for=create "prun/$run" --timeout=60s >/dev/null
me=$(kubectl auth whoami -o jsonpath='{.status.userInfo.username}')
refused 'cancel in the name of another' 'denied' change "prun/$run" '{"spec": {"cancel": {"by": "somebody", "reason": "no"}}}'
check 'cancel' change "prun/$run" "{\"spec\": {\"cancel\": {\"by\": \"$me\", \"reason\": \"not today\"}}}"
equal 'cancel: the waiting run ends Cancelled' Cancelled "$(ended "$run" 20)"
equal 'cancel: no Job was made' '' "$(jobs_made "$run")"
# In mid-apply a cancel stops the engine.
check 'cancel in mid-apply' change "prun/$blocker" "{\"spec\": {\"cancel\": {\"by\": \"$me\", \"reason\": \"not this either\"}}}"
equal 'cancel in mid-apply: the run ends Failed' Failed "$(ended "$blocker")"
equal 'cancel in mid-apply: class' Cancelled "$(get "prun/$blocker" .status.failure.class)"
