#!/usr/bin/env bash
# Makes the static PersistentVolumes of the class `standard`: 40 of 1 Gi, directories of mode 0777
# (a hostPath volume ignores fsGroup). A volume whose claim is gone is emptied and made anew, so
# that a long-lived cluster does not run out of them. up.sh calls it; call it again at any time.
set -euo pipefail
# shellcheck source=lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
# shellcheck source=lib/node.sh
. "$CLUSTER_DIR/lib/node.sh"

COUNT=40

need_root
need_node
kubectl apply -f "$CLUSTER_DIR/manifests/storage.yaml" >/dev/null

released=$(kubectl get persistentvolumes -l rco.test/volume -o \
    jsonpath='{range .items[?(@.status.phase=="Released")]}{.metadata.name}{"\n"}{end}')
for name in $released; do
    kubectl delete persistentvolume "$name" >/dev/null
    rm -rf "${STATE:?}/volumes/$name"
done

for ((i = 1; i <= COUNT; i++)); do
    name=$(printf 'volume-%02d' "$i")
    mkdir -p "$STATE/volumes/$name"
    chmod 0777 "$STATE/volumes/$name"
    cat <<EOF
---
apiVersion: v1
kind: PersistentVolume
metadata:
  name: $name
  labels: { rco.test/volume: "true" }
spec:
  capacity: { storage: 1Gi }
  accessModes: [ReadWriteOnce, ReadWriteMany]
  persistentVolumeReclaimPolicy: Retain
  storageClassName: standard
  hostPath: { path: $STATE/volumes/$name, type: Directory }
EOF
done | kubectl apply -f - >/dev/null
