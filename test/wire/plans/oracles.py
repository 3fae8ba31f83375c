"""What must hold when a plan is over. Each oracle yields sentences; none means that it is content."""
import collections
import json
import re

from cluster import RCO

TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")
RUN_NAME = re.compile(r"web-[0-9a-f]{5}-v")
# Random Secrets have a counter: the operator cannot read Secrets, so one whose creation it did not learn of is passed over.
COUNTER = re.compile(r"\b(rco-[a-z0-9]+-(?:pass|hmac))-\d\b")


class Outcome:
    """All that the oracles look at, gathered once."""

    def __init__(self, world, ns, operator_ns, node, instance):
        self.ns, self.operator_ns, self.node, self.instance = ns, operator_ns, node, instance
        self.api = world.api
        self.refusals = ()
        self.writes = world.audit.of(ns, operator_ns)
        self.trace = instance.trace()
        self.objects = self.gather()
        self.labels = self.name_uids()
        self.leaves = self.end_state()
        self.counts = self.count()

    def gather(self):
        core, own = f"/api/v1/namespaces/{self.ns}", f"{RCO}/namespaces/{self.ns}"
        paths = [f"{own}/environments", f"{own}/deploymentspecifications", f"{own}/provisioningruns",
                 f"/apis/batch/v1/namespaces/{self.ns}/jobs", f"{core}/pods", f"{core}/configmaps",
                 f"{core}/persistentvolumeclaims", f"{core}/secrets",
                 f"/apis/coordination.k8s.io/v1/namespaces/{self.operator_ns}/leases"]
        out = []
        for path in paths:
            res = path.rsplit("/", 1)[1]
            for item in self.api.items(path):
                if item["metadata"]["name"] not in ("kube-root-ca.crt", "runtime-cloud-controller"):
                    out.append((res, item))
        return out

    def name_uids(self):
        """Random parts of names and references become what they stand for."""
        pairs = {}
        seen = [(w["res"], w["name"], w["uid"]) for w in self.writes if w["uid"] and w["name"]]
        seen += [(res, o["metadata"]["name"], o["metadata"]["uid"]) for res, o in self.objects]
        seen += [("provisioningruns", e["run"], e["run_uid"]) for e in self.node.journal]
        for res, name, uid in seen:
            label = COUNTER.sub(r"\1-<n>", RUN_NAME.sub("web-v", name))
            pairs[uid] = f"<{res[:-1]}>" if res == "leases" else f"<{res} {label}>" if res != "pods" else "<pod>"
            if res == "provisioningruns":
                pairs[uid.replace("-", "")[:12]] = f"<{label}>"
        pairs[self.ns], pairs[self.operator_ns] = "<ns>", "<operator>"
        return sorted(pairs.items(), key=lambda pair: -len(pair[0]))

    def mask(self, text):
        if TIME.match(text):
            return "<time>"
        for uid, label in self.labels:
            text = text.replace(uid, label)
        text = re.sub(r"127\.0\.0\.1:\d+", "<address>", text)
        return COUNTER.sub(r"\1-<n>", RUN_NAME.sub("web-v", text))

    def flatten(self, value, path, out):
        if isinstance(value, dict):
            for key, item in value.items():
                self.flatten(item, f"{path}.{self.mask(key)}", out)
        elif isinstance(value, list):
            for i, item in enumerate(value):
                self.flatten(item, f"{path}[{i}]", out)
        else:
            out[path] = self.mask(value) if isinstance(value, str) else value

    def end_state(self):
        out = {}
        for res, item in self.objects:
            meta = dict(item["metadata"])
            for key in ("uid", "resourceVersion", "creationTimestamp", "managedFields"):
                meta.pop(key, None)
            name = "claim" if res == "leases" else self.mask(meta["name"])
            if res == "leases":
                meta["name"] = name
            kept = {"metadata": {"name": name}} if res == "secrets" else {**item, "metadata": meta}
            self.flatten(kept, f"{res}/{name}", out)
        return out

    def count(self):
        out = collections.Counter()
        gone = set()
        for write in self.writes:
            name = "claim" if write["res"] == "leases" else self.mask(write["name"] or "?")
            if write["verb"] == "create" and write["code"] == 201:
                key = f"create {write['res']} {name}"
                out[key] = 1 if "<n>" in name else out[key] + 1
            if write["verb"] == "delete" and write["code"] // 100 == 2 and (write["name"], write["uid"]) not in gone:
                gone.add((write["name"], write["uid"]))
                out[f"delete {write['res']} {name}"] += 1
        return out


class Reference:
    """A workload without faults: what every run of it has in common."""

    def __init__(self, outcomes):
        self.leaves = dict(outcomes[0].leaves)
        self.counts = outcomes[0].counts
        self.writes = min(len(o.instance.writes()) for o in outcomes)
        self.trace = outcomes[0].instance.writes()
        self.unsteady = set()
        for other in outcomes[1:]:
            for path in set(self.leaves) | set(other.leaves):
                if self.leaves.get(path) != other.leaves.get(path):
                    self.unsteady.add(path)
            if other.counts != self.counts:
                raise ValueError(f"two runs without faults differ: {difference(self.counts, other.counts)}")


def difference(want, got):
    keys = [k for k in sorted(set(want) | set(got)) if want.get(k) != got.get(k)]
    return "; ".join(f"{k}: want {want.get(k)}, got {got.get(k)}" for k in keys[:6]) + (" ..." if len(keys) > 6 else "")


def end_state(outcome, reference):
    want = {k: v for k, v in reference.leaves.items() if k not in reference.unsteady}
    got = {k: v for k, v in outcome.leaves.items() if k not in reference.unsteady}
    if want != got:
        yield f"end-state: {difference(want, got)}"


def counts(outcome, reference):
    if outcome.counts != reference.counts:
        yield f"counts: {difference(reference.counts, outcome.counts)}"


def one_engine(outcome, _):
    starts = collections.Counter((e["run"], e["phase"]) for e in outcome.node.journal if e["what"] == "engine")
    for (run, phase), n in starts.items():
        if n > 1:
            yield f"one-start: {n} engines for the {phase} of {run}"


def receipts(outcome, _):
    """Every engine's receipt is taken; one that was told to stop may find that nobody waits for it."""
    done = {(e["run"], e["phase"]) for e in outcome.node.journal if e["what"] == "receipt" and e["detail"][0] == "2"}
    done |= {(e["run"], e["phase"]) for e in outcome.node.journal
             if e["what"] == "stopped" or (e["what"] == "receipt" and "is Cancelled and takes no" in e["detail"])}
    for entry in outcome.node.journal:
        if entry["what"] == "engine" and (entry["run"], entry["phase"]) not in done:
            yield f"receipt-taken: nobody took the receipt of the {entry['phase']} of {entry['run']}"
        if entry["what"] in ("lost", "given-up", "refused"):
            yield f"runner: {entry['phase']} of {entry['run']}: {entry['what']}: {entry['detail']}"


def found_at_once(outcome, _):
    yield from outcome.node.faults


def answers(outcome, _):
    """Nothing that we ask for is refused, except that somebody was faster."""
    for entry in outcome.trace:
        if entry["what"] == "answer" and entry["verb"] in ("create", "patch", "delete"):
            allowed = (409,) if entry["verb"] == "create" else (404, 409)
            if entry["status"] // 100 == 4 and entry["status"] not in allowed + outcome.refusals:
                yield f"valid-writes: {entry['verb']} {entry['res']} {entry.get('name')}: {entry['status']}"


def canary(outcome, _, secrets):
    for name in ("trace", "log", "proxy.log"):
        with open(f"{outcome.instance.directory}/{name}", encoding="utf-8", errors="replace") as text:
            content = text.read()
        for secret in secrets:
            if secret in content:
                yield f"canary: {name} has a secret text ({secret[:6]}...)"


def sanitizers(outcome, _):
    with open(f"{outcome.instance.directory}/log", encoding="utf-8", errors="replace") as text:
        for line in text:
            if "Sanitizer" in line or "runtime error:" in line:
                yield f"sanitizer: {line.strip()}"


def events_have_none(outcome, secrets):
    text = json.dumps(outcome.api.items(f"/apis/events.k8s.io/v1/namespaces/{outcome.ns}/events"))
    text += json.dumps([o for res, o in outcome.objects if res not in ("secrets", "pods")])
    for secret in secrets:
        if secret in text:
            yield f"canary: an Event or object has a secret text ({secret[:6]}...)"


ALL = (end_state, counts, one_engine, receipts, found_at_once, answers, sanitizers)
