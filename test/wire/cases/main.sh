# One specification from apply to Applied, and what it costs.
# shellcheck shell=bash disable=SC2154,SC2034,SC2030,SC2031,SC2119,SC2120

# The operator's requests but for those about namespaces and stack claims of other scenarios, whose specifications
# live on and are tried again in their own time.
audit_here() {
    audit "(.objectRef.namespace // \"\" | . == \"$ns\" or (test(\"^w[0-9]\") | not))
        and (.responseObject.metadata.annotations[\"runtimecloud.io/specification-ref\"] // \"$ns/\" | startswith(\"$ns/\"))
        and ($1)"
}

# A specification of another namespace, whose run is made while the one here is measured.
neighbour() {
    ns=$ns-neighbour
    namespace "$ns"
    environment
    specification web
    await_run 'a neighbour is busy' '.status.state == "Planning"'
}

main_path() {
    local before writes list
    operator_ensure
    environment
    event 'an Environment that is ready says so' Environment dev Ready
    before=$(date -u +%Y-%m-%dT%H:%M:%S.%6NZ)
    specification web
    await_run 'a specification makes a run' '.status.state == "Planning"'
    (neighbour)
    equal 'the name of the run says whose it is' "web-${spec_uid:0:5}-v1-b1" "$run"
    plan_it
    await_state Applying
    equal 'the plan is in the status' 2 "$(query .status.planReceipt.adds)"
    apply_it
    await_state Applied
    equal 'the output that was asked for' 'http://web.example.com' "$(query .status.applyReceipt.outputs.url)"
    contains 'the run says how it went' 'True Applied 2 added' "$(condition Succeeded)"
    await_spec 'the specification is ready' Ready True Succeeded
    equal 'version applied' 1 "$(query .status.appliedVersion)"
    contains 'and says what is applied' "version 1 is applied (commit aaaaaaaaaaaa, run $run)" "$(condition Ready)"
    event 'SpecificationDeclared is told' DeploymentSpecification web SpecificationDeclared
    event 'ProvisioningPlanned is told' ProvisioningRun "$run" ProvisioningPlanned '2 to add'
    event 'ProvisioningApplied is told' ProvisioningRun "$run" ProvisioningApplied 'version 1 of web: 2 added'
    settle
    equal 'no Job is left' 0 "$(count "$(jobs)")"
    equal 'no pod is left' 0 "$(count "$(core pods)")"

    list=$(audit_here ".stageTimestamp >= \"$before\" and (.verb | IN(\"create\", \"patch\", \"update\", \"delete\"))
        and .objectRef.resource != \"events\" and .objectRef.resource != \"tokenreviews\" and .objectRef.name != \"runtime-cloud-controller\"")
    writes=$(grep -c . <<<"$list")
    jq -r '"\(.verb) \(.objectRef.resource)\(if .objectRef.subresource then "/" + .objectRef.subresource else "" end)"' <<<"$list" |
        sort | uniq -c | while read -r n what; do note "$n $what"; done
    note "$writes writes from the specification to Applied"
    check "at most 32 writes (were $writes)" [ "$writes" -le 32 ]
    equal 'every write was accepted' '' "$(jq -r 'select(.responseStatus.code >= 300) | "\(.verb) \(.objectRef.resource) \(.responseStatus.code)"' <<<"$list")"
    equal 'no write changed nothing' '' "$(jq -r 'select(.verb == "patch" and .requestObject.metadata.resourceVersion != null
        and .requestObject.metadata.resourceVersion == .responseObject.metadata.resourceVersion) | "\(.objectRef.resource)/\(.objectRef.name)"' <<<"$list")"
    equal 'every patch carries the resourceVersion it was decided on' '' "$(jq -r 'select(.verb == "patch" and .requestObject.metadata.resourceVersion == null) | "\(.objectRef.resource)/\(.objectRef.name)"' <<<"$list")"
    equal 'every deletion names the uid' '' "$(jq -r 'select(.verb == "delete" and .requestObject.preconditions.uid == null) | "\(.objectRef.resource)/\(.objectRef.name)"' <<<"$list")"
    equal 'no GET' '' "$(audit_here ".stageTimestamp >= \"$before\" and .verb == \"get\"" | jq -r .requestURI)"
    equal 'no LIST' '' "$(audit_here ".stageTimestamp >= \"$before\" and .verb == \"list\"" | jq -r .requestURI)"
    before=$(date -u +%Y-%m-%dT%H:%M:%S.%6NZ)
    sleep 5
    equal 'at rest nothing is asked and nothing written, but the Lease renewed' '' "$(audit_here ".requestReceivedTimestamp >= \"$before\" and .verb != \"watch\" and .objectRef.name != \"runtime-cloud-controller\"" | jq -r '"\(.verb) \(.requestURI)"')"
}

# Until nothing was written for two seconds.
settle() {
    local n last=-1 quiet=0
    while [ $quiet -lt 2 ]; do
        n=$(audit_here '.verb | IN("create", "patch", "update", "delete")' | grep -vc runtime-cloud-controller)
        if [ "$n" = "$last" ]; then quiet=$((quiet + 1)); else quiet=0; fi
        last=$n
        sleep 1
    done
}

scenario 'from a specification to Applied' main_path
