# Certificates and kubeconfigs by openssl. Source, do not run.
# shellcheck shell=bash
#
# All files of one authority lie in one directory: ca.crt, ca.key, NAME.crt, NAME.key. What is there
# is kept. Keys are P-256; certificates are good for a year, which outlives any test cluster.

pki_ca() { # DIR
    local dir=$1
    [ ! -s "$dir/ca.crt" ] || return 0
    mkdir -p "$dir"
    chmod 0700 "$dir"
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 365 \
        -subj "/CN=runtime-cloud test authority" -keyout "$dir/ca.key" -out "$dir/ca.crt.new" \
        -addext "basicConstraints=critical,CA:TRUE" \
        -addext "keyUsage=critical,keyCertSign,cRLSign,digitalSignature" 2>/dev/null
    mv "$dir/ca.crt.new" "$dir/ca.crt"
}

pki_issue() { # DIR NAME SUBJECT USAGE [SUBJECT-ALT-NAMES]; USAGE is clientAuth, serverAuth or both
    local dir=$1 name=$2 subject=$3 usage=$4 sans=${5:-}
    [ ! -s "$dir/$name.crt" ] || return 0
    openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "$subject" \
        -keyout "$dir/$name.key" -out "$dir/$name.csr" 2>/dev/null
    {
        echo "basicConstraints=critical,CA:FALSE"
        echo "keyUsage=critical,digitalSignature"
        echo "extendedKeyUsage=$usage"
        [ -z "$sans" ] || echo "subjectAltName=$sans"
    } >"$dir/$name.ext"
    openssl x509 -req -in "$dir/$name.csr" -CA "$dir/ca.crt" -CAkey "$dir/ca.key" -days 365 \
        -set_serial "0x$(openssl rand -hex 8)" -extfile "$dir/$name.ext" \
        -out "$dir/$name.crt.new" 2>/dev/null
    rm -f "$dir/$name.csr" "$dir/$name.ext"
    mv "$dir/$name.crt.new" "$dir/$name.crt"
}

pki_service_account_key() { # DIR: sa.key and sa.pub, which sign and verify ServiceAccount tokens
    [ ! -s "$1/sa.pub" ] || return 0
    openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1/sa.key" 2>/dev/null
    openssl pkey -in "$1/sa.key" -pubout -out "$1/sa.pub"
}

# The names that a Kubernetes API server's certificate carries, then what is given.
pki_apiserver_names() { # ENTRY... (DNS:x or IP:x)
    local names=DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc
    names+=,DNS:kubernetes.default.svc.cluster.local,DNS:localhost,IP:127.0.0.1
    local entry
    for entry in "$@"; do names+=,$entry; done
    echo "$names"
}

kubeconfig_paths() { # PKI-DIR NAME SERVER: prints a kubeconfig that names the files
    kubeconfig_print "$3" "certificate-authority: $1/ca.crt" \
        "client-certificate: $1/$2.crt" "client-key: $1/$2.key"
}

kubeconfig_inline() { # PKI-DIR NAME SERVER: prints a kubeconfig that carries their content
    kubeconfig_print "$3" "certificate-authority-data: $(base64 -w0 "$1/ca.crt")" \
        "client-certificate-data: $(base64 -w0 "$1/$2.crt")" \
        "client-key-data: $(base64 -w0 "$1/$2.key")"
}

kubeconfig_print() { # SERVER CA CERTIFICATE KEY
    cat <<EOF
apiVersion: v1
kind: Config
clusters:
  - name: test
    cluster:
      server: $1
      $2
users:
  - name: user
    user:
      $3
      $4
contexts:
  - name: test
    context:
      cluster: test
      user: user
current-context: test
EOF
}
