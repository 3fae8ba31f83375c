"""One operator behind its own proxy. It is started again whenever it ends, as a kubelet would."""
import json
import os
import random
import socket
import subprocess
import threading
import time
import urllib.request

from cluster import Failure, poll


def free_ports(count):
    """COUNT ports in a row that nobody listens on. Outside of the range that connections get theirs from."""
    while True:
        base = random.SystemRandom().randrange(12000, 19000)
        try:
            for port in range(base, base + count):
                with socket.socket() as probe:
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    probe.bind(("127.0.0.1", port))
            return base
        except OSError:
            continue


class Instance:
    """DIRECTORY is the plan's own; its files are trace, log and kubeconfig."""

    def __init__(self, world, directory, ns, operator_ns, plain=False):
        self.world, self.directory, self.operator_ns = world, directory, operator_ns
        self.ports = free_ports(4)
        self.process = None
        self.exits = []  # of processes that nobody killed
        self.kills = 0
        self.starts = 0
        self.over = False
        self.paused = False  # not started again for now
        self.lock = threading.Lock()
        os.makedirs(directory)
        self.control_path = f"{directory}/control"
        self.token_path = f"{directory}/token"
        self.start_proxy(ns, plain)
        self.write_kubeconfig()
        self.control = socket.socket(socket.AF_UNIX)
        self.control.connect(self.control_path)
        self.answers = self.control.makefile("r")

    def start_proxy(self, ns, plain):
        pki = f"{self.world.directory}/cp/pki"
        words = [self.world.proxy, f"--port={self.ports}", f"--upstream={self.world.port}", f"--control={self.control_path}",
                 f"--trace={self.directory}/trace"]
        if not plain:
            words += [f"--cert={pki}/apiserver.crt", f"--key={pki}/apiserver.key", f"--ca={pki}/ca.crt",
                      f"--namespace={ns}", "--election=runtime-cloud-controller"]
        self.proxy = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=open(f"{self.directory}/proxy.log", "w", encoding="utf-8"))
        if self.proxy.stdout.readline() != b"ready\n":
            raise Failure("the proxy does not start: " + open(f"{self.directory}/proxy.log", encoding="utf-8").read())

    def write_token(self, text):
        """What the operator's token file says from now on; None: there is no such file. Put in place at once, as a kubelet does."""
        if text is None:
            os.unlink(self.token_path)
            return
        with open(f"{self.token_path}.new", "w", encoding="utf-8") as out:
            out.write(text)
        os.rename(f"{self.token_path}.new", self.token_path)

    def write_kubeconfig(self):
        self.write_token(self.world.token)
        with open(f"{self.directory}/kubeconfig", "w", encoding="utf-8") as out:
            json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "wire",
                       "contexts": [{"name": "wire", "context": {"cluster": "wire", "user": "operator"}}],
                       "clusters": [{"name": "wire", "cluster": {
                           "server": f"https://127.0.0.1:{self.ports}", "certificate-authority": f"{self.world.directory}/cp/pki/ca.crt"}}],
                       "users": [{"name": "operator", "user": {"tokenFile": self.token_path}}]}, out)

    def tell(self, line):
        """A command to the proxy; what it answers behind "ok"."""
        with self.lock:
            self.control.sendall(line.encode() + b"\n")
            answer = self.answers.readline().strip()
        if not answer.startswith("ok"):
            raise Failure(f"the proxy to '{line}': {answer}")
        return answer[3:]

    def stats(self):
        return json.loads(self.tell("stats"))

    # --- the operator ---

    def start(self):
        threading.Thread(target=self.supervise, daemon=True).start()

    def supervise(self):
        # It does not outlive us, whoever kills us.
        words = ["setpriv", "--pdeathsig", "KILL", self.world.binary, "--kubeconfig", f"{self.directory}/kubeconfig", "--namespace", self.operator_ns,
                 "--identity", "main", "--health-probe-bind-address", f"127.0.0.1:{self.ports + 1}",
                 "--metrics-bind-address", f"127.0.0.1:{self.ports + 2}", "--gateway-bind-address", f"127.0.0.1:{self.ports + 3}",
                 "--gateway-url", f"https://127.0.0.1:{self.ports + 3}", "--log-level", "debug"]
        with open(f"{self.directory}/log", "ab") as log:
            while not self.over:
                if self.paused:
                    time.sleep(0.05)
                    continue
                self.process = subprocess.Popen(words, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
                self.starts += 1
                try:
                    self.tell(f"pid {self.process.pid}")
                except (OSError, Failure):
                    pass
                code = self.process.wait()
                if self.over:
                    return
                if code == -9:
                    self.kills += 1
                else:
                    self.exits.append(code)
                    time.sleep(0.3)

    def is_ready(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.ports + 1}/readyz", timeout=2) as answer:
                return answer.status == 200
        except OSError:
            return False

    def await_ready(self, seconds=60):
        poll("the operator is ready", seconds, self.is_ready, 0.05)

    def crash(self):
        """SIGKILL, whatever it is doing."""
        self.process.kill()

    def stop(self, seconds=30):
        """SIGTERM; its exit code, or None when it does not end in time."""
        self.over = True
        self.process.terminate()
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def end(self):
        self.over = True
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.proxy.stdin.close()
        self.proxy.wait()
        self.control.close()

    # --- what is left of it ---

    def trace(self):
        with open(f"{self.directory}/trace", encoding="utf-8") as lines:
            return [json.loads(line) for line in lines if line.endswith("\n")]

    def writes(self):
        """The effective writes, in order."""
        return [entry for entry in self.trace() if entry.get("k")]
