# Programs in Python, by the image `runner-python`: pip without a package index, plan, apply; what a program may print.
# shellcheck shell=bash disable=SC2154,SC2034
# One volume, so one run at a time.
PATIENCE=400
image=runtimecloud.local/runtime-cloud-runner-python:$VERSION
environment dev "$(jq -n --arg image "$image" '{runner: {image: $image, pod: {env: [{name: "PIP_NO_INDEX", value: "1"}]}}}')" >/dev/null
config_map settings word=hello
secret dev-password "password=$(canary python-password)"
references='{"configRefs": [{"key": "word", "configMapKeyRef": {"name": "settings", "key": "word"}}],
    "secretRefs": [{"key": "password", "secretKeyRef": {"name": "dev-password", "key": "password"}}],
    "exportOutputs": ["text", "password"]}'

# python NAME [REQUIREMENT...]: commits a program whose __main__.py is read from standard input; prints the commit.
python() {
    local name=$1
    shift
    mkdir -p "$dir/$name"
    printf 'name: %s\nruntime: python\n' "$name" >"$dir/$name/Pulumi.yaml"
    printf '%s\n' pulumi==3.272.0 "$@" >"$dir/$name/requirements.txt"
    cat >"$dir/$name/__main__.py"
    commit "$name"
}

page=$(python page pulumi-kubernetes==4.25.0 <<PY
import pulumi
import pulumi_kubernetes as kubernetes

config = pulumi.Config()
page = kubernetes.core.v1.ConfigMap(
    "page", metadata={"name": "page", "namespace": "$ns"}, data={"text": config.require("word")})
print("the word is", config.require("word"))
print("the password is", config.require("password"))
pulumi.export("text", page.data["text"])
pulumi.export("password", config.require_secret("password"))
PY
)
# 100 MB at each preview, and all bytes that are no text, to both outputs.
noise=$(python noise <<'PY'
import os
import sys
import pulumi

if pulumi.runtime.is_dry_run():
    for i in range(100_000):
        print(i, "0123456789abcdef" * 64)
sys.stdout.flush()
os.write(1, bytes(range(256)) * 256 + b"\n")
os.write(2, b"\xff\xfe\x00 a warning\n")
pulumi.export("text", "loud")
PY
)
raises=$(python raises <<'PY'
raise RuntimeError("the program gives up here")
PY
)
missing=$(python missing no-such-package==1.0 </dev/null)

specification page page "$page" "$references" >/dev/null
specification missing missing "$missing" >/dev/null
if applies 'a program in Python' "$(run_of page)"; then
    run=$(run_of page)
    equal 'the ConfigMap that it makes' hello "$(get configmap/page .data.text)"
    equal 'outputs: those that are not secret' '{"text":"hello"}' "$(k get prun "$run" -o json | jq -c .status.applyReceipt.outputs)"
    equal 'the plan has the resources' 'kubernetes:core/v1:ConfigMap' \
        "$(k get prun "$run" -o json | jq -r '.status.planReceipt.types[].type' | grep ConfigMap)"
    log_has "$run" 'the word is hello'
    log_has "$run" 'the password is [secret]'
    note "$(k get prun "$run" -o json | jq -r '((.status.completedAt | sub("\\.[0-9]+"; "") | fromdate) - (.metadata.creationTimestamp | fromdate))') s from version to Applied"
    config_map settings word=changed
    applies 'a changed value' "$(run_of page 2)" && equal 'it is there' changed "$(get configmap/page .data.text)"
fi
fails missing Source 'pip install: Could not find a version that satisfies the requirement no-such-package==1.0'
specification raises raises "$raises" >/dev/null
specification noise noise "$noise" '{"exportOutputs": ["text"]}' >/dev/null
fails raises Source 'the program gives up here' && log_has "$(run_of raises)" '__main__.py'

run=$(run_of noise)
if applies 'a program that prints binary and 100 MB' "$run"; then
    equal 'its output is there' loud "$(get "prun/$run" .status.applyReceipt.outputs.text)"
    for phase in plan apply; do
        rc run logs "$run" -n "$ns" --phase "$phase" >"$dir/log"
        equal "the log of the $phase can be read" 0 $?
        size=$(stat -c %s "$dir/log")
        check "the log of the $phase is capped at 4 MiB, and has that much" [ "$size" -gt 3000000 -a "$size" -le 4300000 ]
        check "the log of the $phase is text" iconv -f UTF-8 -t UTF-8 -o /dev/null "$dir/log"
        contains "the log of the $phase has its beginning" '0 0123456789abcdef' "$(head -c 4000 "$dir/log")"
        contains "the log of the $phase has its end" 'a warning' "$(tail -c 400000 "$dir/log" | tr -d '\0')"
    done
    # What the containers wrote is what the kubelet keeps; the wrapper prints none of the program's output there.
    check 'the operator is as it was' operator rollout status deployment/runtime-cloud-operator --timeout=5s
fi
