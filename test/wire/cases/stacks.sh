# Whose a stack is and where its state is, over changes of backends and restores.
# shellcheck shell=bash disable=SC2154,SC2034,SC2030,SC2031,SC2119,SC2120

backend_to() { # DATABASE
    must PATCH "$(envs dev)" "{\"spec\": {\"backend\": {\"url\": \"postgres://db.example.com/$1\"}}}"
    await 'Environment ready again' "$(envs dev)" '.status.observedGeneration == .metadata.generation and any(.status.conditions[]?; .type == "Ready" and .status == "True")'
}

# Another version of the program.
new_version() { # DIGIT
    must PATCH "$(specs "$spec")" "{\"spec\": {\"programVersion\": \"$(printf "$1%.0s" {1..40})\"}}"
}

backend_changed() {
    operator_ensure
    environment ".spec.backend = {url: \"postgres://db.example.com/$ns-old\", passphraseSecretRef: {name: \"pass\"}}"
    specification web
    run_it
    equal 'the claim says where the state is' "postgres://db.example.com/$ns-old" \
        "$(api GET "$(claims)" && query ".items[] | select(.spec.holderIdentity == \"$spec_uid\").metadata.annotations[\"runtimecloud.io/backend\"]")"
    backend_to "$ns-new"
    new_version b
    await_run 'a run of the new version' '.status.state == "Failed"'
    equal 'that is stopped' 'Config BackendChanged' "$(query '"\(.status.failure.class) \(.status.reason)"')"
    local message
    message=$(query .status.failure.message)
    contains 'and says where the state is' "is at postgres://db.example.com/$ns-old, but Environment dev now says postgres://db.example.com/$ns-new" "$message"
    equal 'before there is a Job' 0 "$(count "$(jobs)?labelSelector=runtimecloud.io/run-uid=$run_uid")"
    await_spec 'the specification is stalled' Stalled True BackendChanged
    local failed=$run
    backend_to "$ns-old"
    await_run 'set back, it goes on by itself' ".metadata.name != \"$failed\""
    run_it
    backend_to "$ns-new"
    new_version c
    await_run 'a run of the next version' '.status.reason == "BackendChanged"'
    failed=$run
    # As a person would, from the sentence.
    must DELETE "$(claims "$(query .status.failure.message | sed -E 's/.*kubectl delete lease ([^ ]+) -n .*/\1/')")"
    await_run 'confirmed, it goes on by itself' ".metadata.name != \"$failed\""
    run_it
    equal 'at the new place' "postgres://db.example.com/$ns-new" "$(api GET "$(runs "$run")" && query .spec.snapshot.backend.url)"
}

restored_specification() {
    operator_ensure
    environment
    specification web
    run_it
    api GET "$(specs web)"
    local copy=$body was=$spec_uid
    must DELETE "$(specs web)"
    await_gone 'gone' "$(specs web)"
    # Nobody may look at it before its status is there.
    operator_stop main
    must POST "$(specs)" "$(jq '{apiVersion, kind, metadata: {name: .metadata.name, namespace: .metadata.namespace}, spec}' <<<"$copy")"
    spec_uid=$(query .metadata.uid)
    must PATCH "$(specs web)/status" "$(jq '{status}' <<<"$copy")"
    operator_start main
    await_spec 'it is inert' Stalled True Restored
    equal 'and keeps what it was' "$was" "$(query .status.specificationId)"
    new_version b
    await_spec 'also when it is changed' Stalled True Restored
    equal 'nothing runs' 0 "$(count "$(runs)" ".spec.specificationId == \"$spec_uid\"")"
    must PATCH "$(specs web)" '{"metadata": {"annotations": {"runtimecloud.io/run-now": "now"}}}'
    run_it
    await_spec 'a person takes it up' Ready True Succeeded
    equal 'under its own uid' "$spec_uid" "$(query .status.specificationId)"
    must DELETE "$(specs web)"
    await_gone 'and it can be deleted' "$(specs web)"
}

scenario 'the backend changes under a living stack' backend_changed
scenario 'a specification is restored with its status' restored_specification
