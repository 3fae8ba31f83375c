"""A place to run the four verbs of the runner as processes, without a cluster: a Git server and a
gateway over HTTPS, a directory that stands for a pod's volumes, the real Pulumi CLI.

Only for the component test of the runner: it checks what the runner says and does, not the
operator's side of the protocol."""

import base64
import hashlib
import http.server
import json
import os
import pathlib
import shutil
import signal
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.parse

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
RUNNER = pathlib.Path(os.environ.get("RCO_RUNNER", REPOSITORY / "build/bin/runtime-cloud-runner"))
CHUNK = 512 * 1024
GIT_USER, GIT_PASSWORD = "deployer", "git-canary-Zm9v"
TOKEN = "gateway-canary-token"


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def run(*argv, **kw):
    return subprocess.run([str(a) for a in argv], check=True, capture_output=True, **kw).stdout.decode()


def session_members(session):
    members = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.getsid(int(entry.name)) == session:
                members.append(int(entry.name))
        except ProcessLookupError:
            pass
    return members


def make_certificate(directory):
    key, cert = directory / "tls.key", directory / "tls.crt"
    run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out",
        cert, "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")
    return cert, key


class Gateway:
    """What it is told to answer stands in `script`: route -> list of (status, body), then 200."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.script, self.requests, self.chunks, self.receipts = {}, [], {}, []
        self.ended_pods, self.cancel, self.tokens = [], False, set()
        self.connections, self.times = [], []

    def answer(self, method, path, query, headers, body):
        route = "/".join(path.split("/")[6:])
        self.requests.append((method, route, query))
        self.tokens.add(headers.get("Authorization"))
        planned = self.script.get(route) or self.script.get(route.split("/")[0])
        if planned:
            return planned.pop(0)
        if route == "start":
            return 200, {"endedPods": self.ended_pods}
        if route == "heartbeat":
            return 200, {"action": "Cancel" if self.cancel else "Continue"}
        if route == "receipt":
            self.receipts.append(json.loads(body))
            return 200, {}
        if route.startswith("artifacts/"):
            kind = route.split("/")[1]
            key = (kind, query["digest"][0], int(query["size"][0]))
            self.chunks.setdefault(key, {})[int(query["index"][0])] = body
            return 201, {}
        return 404, {"message": "no such route"}

    def artifact(self, kind):
        found = [(k, v) for k, v in self.chunks.items() if k[0] == kind]
        assert len(found) == 1, f"{kind}: {[k for k, _ in found]}"
        (_, digest, size), parts = found[0]
        data = b"".join(parts[i] for i in range(len(parts)))
        assert len(data) == size and sha256(data) == digest, f"{kind}: digest or size is wrong"
        assert all(len(parts[i]) == CHUNK for i in range(len(parts) - 1))
        return data


class Servers:
    """One HTTPS server for both: /git/... is `git http-backend`, /v1/... the gateway."""

    def __init__(self, directory):
        self.gateway, self.directory = Gateway(), directory
        self.repositories = directory / "repositories"
        self.repositories.mkdir()
        self.cert, key = make_certificate(directory)
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def serve(self):
                url = urllib.parse.urlsplit(self.path)
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if url.path.startswith("/git/"):
                    return outer.git(self, url, body)
                outer.gateway.connections.append(self.client_address[1])
                outer.gateway.times.append(time.monotonic())
                status, answer = outer.gateway.answer(
                    self.command, url.path, urllib.parse.parse_qs(url.query), self.headers, body)
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PUT = serve

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.cert, key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"https://localhost:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def git(self, handler, url, body):
        path = url.path[len("/git"):]
        if path.startswith("/moved/"):
            handler.send_response(302)
            handler.send_header("Location", f"{self.url}/git/public/{path[7:]}?{url.query}")
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        want = "Basic " + base64.b64encode(f"{GIT_USER}:{GIT_PASSWORD}".encode()).decode()
        if path.startswith("/private/") and handler.headers.get("Authorization") != want:
            handler.send_response(401)
            handler.send_header("WWW-Authenticate", 'Basic realm="git"')
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        env = {"GIT_PROJECT_ROOT": str(self.repositories), "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path,
               "QUERY_STRING": url.query, "REQUEST_METHOD": handler.command, "PATH": os.environ["PATH"],
               "CONTENT_TYPE": handler.headers.get("Content-Type", ""), "REMOTE_ADDR": "127.0.0.1",
               "CONTENT_LENGTH": str(len(body)), "GIT_CONFIG_NOSYSTEM": "1", "HOME": "/nonexistent",
               "GIT_PROTOCOL": handler.headers.get("Git-Protocol", ""),
               "HTTP_CONTENT_ENCODING": handler.headers.get("Content-Encoding", ""),
               "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
        out = subprocess.run(["git", "http-backend"], input=body, env=env, capture_output=True).stdout
        head, _, data = out.partition(b"\r\n\r\n")
        status, lines = 200, []
        for line in head.decode().split("\r\n"):
            name, _, value = line.partition(": ")
            if name == "Status":
                status = int(value.split()[0])
            elif name:
                lines.append((name, value))
        handler.send_response(status)
        for name, value in lines:
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class Repository:
    def __init__(self, servers, name, where="public"):
        self.work = servers.directory / "work" / name
        self.bare = servers.repositories / where / f"{name}.git"
        self.url = f"{servers.url}/git/{where}/{name}.git"
        self.work.mkdir(parents=True)
        run("git", "init", "-q", "-b", "main", self.work)
        run("git", "init", "-q", "--bare", self.bare)

    def git(self, *argv):
        env = dict(os.environ, GIT_CONFIG_GLOBAL="/dev/null", GIT_AUTHOR_NAME="t", GIT_AUTHOR_EMAIL="t@t",
                   GIT_COMMITTER_NAME="t", GIT_COMMITTER_EMAIL="t@t")
        return run("git", "-C", self.work, *argv, env=env).strip()

    def commit(self, files, push="main"):
        for name, text in files.items():
            path = self.work / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(text, tuple):  # a symbolic link
                path.symlink_to(text[0])
            else:
                path.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "change")
        self.git("push", "-q", "--force", str(self.bare), f"HEAD:{push}")
        return self.git("rev-parse", "HEAD")


class Tools:
    """The real engine, in one directory as in the runner image."""

    def __init__(self, directory):
        self.bin, self.plugins = directory / "bin", directory / "plugins"
        self.bin.mkdir()
        self.plugins.mkdir()
        build = REPOSITORY / "hack/cluster/build-tools.sh"
        for name in ("pulumi", "pulumi-language-yaml"):
            shutil.copy(run(build, "--path", name).strip(), self.bin / name)
        provider = run(build, "--path", "pulumi-resource-kubernetes").strip()
        version = pathlib.Path(provider).parent.name.split("-")[3]
        self.kubernetes = version
        place = self.plugins / f"resource-kubernetes-v{version}"
        place.mkdir()
        os.symlink(provider, place / "pulumi-resource-kubernetes")


class Stack:
    """State, passphrase and HMAC key of one environment; outlives pods."""

    def __init__(self, directory, name="dev"):
        self.name = name
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="stack-", dir=directory))
        self.state = self.directory / "state"
        self.state.mkdir()
        self.passphrase = "passphrase-canary-J5d8"
        self.hmac = "aGhtYWMta2V5LWNhbmFyeS0xMjM0NTY3ODkw"


class Pod:
    """One runner pod: a root directory, the job, four verbs."""

    def __init__(self, servers, tools, stack, program, phase="plan", expected=None, path_first=None,
                 configs=(), secrets=(), **more):
        self.servers, self.tools, self.stack, self.phase = servers, tools, stack, phase
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="pod-", dir=servers.directory))
        self.tmp = self.root / "tmp"
        for name in ("workspace", "fetch", "install", "control", "stream", "pulumi", "token", "git",
                     "git-ca", "config", "secrets", "passphrase", "hmac", "plan", "tmp", "log"):
            (self.root / name).mkdir()
        self.write("token/token", TOKEN)
        self.write("git-ca/ca.crt", servers.cert.read_text())
        self.write("passphrase/passphrase", stack.passphrase)
        self.write("hmac/key", stack.hmac)
        os.symlink(stack.state, self.root / "state")
        repository, path, commit = program
        self.job = {
            "protocol": 1, "namespace": "team", "run": "shop-1a2b3-v1-b1", "runUid": "uid-" + "1" * 32,
            "phase": phase, "specificationUid": "spec-uid", "specificationVersion": 1,
            "program": {"repository": repository, "path": path, "commit": commit},
            "stack": stack.name,
            "git": {"credentials": False, "ca": True, "caSecret": "git-ca"},
            "backend": {"url": f"file://{stack.state}", "secretsProvider": "passphrase",
                        "passphraseSecret": "rco-dev-pass-1"},
            "hmacSecret": "rco-dev-hmac-1", "guard": "Strict", "timeoutSeconds": 600,
            "graceSeconds": 180, "configs": [], "secrets": []}
        for i, (key, value) in enumerate(configs):
            self.job["configs"].append({"key": key, "configMap": "settings", "configMapKey": key.split(":")[-1],
                                        "valueHash": sha256(value.encode())})
            self.write(f"config/{i}", value)
        for i, (key, value) in enumerate(secrets):
            ref = {"secret": "dev-secrets", "secretKey": key.lstrip("$").split(":")[-1]}
            ref["env" if key.startswith("$") else "key"] = key.lstrip("$")
            self.job["secrets"].append(ref)
            if value is not None:
                self.write(f"secrets/{i}", value)
        if expected:
            self.job["expected"] = expected
        self.job.update(more)
        path_dirs = [str(p) for p in ([path_first] if path_first else []) + [tools.bin]]
        self.env = {"PATH": ":".join(path_dirs + ["/usr/local/bin", "/usr/bin", "/bin"]),
                    "TMPDIR": str(self.tmp), "RCO_GATEWAY_URL": servers.url,
                    "RCO_GATEWAY_CA": servers.cert.read_text(), "RCO_IMAGE_PLUGINS": str(tools.plugins),
                    "HTTPS_PROXY": "http://127.0.0.1:1",  # the gateway is never reached through a proxy
                    "PULUMI_EXPERIMENTAL": "true", "PULUMI_CONFIG_PASSPHRASE": "of the wrong environment"}
        self.processes = {}

    def write(self, name, data):
        path = self.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())

    def mount_plan(self, bundle):
        for i in range(0, len(bundle), CHUNK):
            self.write(f"plan/{i // CHUNK}", bundle[i:i + CHUNK])

    def argv(self, verb):
        return [str(RUNNER), verb, "--root", str(self.root), "--termination-log",
                str(self.root / "log" / f"{verb}.json")]

    def environment(self):
        return dict(self.env, RCO_JOB=json.dumps(self.job))

    def verb(self, verb, timeout=120):
        with open(self.root / "log" / f"{verb}.out", "wb") as out:
            return subprocess.run(self.argv(verb), env=self.environment(), stdout=out, stderr=out,
                                  timeout=timeout).returncode

    def start(self, verb):
        with open(self.root / "log" / f"{verb}.out", "ab") as out:
            self.processes[verb] = subprocess.Popen(self.argv(verb), env=self.environment(), stdout=out,
                                                    stderr=out, start_new_session=True)
        return self.processes[verb]

    def prepare(self):
        for verb in ("fetch", "install"):
            code = self.verb(verb)
            assert code == 0, f"{verb}: {code}\n{self.output(verb)}"

    def operate(self, timeout=120):
        """report and engine side by side until the engine's container ends; then report gets SIGTERM."""
        self.start("report")
        engine = self.start("engine")
        code = engine.wait(timeout)
        self.end_report()
        return code

    def end_report(self, timeout=30):
        self.processes["report"].send_signal(signal.SIGTERM)
        return self.processes["report"].wait(timeout)

    def all(self):
        self.prepare()
        return self.operate()

    def wait_for(self, condition, timeout=60):
        end = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < end, f"waited in vain\n{self.output('engine')}\n{self.output('report')}"
            time.sleep(0.05)

    def summary(self, verb):
        text = (self.root / "log" / f"{verb}.json").read_bytes()
        assert len(text) <= 4096
        return json.loads(text)

    def output(self, verb):
        path = self.root / "log" / f"{verb}.out"
        return path.read_text(errors="replace") if path.exists() else ""

    def stop(self):
        """Ends whatever is left in the sessions of our own processes."""
        for process in self.processes.values():
            for pid in session_members(process.pid):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            process.wait()
