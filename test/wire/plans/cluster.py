"""The API server as an administrator sees it, and its audit log."""
import http.client
import json
import ssl
import threading
import time
import urllib.parse

RCO = "/apis/runtimecloud.io/v1alpha1"


class Failure(Exception):
    """A plan cannot go on, or an oracle has found something."""


class Api:
    """Requests over connections that are kept, one for each thread."""

    def __init__(self, directory, port):
        self.port = port
        self.context = ssl.create_default_context(cafile=f"{directory}/cp/pki/ca.crt")
        self.context.load_cert_chain(f"{directory}/cp/pki/admin.crt", f"{directory}/cp/pki/admin.key")
        self.local = threading.local()

    def connect(self, timeout):
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=self.context, timeout=timeout)

    def call(self, method, path, body=None):
        """Status and object of the answer. A connection that was closed meanwhile is made anew, once."""
        headers = {"Content-Type": "application/merge-patch+json" if method == "PATCH" else "application/json"}
        data = None if body is None else json.dumps(body)
        for attempt in (1, 2):
            connection = getattr(self.local, "connection", None) or self.connect(30)
            self.local.connection = connection
            try:
                connection.request(method, path, data, headers)
                answer = connection.getresponse()
                text = answer.read()
                return answer.status, json.loads(text) if text else {}
            except (OSError, http.client.HTTPException):
                connection.close()
                self.local.connection = None
                if attempt == 2:
                    raise
        raise AssertionError

    def must(self, method, path, body=None):
        status, answer = self.call(method, path, body)
        if status // 100 != 2:
            raise Failure(f"{method} {path}: {status} {answer.get('message')}")
        return answer

    def get(self, path):
        """The object, or None when there is none."""
        status, answer = self.call("GET", path)
        if status == 404:
            return None
        if status != 200:
            raise Failure(f"GET {path}: {status} {answer.get('message')}")
        return answer

    def items(self, path):
        return self.must("GET", path)["items"]

    def watch(self, path, handle, stop):
        """Lists, then watches until STOP is set: HANDLE(type, object) for each."""
        while not stop.is_set():
            listed = self.must("GET", path)
            for item in listed["items"]:
                handle("ADDED", item)
            query = urllib.parse.urlencode({"watch": "true", "timeoutSeconds": 300,
                                            "resourceVersion": listed["metadata"]["resourceVersion"]})
            connection = self.connect(1)
            try:
                connection.request("GET", f"{path}?{query}")
                self.frames(connection, handle, stop)
            except (OSError, http.client.HTTPException):
                time.sleep(0.2)
            finally:
                connection.close()

    @staticmethod
    def frames(connection, handle, stop):
        answer = connection.getresponse()
        sock = answer.fp.raw._sock  # the answer's own socket: readline must give up now and then
        rest = b""
        while not stop.is_set():
            try:
                sock.settimeout(0.5)
                piece = answer.read1(65536)
            except TimeoutError:
                # A buffered reader refuses to go on after a timeout.
                answer.fp.raw._timeout_occurred = False
                continue
            if not piece:
                return
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                frame = json.loads(line)
                if frame["type"] == "ERROR":
                    return
                handle(frame["type"], frame["object"])


class Audit:
    """What the operators asked, read from the log as it grows, by namespace: independent of any proxy."""

    def __init__(self, path, user):
        self.path, self.user = path, user
        self.writes = {}
        self.lock = threading.Lock()
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        with open(self.path, encoding="utf-8") as log:
            rest = ""
            while True:
                piece = log.read(1 << 20)
                if not piece:
                    time.sleep(0.1)
                    continue
                *lines, rest = (rest + piece).split("\n")
                for line in lines:
                    self.take(line)

    def take(self, line):
        if '"verb":"create"' not in line and '"verb":"patch"' not in line and '"verb":"delete"' not in line:
            return
        entry = json.loads(line)
        ref = entry.get("objectRef", {})
        if entry["user"]["username"] != self.user or ref.get("resource") in ("events", "tokenreviews", None):
            return
        if ref.get("resource") == "leases" and ref.get("name") == "runtime-cloud-controller":
            return
        body = entry.get("requestObject") or {}
        if ref["resource"] == "leases" and body.get("metadata", {}).get("name") == "runtime-cloud-controller":
            return
        answer = entry.get("responseObject") or {}
        meta = answer.get("metadata", {})
        name = ref.get("name") or meta.get("name") or body.get("metadata", {}).get("name")
        uid = meta.get("uid") or (body.get("preconditions") or {}).get("uid") or (answer.get("details") or {}).get("uid")
        write = {"verb": entry["verb"], "res": ref["resource"], "sub": ref.get("subresource", ""), "name": name,
                 "uid": uid, "code": entry["responseStatus"]["code"], "at": time.monotonic()}
        with self.lock:
            self.writes.setdefault(ref.get("namespace", ""), []).append(write)

    def of(self, *namespaces):
        with self.lock:
            return [write for ns in namespaces for write in self.writes.get(ns, [])]


def poll(what, seconds, condition, interval=0.1):
    """Waits until CONDITION() is true and returns it."""
    end = time.monotonic() + seconds
    while True:
        got = condition()
        if got:
            return got
        if time.monotonic() > end:
            raise Failure(f"{what}: not within {seconds} s")
        time.sleep(interval)
