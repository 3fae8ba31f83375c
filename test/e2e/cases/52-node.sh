# Alone. Parts of the cluster fail in the middle of runs: API server, kubelet, etcd.
# shellcheck shell=bash disable=SC2154,SC2034
environment dev >/dev/null
in_apply() { # TEXT: a new version, in the middle of its apply
    k delete deployment slow >/dev/null 2>&1
    commit=$(slow_program slow "$1")
    specification slow slow "$commit" >/dev/null
    run=$(run_of slow)
    k wait --for=create "prun/$run" --timeout=60s >/dev/null
    await "prun/$run" .status.engine.phase=apply && until_true 60 gate_closed
}
ends_well() { # WHAT
    keep_gate_open
    applies "$1: the run ends Applied" "$run"
    kill "$gate_keeper"
    equal "$1: one plan Job and one apply Job" 'a p' "$(jobs_made "$run" | sort | xargs)"
    until_true 60 operator_ready
}
in_apply apiserver || die 'the apply does not come to the gate'
node kill apiserver
sleep 5
node start apiserver
ends_well 'API server killed in mid-apply'

in_apply kubelet
node kill kubelet
sleep 3
open_gate
node start kubelet
ends_well 'kubelet killed in mid-apply'

commit=$(page_program page)
specification page page "$commit" >/dev/null
run=$(run_of page)
k wait --for=create "prun/$run" --timeout=60s >/dev/null
node kill etcd
sleep 3
node start etcd
ends_well 'etcd killed in the middle of a plan'

# A namespace that is deleted in the middle of an apply goes, with all that is in it.
in_apply gone
pod=$(get "prun/$run" .status.engine.podName)
kubectl delete namespace "$ns" --wait=false >/dev/null
check 'namespace deleted in mid-apply: it goes' kubectl wait --for=delete "namespace/$ns" --timeout=150s
claims() { operator get leases -o json | jq -r --arg ns "$ns" '.items[] | select((.metadata.annotations // {} | tostring) | contains($ns)) | .metadata.name'; }
check 'namespace deleted in mid-apply: no claim of it is left' until_true 60 eval '[ -z "$(claims)" ]'
operator_ready
equal 'the operator was not restarted by any of it' 0 "$(operator get pods -l app.kubernetes.io/name=runtime-cloud-operator -o json |
    jq '[.items[].status.containerStatuses[].restartCount] | add')"
