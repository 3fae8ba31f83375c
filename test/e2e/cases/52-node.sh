# Alone. Parts of the cluster fail in the middle of runs: API server, kubelet, etcd.
# shellcheck shell=bash disable=SC2154,SC2034
environment dev >/dev/null
slow_version() { # TEXT: another version, in the middle of its apply
    commit=$(slow_program slow "$1")
    specification slow slow "$commit" >/dev/null
    in_apply slow || exit 1
}
ends_well() { # WHAT
    keep_gate_open
    applies "$1: the run ends Applied" "$run"
    kill "$gate_keeper"
    equal "$1: one plan Job and one apply Job" 'a p' "$(jobs_made "$run" | sort | xargs)"
    until_true 60 operator_ready
}
slow_version apiserver
node kill apiserver
sleep 5
node start apiserver
ends_well 'API server killed in mid-apply'

slow_version kubelet
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
slow_version gone
pod=$(get "prun/$run" .status.engine.podName)
kubectl delete namespace "$ns" --wait=false >/dev/null
check 'namespace deleted in mid-apply: it goes' kubectl wait --for=delete "namespace/$ns" --timeout=150s
claims() { operator get leases -o json | jq -r --arg ns "$ns" '.items[] | select((.metadata.annotations // {})["runtimecloud.io/specification-ref"] // "" | startswith($ns + "/")) | .metadata.name'; }
check 'namespace deleted in mid-apply: no claim of it is left' until_true 60 eval '[ -z "$(claims)" ]'
operator_ready
