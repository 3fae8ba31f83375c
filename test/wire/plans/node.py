"""Kubelet and runner of one namespace: every pod of a Job is bound, runs its engine by the gateway's protocol, and
ends. The journal has each engine start and each receipt; what must hold at that moment is looked up at once, at the API server."""
import base64
import hashlib
import http.client
import json
import ssl
import threading
import time
import urllib.parse

from cluster import RCO, Failure

IMAGE = "runtimecloud.local/runner@sha256:" + "c" * 64
WHEN = {"startedAt": "2026-01-02T03:04:05Z", "finishedAt": "2026-01-02T03:04:25Z"}
# A multiple of three bytes, at the beginning: its base64 is part of that of every text that begins with it.
CANARY = "canary-5f3a9c1e7b2d4f60"
PATIENCE = 240


def canaries():
    """What must not appear anywhere: what artifacts carry, as text and in a Secret."""
    return [CANARY, base64.b64encode(CANARY.encode()).decode().rstrip("=")[:-1]]


class Refused(Exception):
    """The gateway says never."""


class Pod:
    """One pod: from its creation to the end of its last container."""

    def __init__(self, node, pod):
        self.node, self.api, self.ns = node, node.api, node.ns
        meta = pod["metadata"]
        self.name, self.uid, self.labels = meta["name"], meta["uid"], meta["labels"]
        self.run, self.run_uid = self.labels["runtimecloud.io/run"], self.labels["runtimecloud.io/run-uid"]
        self.phase = self.labels["runtimecloud.io/phase"]
        self.account = pod["spec"]["serviceAccountName"]
        report = next(c for c in pod["spec"]["initContainers"] if c["name"] == "report")
        env = {e["name"]: e.get("value") for e in report["env"]}
        self.gateway = urllib.parse.urlparse(env["RCO_GATEWAY_URL"])
        self.trust = ssl.create_default_context(cadata=env["RCO_GATEWAY_CA"])
        engine = {e["name"]: e.get("value") for e in pod["spec"]["containers"][0]["env"]}
        self.job = json.loads(engine["RCO_JOB"])
        self.token = None
        self.ending = threading.Event()  # SIGTERM
        threading.Thread(target=self.live, daemon=True).start()

    @property
    def path(self):
        return f"/api/v1/namespaces/{self.ns}/pods/{self.name}"

    def live(self):
        try:
            self.api.call("POST", f"{self.path}/binding",
                          {"metadata": {"name": self.name}, "target": {"kind": "Node", "name": "wire"}})
            self.status("Running", {"running": {"startedAt": WHEN["startedAt"]}})
            code = self.work()
            done = {"terminated": {"exitCode": code, "reason": "Error" if code else "Completed", **WHEN}}
            self.status("Failed" if code else "Succeeded", done)
        except Exception as why:  # pylint: disable=broad-except
            self.node.note("lost", self, f"{type(why).__name__}: {why}")
        self.ended = True
        self.node.gone(self)

    ended = False

    def status(self, phase, state):
        def container(name, what):
            return {"name": name, "image": "runner", "imageID": IMAGE, "containerID": f"containerd://{name}",
                    "ready": False, "restartCount": 0, "state": what}
        done = {"terminated": {"exitCode": 0, "reason": "Completed", **WHEN}}
        report = done if "terminated" in state else state
        self.api.call("PATCH", f"{self.path}/status", {"status": {
            "phase": phase,
            "initContainerStatuses": [container("fetch", done), container("install", done), container("report", report)],
            "containerStatuses": [container("engine", state)]}})

    # --- the gateway ---

    def bearer(self):
        if not self.token:
            self.token = self.api.must("POST", f"/api/v1/namespaces/{self.ns}/serviceaccounts/{self.account}/token", {
                "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
                "spec": {"audiences": ["runtime-cloud-gateway"], "expirationSeconds": 3600,
                         "boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": self.name, "uid": self.uid}},
            })["status"]["token"]
            self.node.secrets.append(self.token)
        return self.token

    def ask(self, method, route, body, seconds=70):
        """One request: status (0 = no answer) and object."""
        headers = {"Authorization": f"Bearer {self.bearer()}", "Content-Type": "application/json"}
        connection = http.client.HTTPSConnection(self.gateway.hostname, self.gateway.port, context=self.trust, timeout=seconds)
        try:
            connection.request(method, f"/v1/runs/{self.ns}/{self.run}/{self.phase}/{route}", body, headers)
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text else {}
        except (OSError, http.client.HTTPException, ValueError):
            return 0, {}
        finally:
            connection.close()

    def insist(self, method, route, body):
        """As the runner does: until an answer comes that is not to be waited for."""
        end = time.monotonic() + PATIENCE
        while True:
            status, answer = self.ask(method, route, body)
            wait = status in (0, 429) or status >= 500 or (route == "start" and status in (401, 403, 404))
            if not wait or time.monotonic() > end or self.node.stop.is_set():
                return status, answer
            time.sleep(0.15)

    def upload(self, kind, text):
        data = text.encode()
        digest = hashlib.sha256(data).hexdigest()
        status, answer = self.insist("PUT", f"artifacts/{kind}?index=0&digest={digest}&size={len(data)}", data)
        if status // 100 != 2:
            raise Refused(f"artifact {kind}: {status} {answer.get('message')}")
        return {"kind": kind, "digest": digest, "size": len(data)}

    # --- the containers ---

    def work(self):
        """The exit code of the engine's container."""
        status, answer = self.insist("POST", "start", json.dumps({
            "protocol": 1, "runUid": self.run_uid, "project": "web", "commit": self.job["program"]["commit"],
            "workspaceDigest": "d" * 64, "runnerVersion": "0.1.0"}))
        if status != 200:
            self.node.note("refused", self, f"{status} {answer.get('message')}")
            return 1
        self.engine()
        if self.node.second_engine:
            self.engine()  # self-check: an engine that runs twice
        cancelled = self.run_engine()
        try:
            return self.report(cancelled)
        except Refused as why:
            self.node.note("given-up", self, str(why))
            return 1

    def engine(self):
        """An engine is let go: now, and not later, run and claim must name its pod."""
        self.node.note("engine", self, "")
        run = self.api.get(f"{RCO}/namespaces/{self.ns}/provisioningruns/{self.run}") or {}
        engine = run.get("status", {}).get("engine", {})
        if engine.get("podUid") != self.uid:
            self.node.fault(f"recorded-start: an engine starts in pod {self.name}, and the run's status.engine is {engine}")
        claims = self.api.items(f"/apis/coordination.k8s.io/v1/namespaces/{self.node.operator_ns}/leases")
        if not any(c["metadata"].get("annotations", {}).get("runtimecloud.io/engine-pod-uid") == self.uid for c in claims):
            self.node.fault(f"recorded-start: an engine starts in pod {self.name}, and no claim names it")

    def run_engine(self):
        """Until the workload lets it end; true when it was told to stop."""
        gate = self.node.gate(self.phase, self.run)
        while not gate.wait(0.2):
            if self.node.stop.is_set():
                raise Failure("the plan is over")
            _, answer = self.ask("POST", "heartbeat", json.dumps({"runUid": self.run_uid}), 5)
            if answer.get("action") == "Cancel" or (self.ending.is_set() and self.phase == "plan"):
                return True
        return False

    def report(self, cancelled):
        plan = self.phase == "plan"
        # The log is for everyone to read; the others are Secrets.
        artifacts = [self.upload("log", "a log\n"), self.upload("plan" if plan else "state", f"{CANARY}\n")]
        body = {
            "protocol": 1, "runUid": self.run_uid, "phase": self.phase, "result": "Succeeded",
            "programVersion": self.job["program"]["commit"], "project": "web", "stack": self.job["stack"],
            "inputsHash": "2" * 64, "workspaceDigest": "d" * 64, "baseStateDigest": "3" * 64, "operationsDigest": "4" * 64,
            "stateDigest": "5" * 64, "engineVersion": "3.274.1", "runnerVersion": "0.1.0",
            "planFileDigest": artifacts[1]["digest"] if plan else self.job["expected"]["planFileDigest"],
            "plugins": [{"name": "kubernetes", "kind": "resource", "version": "4.25.0"}],
            "adds": 2, "changes": 0, "deletes": 0, "replaces": 0, "sames": 1,
            "types": [{"type": "kubernetes:apps/v1:Deployment", "adds": 2, "changes": 0, "deletes": 0, "replaces": 0}],
            "resources": [], "truncated": False, "outputsChanged": True, "pendingOperations": 0, "mayHaveChanged": not plan,
            "artifacts": artifacts, **WHEN}
        if not plan:
            body["outputs"] = {"url": "http://web.example.com"}
        if cancelled:
            body.update(result="Failed", failure={"class": "Cancelled", "message": "stopped on request"})
        status, answer = self.insist("POST", "receipt", json.dumps(body))
        self.node.note("stopped" if cancelled else "receipt", self, f"{status} {answer.get('message', '')}")
        if status // 100 == 2:
            self.kept()
        return 1 if cancelled or status // 100 != 2 else 0

    def kept(self):
        """A receipt that was acknowledged is stored, at this moment."""
        run = self.api.get(f"{RCO}/namespaces/{self.ns}/provisioningruns/{self.run}")
        if run and f"{self.phase}Receipt" not in run.get("status", {}) and run["status"].get("state") != "Cancelled":
            self.node.fault(f"receipt-kept: the receipt of the {self.phase} of {self.run} was acknowledged and is not in its status")


class Node:
    """All pods of the namespace."""

    def __init__(self, api, ns, operator_ns):
        self.api, self.ns, self.operator_ns = api, ns, operator_ns
        self.stop = threading.Event()
        self.journal, self.faults, self.secrets = [], [], []
        self.second_engine = False
        self.pods = {}
        self.held = {}
        self.lock = threading.Lock()
        self.began = time.monotonic()
        self.thread = threading.Thread(target=self.follow, daemon=True)
        self.thread.start()

    def follow(self):
        try:
            self.api.watch(f"/api/v1/namespaces/{self.ns}/pods", self.on_pod, self.stop)
        except Exception as why:  # pylint: disable=broad-except
            self.fault(f"the harness: {type(why).__name__}: {why}")

    def on_pod(self, kind, pod):
        meta = pod["metadata"]
        if "runtimecloud.io/phase" not in meta.get("labels", {}) or kind == "DELETED":
            return
        with self.lock:
            known = self.pods.get(meta["uid"])
            if not known:
                known = self.pods[meta["uid"]] = Pod(self, pod)
        if "deletionTimestamp" in meta:
            known.ending.set()
            if known.ended:
                self.gone(known)

    def gone(self, pod):
        """A pod under deletion whose containers have ended goes; finalizers keep the object."""
        if pod.ending.is_set():
            self.api.call("DELETE", pod.path, {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0,
                                               "preconditions": {"uid": pod.uid}})

    def gate(self, phase, run):
        with self.lock:
            if phase not in self.held:
                self.held[phase] = threading.Event()
                self.held[phase].set()
            return self.held[phase]

    def hold(self, phase):
        """Engines of this phase do not end until let()."""
        with self.lock:
            self.held[phase] = threading.Event()

    def let(self, phase):
        with self.lock:
            self.held[phase].set()

    def note(self, what, pod, detail):
        with self.lock:
            self.journal.append({"s": round(time.monotonic() - self.began, 2), "what": what, "run": pod.run, "phase": pod.phase,
                                 "run_uid": pod.run_uid, "pod": pod.name, "detail": detail})

    def fault(self, text):
        with self.lock:
            self.faults.append(text)

    def engines(self, phase):
        with self.lock:
            return [entry for entry in self.journal if entry["what"] == "engine" and entry["phase"] == phase]
