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
k create quota none --hard=count/pods=0 >/dev/null
environment dev >/dev/null
specification quota nothing "$commit" >/dev/null

# Pod Security refuses the pods. They keep its strictest profile and no setting of an Environment takes them out of it, so
# it needs what an injector of sidecars does: a privileged container is put into those with a certain label.
kubectl apply -f - >/dev/null <<YAML
apiVersion: admissionregistration.k8s.io/v1beta1
kind: MutatingAdmissionPolicy
metadata: {name: e2e-injector}
spec:
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $ns}}
    objectSelector: {matchLabels: {mesh: "on"}}
    resourceRules:
      - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  mutations:
    - patchType: ApplyConfiguration
      applyConfiguration:
        expression: >-
          Object{spec: Object.spec{initContainers: [Object.spec.initContainers{name: "mesh-init",
          image: "mesh", securityContext: Object.spec.initContainers.securityContext{privileged: true}}]}}
---
apiVersion: admissionregistration.k8s.io/v1beta1
kind: MutatingAdmissionPolicyBinding
metadata: {name: e2e-injector}
spec: {policyName: e2e-injector}
YAML
# The API server follows its policies with some delay.
mesh_pod() { # whether Pod Security refuses a pod with the label, which without the container it would take
    local text
    text=$(k run mesh --image=mesh --labels=mesh=on --dry-run=server -o name --overrides='{"apiVersion": "v1", "spec": {
        "automountServiceAccountToken": false, "securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [{"name": "mesh", "image": "mesh", "securityContext": {"allowPrivilegeEscalation": false,
            "capabilities": {"drop": ["ALL"]}}}]}}' 2>&1)
    [[ $text == *'violates PodSecurity'*mesh-init* ]]
}
check 'the injector works' until_true 30 mesh_pod
environment meshed '{"runner": {"pod": {"labels": {"mesh": "on"}}}}' >/dev/null
specification security nothing "$commit" '{"environmentId": "meshed"}' >/dev/null
pod_refused() { [[ $(rc why security -n "$ns") == *'violates PodSecurity "restricted'*mesh-init* ]]; }
check 'why says at once what Pod Security refuses' until_true 60 pod_refused
fails quota Config 'ResourceQuota'
if fails security Config 'Pod Security'; then
    contains 'security: what to do stands there' 'kubectl describe job' "$(get "prun/$(run_of security)" .status.failure.message)"
    equal 'security: the reason' PodRefused "$(get "prun/$(run_of security)" .status.reason)"
    environment meshed '{"runner": {"pod": {"labels": {"mesh": "off"}}}}' >/dev/null
fi
fails image Config 'registry.rco.test/no/such-image:1'
no_pods() { [ -z "$(k get jobs,pods -l app.kubernetes.io/managed-by=runtime-cloud -o name)" ]; }
check 'nothing is left of runs that never started' until_true 60 no_pods
k delete quota none >/dev/null
run_now quota
applies 'there is room again: run-now' "$(run_of quota 2)"
run_now security
applies 'the Environment keeps its pods from the injector: run-now' "$(run_of security 2)"
kubectl delete mutatingadmissionpolicybinding,mutatingadmissionpolicy e2e-injector >/dev/null
kubectl delete pv "$volume" --wait=false >/dev/null
