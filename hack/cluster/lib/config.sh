# Writes the configuration files of the node's daemons. Source after node.sh and pki.sh.
# shellcheck shell=bash

write_pki() {
    local server=https://$NODE_IP:6443 name subject
    pki_ca "$PKI"
    pki_service_account_key "$PKI"
    pki_issue "$PKI" apiserver "/CN=kube-apiserver" serverAuth \
        "$(pki_apiserver_names "IP:$NODE_IP" "IP:$SERVICE_FIRST_IP")"
    pki_issue "$PKI" kubelet-server "/CN=$NODE_NAME" serverAuth "DNS:$NODE_NAME,IP:$NODE_IP"
    pki_issue "$PKI" apiserver-kubelet "/O=system:masters/CN=kube-apiserver-kubelet" clientAuth
    while read -r name subject; do
        pki_issue "$PKI" "$name" "$subject" clientAuth
        write_file "$PKI/$name.kubeconfig" kubeconfig_inline "$PKI" "$name" "$server"
    done <<EOF
admin /O=system:masters/CN=admin
kubelet /O=system:nodes/CN=system:node:$NODE_NAME
controller-manager /CN=system:kube-controller-manager
scheduler /CN=system:kube-scheduler
proxy /CN=system:kube-proxy
coredns /CN=system:coredns
EOF
    write_file "$KUBECONFIG_ADMIN" cat "$PKI/admin.kubeconfig"
    chmod 0600 "$KUBECONFIG_ADMIN"
}

# write_file PATH COMMAND...: the command's output becomes the file, unless it is that already:
# kube-proxy ends and containerd reloads when their files are merely written.
write_file() {
    local path=$1
    shift
    "$@" >"$path.new"
    if cmp -s "$path.new" "$path"; then
        rm -f "$path.new"
    else
        mv "$path.new" "$path"
    fi
}

write_configs() {
    mkdir -p "$STATE/etc/cni" "$STATE/cni" "$STATE/dns"
    write_file "$STATE/etc/containerd.toml" write_containerd
    write_file "$STATE/etc/cni/10-ptp.conflist" write_cni
    write_file "$STATE/etc/kubelet.yaml" write_kubelet
    write_file "$STATE/etc/proxy.yaml" write_proxy
    write_file "$STATE/etc/Corefile" write_corefile
    write_file "$STATE/etc/resolv.conf" echo "nameserver $NODE_IP"
    write_file "$STATE/dns/hosts" printf '%s\n' \
        "$NODE_IP git.rco.test postgres.rco.test node.rco.test" "$HOST_IP host.rco.test"
}

write_containerd() {
    cat <<EOF
version = 2
root = "$STATE/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]

[grpc]
  address = "$CONTAINERD_SOCKET"

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "$PAUSE_IMAGE"
  # Without CAP_SYS_RESOURCE no process may lower its OOM score, and pods would not start.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$STATE/etc/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
EOF
}

write_cni() {
    # Routed pods: Service addresses work between them without br_netfilter.
    cat <<EOF
{
  "cniVersion": "1.0.0",
  "name": "ptp",
  "plugins": [{
    "type": "ptp",
    "ipMasq": false,
    "ipam": {
      "type": "host-local",
      "dataDir": "$STATE/cni",
      "ranges": [[{ "subnet": "$POD_CIDR" }]],
      "routes": [{ "dst": "0.0.0.0/0" }]
    }
  }]
}
EOF
}

write_kubelet() {
    cat <<EOF
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $NODE_IP
authentication:
  anonymous: { enabled: false }
  webhook: { enabled: true }
  x509: { clientCAFile: $PKI/ca.crt }
authorization: { mode: Webhook }
tlsCertFile: $PKI/kubelet-server.crt
tlsPrivateKeyFile: $PKI/kubelet-server.key
containerRuntimeEndpoint: unix://$CONTAINERD_SOCKET
cgroupDriver: cgroupfs
cgroupRoot: /$CGROUP
clusterDNS: [$NODE_IP]
clusterDomain: cluster.local
resolvConf: $STATE/etc/resolv.conf
failSwapOn: false
makeIPTablesUtilChains: false
oomScoreAdj: 0
serializeImagePulls: false
volumePluginDir: $STATE/varlib/volume-plugins
localStorageCapacityIsolation: ${RCO_LOCAL_STORAGE_ISOLATION:-true}
# Images come by import and cannot be pulled again; a full disk is the developer's own affair.
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
evictionHard:
  memory.available: 0%
  nodefs.available: 0%
  nodefs.inodesFree: 0%
  imagefs.available: 0%
EOF
}

write_proxy() {
    cat <<EOF
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
clientConnection: { kubeconfig: $PKI/proxy.kubeconfig }
clusterCIDR: $POD_CIDR
hostnameOverride: $NODE_NAME
oomScoreAdj: 0
conntrack:
  # The connection table belongs to the machine, not to this network namespace.
  maxPerCore: 0
  min: 0
  tcpEstablishedTimeout: 0s
  tcpCloseWaitTimeout: 0s
EOF
}

write_corefile() {
    cat <<EOF
cluster.local:53 in-addr.arpa:53 {
    bind $NODE_IP
    errors
    ready 127.0.0.1:8181
    kubernetes cluster.local in-addr.arpa {
        kubeconfig $PKI/coredns.kubeconfig
        pods insecure
        ttl 2
    }
}
rco.test:53 {
    bind $NODE_IP
    hosts $STATE/dns/hosts rco.test {
        ttl 2
        reload 2s
    }
}
.:53 {
    bind $NODE_IP
    template ANY ANY . {
        rcode NXDOMAIN
    }
}
EOF
}
