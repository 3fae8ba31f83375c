"""One plan: a workload, faults at its stages, and what the oracles say."""
import os
import threading
import time

import oracles
from cluster import Failure, poll
from instance import Instance
from node import Node, canaries
from workloads import WORKLOADS, Stage

QUIET_S = 1.5   # without a write: it is at rest
WATCHED_S = 2.0  # and then stays so


class Plan:
    """NAME is what replays it. STEPS: pairs of a stage's name ("ready" is before everything, "NAME:2" the second time)
    and what to do there with the run of the plan. STRUCK says whether what was armed has happened."""

    def __init__(self, name, workload, steps, struck=None, exits=False, patience=90, broken=None, plain=False, refusals=()):
        self.name, self.workload, self.steps = name, workload, steps
        self.struck, self.exits, self.patience = struck, exits, patience
        self.broken = broken  # self-check: the beginning of the sentence that must be found
        self.refusals = refusals  # statuses that its writes may get besides 404 and 409
        self.plain = plain    # bytes pass: the operator sees the whole cluster, so nothing else may run


class Run:
    """A plan being carried out, in namespaces of its own."""

    def __init__(self, world, plan, number):
        self.world, self.plan = world, plan
        self.ns, self.operator_ns = f"p{number}", f"o{number}"
        self.directory = f"{world.directory}/plans/{number}"
        self.seen = {}
        self.instance = self.node = None
        self.timers = []

    def prepare(self):
        api = self.world.api
        for ns in (self.ns, self.operator_ns):
            api.must("POST", "/api/v1/namespaces", {"metadata": {"name": ns}})
        # What the chart's Role gives in the namespace of the release, here for this one.
        api.must("POST", f"/apis/rbac.authorization.k8s.io/v1/namespaces/{self.operator_ns}/rolebindings", {
            "metadata": {"name": "operator"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "wire-plans-own-namespace"},
            "subjects": [{"kind": "ServiceAccount", "name": "runtime-cloud-operator", "namespace": "runtime-cloud"}]})
        poll("service account", 30, lambda: api.get(f"/api/v1/namespaces/{self.ns}/serviceaccounts/default"), 0.05)
        self.node = Node(api, self.ns, self.operator_ns)
        os.makedirs(os.path.dirname(self.directory), exist_ok=True)
        self.instance = Instance(self.world, self.directory, self.ns, self.operator_ns, self.plan.plain)

    def strike(self, stage):
        self.seen[stage] = self.seen.get(stage, 0) + 1
        numbered = f"{stage}:{self.seen[stage]}"
        for where, action in self.plan.steps:
            if where == numbered or (where == stage and self.seen[stage] == 1):
                action(self)

    def beside(self, act):
        """Something that goes on beside the workload; there is no rest before it has ended."""
        self.timers.append(threading.Thread(target=act, daemon=True))
        self.timers[-1].start()

    def settle(self):
        """Until the faults are over, the operator is ready and nothing was written for a while."""
        for timer in self.timers:
            timer.join(120)
        yield from self.alive()
        ready = time.monotonic()

        def is_quiet():
            writes = self.world.audit.of(self.ns, self.operator_ns)
            return time.monotonic() - max([w["at"] for w in writes] + [ready]) > QUIET_S
        poll("no more writes", 60, is_quiet)
        before = {id(write) for write in self.world.audit.of(self.ns, self.operator_ns)}
        self.strike("quiet")
        time.sleep(WATCHED_S)
        for write in self.world.audit.of(self.ns, self.operator_ns):
            if id(write) not in before:
                yield f"quiet: {write['verb']} {write['res']} {write['name']} when everything was at rest"

    def alive(self):
        try:
            self.instance.await_ready(45)
        except Failure as why:
            yield f"alive: {why}"
        if self.instance.exits and not self.plan.exits:
            yield f"alive: the operator has ended by itself, with {self.instance.exits}"

    def has_struck(self):
        if not self.plan.struck:
            return
        stats = self.instance.stats()
        if not self.plan.struck(self, stats):
            yield f"struck: the fault never came ({stats}, {self.instance.kills} kills)"

    def carry_out(self):
        """The sentences of all oracles, and the outcome (None when the workload did not come to its end)."""
        self.prepare()
        found, outcome = [], None
        try:
            self.strike("started")
            self.instance.start()
            self.instance.await_ready()
            self.strike("ready")
            WORKLOADS[self.plan.workload](Stage(self.world.api, self.ns, self.node, self.strike, self.plan.patience))
            self.strike("over")
            found += self.settle()
            found += [sentence for sentence in self.alive() if sentence not in found]
            found += self.has_struck()
            code = self.instance.stop()
            if code != 0:
                found.append(f"ends: exit code {code} on SIGTERM")
            outcome = oracles.Outcome(self.world, self.ns, self.operator_ns, self.node, self.instance)
            outcome.refusals = self.plan.refusals
            found += self.ask(outcome)
        except Failure as why:
            found.append(f"converged: {why}")
            found += self.node.faults
        finally:
            self.node.stop.set()
            self.instance.end()
            for ns in (self.ns, self.operator_ns):
                self.world.api.call("DELETE", f"/api/v1/namespaces/{ns}")
        return found, outcome

    def ask(self, outcome):
        reference = self.world.references.get(self.plan.workload)
        secrets = canaries() + self.node.secrets + [self.world.token]
        for oracle in oracles.ALL:
            if reference or oracle not in (oracles.end_state, oracles.counts):
                yield from oracle(outcome, reference)
        yield from oracles.canary(outcome, reference, secrets)
        yield from oracles.events_have_none(outcome, secrets)
