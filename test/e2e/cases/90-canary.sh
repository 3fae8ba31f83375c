# Alone. No secret value that any case used is anywhere in the cluster but in Secrets, nor in a log.
# shellcheck shell=bash disable=SC2154,SC2034
# A run in the middle of its apply, whose pods' logs can be read.
environment dev >/dev/null
value=$(canary in-mid-apply)
secret dev-password "password=$value"
commit=$(slow_program slow)
# The program shows its configuration in what it deploys, in an output and in a failing resource's name.
sed -i "s/^resources:/config:\n  password: {type: string, secret: true}\nresources:/; s/^  slow:/  shown:\n    type: kubernetes:core\/v1:Secret\n    properties: {metadata: {name: dev-shown, namespace: $ns}, stringData: {password: \"\${password}\"}}\n  slow:/" "$dir/slow/Pulumi.yaml"
printf 'outputs:\n  password: ${password}\n' >>"$dir/slow/Pulumi.yaml"
commit=$(commit slow)
kubectl -n "$ns" patch role deployer --type=json -p '[{"op": "add", "path": "/rules/-", "value": {"apiGroups": [""], "resources": ["secrets"], "verbs": ["*"]}}]' >/dev/null
specification slow slow "$commit" '{"exportOutputs": ["password"], "secretRefs": [
    {"key": "password", "secretKeyRef": {"name": "dev-password", "key": "password"}},
    {"env": "PASSWORD", "secretKeyRef": {"name": "dev-password", "key": "password"}}]}' >/dev/null
in_apply slow || exit 1

seen=$dir/seen
mkdir -p "$seen"
# Logs of all pods, the operator's of all its replicas, and what the kubelet keeps of those before.
node exec sh -c 'cat /var/log/pods/*/*/*.log' >"$seen/pod-logs" 2>/dev/null
operator logs -l app.kubernetes.io/name=runtime-cloud-operator --tail=-1 >"$seen/operator-log"
k logs "$(get "prun/$run" .status.engine.podName)" --all-containers >"$seen/runner-log"
open_gate
applies 'a run with secrets' "$run"
# All objects but Secrets, with what they hold in base64.
for resource in $(kubectl api-resources --verbs=list -o name | grep -vx secrets); do
    kubectl get "$resource" --all-namespaces -o json 2>/dev/null
done >"$seen/objects"
jq -r '.items[]? | .binaryData? // empty | to_entries[] | .value' "$seen/objects" | while read -r text; do
    base64 -d <<<"$text"
    echo
done >"$seen/binary-data"
# All that anybody ever wrote to the API server: bodies of all writes but of Secrets.
cp "$WORK/audit.log" "$seen/audit"
# What Pulumi keeps on the volumes, encrypted.
state=$(node info | sed -n 's/^state=//p')
find "$state/volumes" -type f -exec cat {} + >"$seen/volumes"
# Plans and states that runs stored in Secrets are encrypted by Pulumi; outputs are not and may hold them.
kubectl get secrets --all-namespaces -o json | jq -r '.items[] | select(.metadata.name | test("^rco-[0-9a-f]{12}-[pa][ps]")) |
    .data[]' | while read -r text; do base64 -d <<<"$text"; done >"$seen/artifacts"

for file in "$seen"/*; do
    check "there is something in $(basename "$file")" test -s "$file"
done
cut -d' ' -f1 "$WORK/canaries" | sort -u >"$dir/values"
while read -r text; do base64 -w0 <<<"$text" | cut -c1-36; done <"$dir/values" >"$dir/values64"
for file in "$seen"/*; do
    found=$(grep -aoFf "$dir/values" "$file" | sort -u)
    equal "no secret value in $(basename "$file")" '' "$(grep -F "${found:-nothing}" "$WORK/canaries" | cut -d' ' -f2 | xargs)"
    equal "no secret value in base64 in $(basename "$file")" '' "$(grep -aoFf "$dir/values64" "$file" | sort -u)"
done
check 'the search finds what is there' grep -qaFf "$dir/values" <(kubectl get secrets --all-namespaces -o json | jq -r '.items[].data | .[]?' | while read -r text; do base64 -d <<<"$text"; echo; done)
note "$(wc -l <"$dir/values") values were looked for in $(du -sm "$seen" | cut -f1) MB"
rm -rf "$seen"
