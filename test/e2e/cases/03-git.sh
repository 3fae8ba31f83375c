# Git: private repositories by HTTPS and SSH, and everything that can be wrong with where a program is.
# shellcheck shell=bash disable=SC2154,SC2034
commit=$(null_program good)
private=$(visibility=private null_program good)
environment dev >/dev/null

# --- refused by the API server: the user sees it at once ---
refused 'a branch in place of a commit' 'must be a full commit id' specification refused good main
refused 'a short commit id' 'must be a full commit id' specification refused good "${commit:0:12}"
ref() { specification refused good "$commit" "{\"programRef\": \"$1\"}"; }
refused 'another scheme' 'begins with https:// or ssh://' ref "git://git.rco.test/x.git//."
refused 'scp notation' 'write ssh://git@host/path' ref "git@git.rco.test:x.git//."
refused 'a password in the URL' 'must not carry a user name or password' ref "https://me:secret@git.rco.test/x.git//."
refused 'a path that leaves the repository' "must not contain '..'" ref "$GIT_URL/public/x.git//../../etc"
refused 'an absolute path' 'must be relative' ref "$GIT_URL/public/x.git///etc"

# --- private repositories ---
git_env() { # NAME JSON: an Environment with that `git`; ConfigMaps are not used here
    environment "$1" "{\"git\": $2}" >/dev/null
}
password=$(canary wrong-password)
secret git-good "username=$GIT_USER" "password=$GIT_PASSWORD"
secret git-wrong "username=$GIT_USER" "password=$password"
known_hosts=$(<"$GIT_KNOWN_HOSTS")
k create secret generic git-ssh --from-file=ssh-privatekey="$GIT_SSH_KEY" --from-file=known_hosts="$GIT_KNOWN_HOSTS" >/dev/null
ssh-keygen -q -t ed25519 -N '' -f "$dir/other-key"
sed "s|ssh-ed25519 .*|$(cut -d' ' -f1,2 "$dir/other-key.pub")|" "$GIT_KNOWN_HOSTS" >"$dir/other-hosts"
k create secret generic git-ssh-host --from-file=ssh-privatekey="$GIT_SSH_KEY" --from-file=known_hosts="$dir/other-hosts" >/dev/null
k create secret generic git-ssh-key --from-file=ssh-privatekey="$dir/other-key" --from-file=known_hosts="$GIT_KNOWN_HOSTS" >/dev/null
k create secret generic git-ssh-unpinned --from-file=ssh-privatekey="$GIT_SSH_KEY" >/dev/null
allowed="\"allowedRepositories\": [\"$GIT_URL/private/\", \"$GIT_SSH_URL/private/\"]"
for name in good wrong ssh ssh-host ssh-key ssh-unpinned; do
    git_env "$name" "{$allowed, \"credentialsSecretRef\": {\"name\": \"git-$name\"}}"
done
git_env none "{$allowed}"
git_env gone "{$allowed, \"credentialsSecretRef\": {\"name\": \"git-gone\"}}"
git_env elsewhere "{\"allowedRepositories\": [\"https://git.example.com/team/\"], \"credentialsSecretRef\": {\"name\": \"git-good\"}}"
git_env no-ca '{"caSecretRef": null}'

private_spec() { # ENVIRONMENT
    visibility=private specification "$1" good "$private" "{\"environmentId\": \"$1\"}" >/dev/null
}
ssh_spec() { # ENVIRONMENT
    specification "$1" good "$private" "{\"environmentId\": \"$1\", \"programRef\": \"$GIT_SSH_URL/private/$ns-good.git//.\"}" >/dev/null
}
public_spec() { # NAME COMMIT MERGE
    specification "$1" good "$2" "$3" >/dev/null
}

# All of them at once; what each ends in is looked at below.
private_spec good
private_spec wrong
private_spec none
private_spec gone
ssh_spec ssh
ssh_spec ssh-host
ssh_spec ssh-key
ssh_spec ssh-unpinned
private_spec elsewhere
public_spec no-ca "$commit" '{"environmentId": "no-ca"}'

applies 'a private repository with its password' "$(run_of good)"
applies 'a private repository over SSH with a pinned host' "$(run_of ssh)"
fails wrong Auth 'the server refuses the mounted credentials'
fails none Auth 'the repository needs credentials'
fails gone Config 'Secret git-gone'
fails ssh-host Auth 'ost key'
fails ssh-key Auth 'Permission denied'
fails ssh-unpinned Config 'known_hosts'
fails no-ca Source 'certificate'

# A program outside of allowedRepositories makes no run and gets no credentials.
await depspec/elsewhere '.status.conditions[?(@.type=="Stalled")].status=True' 20
equal 'a repository that is not allowed: no run' 0 "$(runs_of elsewhere)"
contains 'a repository that is not allowed: the condition' allowedRepositories "$(condition depspec/elsewhere Ready message)"
await_event elsewhere Warning allowedRepositories && ok 'a repository that is not allowed: an Event' ||
    not_ok 'a repository that is not allowed: an Event' "$(events elsewhere)"
# Without the list a program may come from anywhere, so that there must be no credentials.
refused 'credentials without a list of repositories' 'credentialsSecretRef needs allowedRepositories' \
    environment no-list '{"git": {"allowedRepositories": null, "credentialsSecretRef": {"name": "git-good"}}}'

# --- what is not in the repository ---
mkdir -p "$dir/tree/empty" "$dir/tree/inside"
cp "$dir/good/Pulumi.yaml" "$dir/tree/inside/"
ln -s / "$dir/tree/out"
ln -s ../../../../../etc "$dir/tree/inside/etc"
ln -s inside "$dir/tree/link"
touch "$dir/tree/empty/nothing"
tree=$(commit tree)
tree_spec() { # NAME PATH
    specification "$1" tree "$tree" "{\"programRef\": \"$(repository tree)//$2\"}" >/dev/null
}
public_spec no-commit 00000000000000000000000000000000000000aa '{}'
specification no-repository nowhere "$commit" >/dev/null
specification no-host good "$commit" "{\"environmentId\": \"anywhere\", \"programRef\": \"https://nowhere.rco.test/x.git//.\"}" >/dev/null
git_env anywhere '{"allowedRepositories": null}'
tree_spec sub-path inside
tree_spec no-path missing
tree_spec no-program empty
tree_spec leaves out/etc
tree_spec leaves-deep inside/etc

applies 'a program in a directory of the repository' "$(run_of sub-path)"
fails no-commit Source 00000000000000000000000000000000000000aa
fails no-repository Source 'not found'
fails no-host Source 'nowhere.rco.test'
fails no-path Source 'missing'
fails no-program Source 'Pulumi.yaml'
fails leaves Source 'out'
fails leaves-deep Source 'inside/etc'
rc run logs "$(run_of no-commit)" -n "$ns" >"$dir/log" 2>&1
equal 'the log of a failed fetch can be read' 0 $?
contains 'the log of a failed fetch' 00000000000000000000000000000000000000aa "$(<"$dir/log")"
