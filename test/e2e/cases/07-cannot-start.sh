# Runs that cannot start, or not write their state: an image that cannot be had, pods that are refused, a full volume.
# shellcheck shell=bash disable=SC2154,SC2034
# The operator gives images and pods three minutes.
PATIENCE=300
commit=$(null_program nothing)
environment image '{"runner": {"image": "registry.rco.test/no/such-image:1"}}' >/dev/null
specification image nothing "$commit" '{"environmentId": "image"}' >/dev/null

# A volume of 100 kB, of which one page is left.
state=$(node info | sed -n 's/^state=//p')
volume=tiny-$RANDOM
tiny=$state/volumes/$volume
mkdir -p "$tiny"
node exec mount -t tmpfs -o size=100k,mode=0777 tiny "$tiny" 2>/dev/null
node exec dd if=/dev/zero of="$tiny/filler" bs=4k count=24 2>/dev/null
kubectl apply -f - >/dev/null <<YAML
apiVersion: v1
kind: PersistentVolume
metadata: {name: $volume}
spec:
  capacity: {storage: 1Mi}
  accessModes: [ReadWriteOnce]
  storageClassName: tiny
  claimRef: {namespace: $ns, name: tiny}
  hostPath: {path: $tiny, type: Directory}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: tiny, namespace: $ns}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: tiny
  volumeName: $volume
  resources: {requests: {storage: 1Mi}}
YAML
environment full '{"backend": {"claimName": "tiny"}}' >/dev/null
specification full nothing "$commit" '{"environmentId": "full"}' >/dev/null
fails full Config 'no space left'
node exec rm -f "$tiny/filler"
node exec mount -o remount,size=10m "$tiny"
run_now full
applies 'the volume has space again: run-now' "$(run_of full 2)"

# A namespace that admits no more pods: the Job stays without one.
k create quota none --hard=count/pods=1 >/dev/null
environment dev >/dev/null
specification quota nothing "$commit" >/dev/null
fails quota Config 'ResourceQuota'
fails image Config 'registry.rco.test/no/such-image:1'
no_pods() { [ -z "$(k get jobs,pods -l app.kubernetes.io/managed-by=runtime-cloud -o name)" ]; }
check 'nothing is left of runs that never started' until_true 60 no_pods
k delete quota none >/dev/null
run_now quota
applies 'there is room again: run-now' "$(run_of quota 2)"
kubectl delete pv "$volume" --wait=false >/dev/null
