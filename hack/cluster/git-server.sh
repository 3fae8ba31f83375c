#!/usr/bin/env bash
# A Git server for tests: HTTPS with an authority of its own, and SSH with keys.
#
#   git-server.sh up                    starts both, prints what `info` prints
#   git-server.sh repository NAME [DIR] makes repository NAME (public/x or private/x) if it is not
#                                       there; commits DIR's content to its branch main; prints
#                                       the commit
#   git-server.sh info                  name=value lines, see below
#   git-server.sh down                  stops both and removes the repositories
#
# Anybody may read public/; private/ and every push need the user and password (HTTPS) or the key
# (SSH). It runs where lib/service.sh says: in the cluster's node, or on loopback without one.
set -euo pipefail
# shellcheck source=lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
for part in node pki service; do
    # shellcheck source=/dev/null
    . "$CLUSTER_DIR/lib/$part.sh"
done

HTTPS_PORT=${RCO_GIT_HTTPS_PORT:-8443}
SSH_PORT=${RCO_GIT_SSH_PORT:-2222}
HOST=git.rco.test

write_secrets() {
    mkdir -p "$dir"/{ssh,repositories/public,repositories/private}
    pki_ca "$dir/pki"
    pki_issue "$dir/pki" git "/CN=$HOST" serverAuth "DNS:$HOST,DNS:localhost,IP:$SERVICE_IP"
    [ -s "$dir/password" ] || (umask 077 && openssl rand -hex 16 >"$dir/password")
    local key
    for key in host client; do
        [ -s "$dir/ssh/$key" ] || ssh-keygen -q -t ed25519 -N '' -C "$key" -f "$dir/ssh/$key"
    done
    cp "$dir/ssh/client.pub" "$dir/ssh/authorized_keys"
    local name
    for name in "$HOST" "$SERVICE_IP"; do
        echo "[$name]:$SSH_PORT $(<"$dir/ssh/host.pub")"
    done >"$dir/ssh/known_hosts"
}

write_sshd_config() {
    cat >"$dir/ssh/sshd_config" <<EOF
ListenAddress $SERVICE_IP:$SSH_PORT
HostKey $dir/ssh/host
AuthorizedKeysFile $dir/ssh/authorized_keys
ForceCommand $CLUSTER_DIR/lib/git-ssh.sh $dir/repositories
AllowUsers git
PermitRootLogin prohibit-password
AuthenticationMethods publickey
StrictModes no
UsePAM no
DisableForwarding yes
PermitTTY no
PidFile none
EOF
}

up() {
    "$CLUSTER_DIR/../deps/install.sh" cluster
    "$CLUSTER_DIR/build-tools.sh" git-server
    write_secrets
    write_sshd_config
    service_start git "$(tool git-server)" -address "$SERVICE_IP:$HTTPS_PORT" \
        -cert "$dir/pki/git.crt" -key "$dir/pki/git.key" -root "$dir/repositories" \
        -user git -password-file "$dir/password"
    service_start sshd "$CLUSTER_DIR/lib/sshd.sh" "$dir"
    wait_until 10 "Git over HTTPS" port_open "$HTTPS_PORT" ||
        daemon_fail "$SERVICE_DIR" git "the Git server does not start"
    wait_until 10 "Git over SSH" port_open "$SSH_PORT" ||
        daemon_fail "$SERVICE_DIR" sshd "the SSH server does not start"
    info
}

info() {
    [ -d "$dir" ] || die "the Git server is not up"
    local host=$HOST
    [ "$SERVICE_IP" != 127.0.0.1 ] || host=$SERVICE_IP
    # url and ssh_url are for pods; from this machine the same ports answer at `address`.
    printf '%s=%s\n' url "https://$host:$HTTPS_PORT" ssh_url "ssh://git@$host:$SSH_PORT" \
        address "$SERVICE_IP" ca "$dir/pki/ca.crt" user git password_file "$dir/password" \
        ssh_key "$dir/ssh/client" known_hosts "$dir/ssh/known_hosts" \
        repositories "$dir/repositories"
}

repository() { # NAME [DIR]
    local name=${1%.git} source=${2:-} bare index tree parent
    [[ $name =~ ^(public|private)/[A-Za-z0-9._-]+$ ]] ||
        die "a repository is named public/NAME or private/NAME, not '$1'"
    [ -d "$dir" ] || die "the Git server is not up"
    bare=$dir/repositories/$name.git
    [ -d "$bare" ] || git init -q --bare --initial-branch=main "$bare"
    # What a client asks for by commit must be served, not only the tips of branches.
    git -C "$bare" config uploadpack.allowAnySHA1InWant true
    [ -n "$source" ] || return 0
    index=$(mktemp -u "$dir/index.XXXXXX")
    tree=$(cd "$source" && export GIT_DIR=$bare GIT_WORK_TREE=. GIT_INDEX_FILE=$index &&
        git add --all --force . && git write-tree)
    rm -f "$index"
    parent=$(git -C "$bare" rev-parse -q --verify refs/heads/main || true)
    if [ -n "$parent" ] && [ "$(git -C "$bare" rev-parse "$parent^{tree}")" = "$tree" ]; then
        echo "$parent"
        return 0
    fi
    export GIT_AUTHOR_NAME=test GIT_AUTHOR_EMAIL=test@rco.test
    export GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test@rco.test
    # shellcheck disable=SC2086
    parent=$(git -C "$bare" commit-tree ${parent:+-p $parent} -m "content of $name" "$tree")
    git -C "$bare" update-ref refs/heads/main "$parent"
    echo "$parent"
}

usage="usage: git-server.sh up | down | info | repository NAME [DIR]"
need_root
service_place
dir=$SERVICE_DIR/git
case "${1:-}" in
up) up ;;
info) info ;;
repository) repository "${@:2}" ;;
down)
    daemon_stop "$SERVICE_DIR" git
    daemon_stop "$SERVICE_DIR" sshd
    rm -rf "$dir"
    service_forget git sshd
    ;;
*) die "$usage" ;;
esac
