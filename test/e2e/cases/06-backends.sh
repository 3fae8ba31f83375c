# Where the state is: PostgreSQL with a passphrase of one's own; a store that cannot be reached, refuses, or is full.
# shellcheck shell=bash disable=SC2154,SC2034
postgres() { value "$1" <<<"$postgres_info"; }
password=$(cat "$(postgres password_file)")
echo "$password $case:postgres" >>"$WORK/canaries"
passphrase=$(canary passphrase)
secret passphrase "passphrase=$passphrase"
secret postgres "PGUSER=$(postgres user)" "PGPASSWORD=$password"
secret postgres-wrong "PGUSER=$(postgres user)" "PGPASSWORD=$(canary wrong-postgres-password)"
secret passphrase-wrong "passphrase=$(canary wrong-passphrase)"
url="postgres://postgres.rco.test:$(postgres port)/$(postgres database)?sslmode=disable"
backend() { # NAME URL CREDENTIALS PASSPHRASE
    environment "$1" "{\"backend\": {\"url\": \"$2\", \"credentialsSecretRef\": {\"name\": \"$3\"}, \"passphraseSecretRef\": {\"name\": \"$4\"}}}"
}
# The database outlives a namespace.
unique=$ns-$(od -An -N4 -tx1 /dev/urandom | tr -d ' ')
in_env() { echo "{\"environmentId\": \"$1\", \"stackName\": \"$unique-${2:-$1}\"}"; }
commit=$(null_program nothing)
secret dev-password "password=$(canary database-password)"
page=$(page_program page 'kept in a database')
page2=$(page_program page 'kept in a database, changed')

refused 'a password in the URL' 'must not carry' backend refused "postgres://me:secret@postgres.rco.test/pulumi" postgres passphrase
refused 'a file backend of a person' 'backend' backend refused "file:///tmp/state" postgres passphrase

backend good "$url" postgres passphrase >/dev/null
backend port "${url/:$(postgres port)/:1}" postgres passphrase >/dev/null
backend password "$url" postgres-wrong passphrase >/dev/null
backend host "postgres://nowhere.rco.test/pulumi?sslmode=disable" postgres passphrase >/dev/null
backend gone "$url" no-such-secret passphrase >/dev/null
backend gone-passphrase "$url" postgres no-such-passphrase >/dev/null
specification good page "$page" "{\"environmentId\": \"good\", \"stackName\": \"$unique-good\",
    \"secretRefs\": [{\"key\": \"password\", \"secretKeyRef\": {\"name\": \"good-password\", \"key\": \"password\"}}]}" >/dev/null
secret good-password "password=$(canary good-password)"
for name in port password host gone gone-passphrase; do
    specification "$name" nothing "$commit" "$(in_env "$name")" >/dev/null
done

applies 'PostgreSQL: the first version' "$(run_of good)"
change depspec/good "{\"spec\": {\"programVersion\": \"$page2\"}}" >/dev/null
applies 'PostgreSQL: the second version' "$(run_of good)"
equal 'PostgreSQL: what it deployed' 'kept in a database, changed' "$(get configmap/page .data.text)"
equal 'PostgreSQL: the Environment makes no claim' '' "$(get renv/good .status.stateClaim)"
fails port Config 'refused'
fails password Auth 'password authentication failed'
fails host Config 'nowhere.rco.test'
fails gone Config 'Secret no-such-secret'
fails gone-passphrase Config 'Secret no-such-passphrase'

# Another passphrase than the stack was made with.
change renv/good '{"spec": {"backend": {"passphraseSecretRef": {"name": "passphrase-wrong"}}}}' >/dev/null
run_now good
run=$(run_of good 2)
until_true 30 k get prun "$run"
fails good Auth 'passphrase' "$run"

# A second specification on the stack of the first, in another Environment of the same store: refused.
backend second "$url" postgres passphrase >/dev/null
specification second page "$page" "$(in_env second good)" >/dev/null
fails second Config 'good'
equal 'a stack of another specification: the reason' StackClaimed "$(get "prun/$(run_of second)" .status.reason)"
equal 'a stack of another specification: nothing changed' 'kept in a database, changed' "$(get configmap/page .data.text)"
