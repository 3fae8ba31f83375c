"""What users do while faults strike. Each ends with everything at rest; stage() is where faults can be set."""
from cluster import RCO, poll

COMMIT = {1: "a" * 40, 2: "b" * 40}


class Stage:
    """The steps a workload is made of, in the plan's namespace."""

    def __init__(self, api, ns, node, strike, patience):
        self.api, self.ns, self.node, self.strike, self.patience = api, ns, node, strike, patience

    def path(self, kind, name=""):
        return f"{RCO}/namespaces/{self.ns}/{kind}" + (f"/{name}" if name else "")

    def stage(self, name):
        self.strike(name)

    def environment(self):
        self.api.must("POST", self.path("environments"), {
            "apiVersion": "runtimecloud.io/v1alpha1", "kind": "Environment", "metadata": {"name": "dev"},
            "spec": {"tenantId": "default", "projectId": "shop", "class": "development",
                     "git": {"allowedRepositories": ["https://git.example.com/team"]}}})
        self.stage("environment")
        poll("Environment dev is ready", self.patience, lambda: condition(self.api.get(self.path("environments", "dev")), "Ready"))

    def specification(self, name="web"):
        self.api.must("POST", self.path("deploymentspecifications"), {
            "apiVersion": "runtimecloud.io/v1alpha1", "kind": "DeploymentSpecification", "metadata": {"name": name},
            "spec": {"tenantId": "default", "projectId": "shop", "environmentId": "dev", "kind": "Workload",
                     "programRef": "https://git.example.com/team/infra.git//web", "programVersion": COMMIT[1],
                     "exportOutputs": ["url"]}})
        self.stage("declared")

    def change(self, spec, name="web"):
        self.api.must("PATCH", self.path("deploymentspecifications", name), {"spec": spec})
        self.stage("changed")

    def applied(self, version, name="web"):
        def is_applied():
            spec = self.api.get(self.path("deploymentspecifications", name))
            return condition(spec, "Ready") and spec["status"].get("appliedVersion") == version
        poll(f"version {version} of {name} is applied", self.patience, is_applied)
        self.stage("applied")

    def engine_runs(self, phase):
        poll(f"an engine runs a {phase}", self.patience, lambda: self.node.engines(phase))
        self.stage(f"engine-{phase}")

    def cancelled(self):
        poll("the run is cancelled", self.patience, lambda: any(
            run.get("status", {}).get("state") == "Cancelled" for run in self.api.items(self.path("provisioningruns"))))
        self.stage("cancelled")

    def delete(self, name="web"):
        self.stage("deleting")
        self.api.must("DELETE", self.path("deploymentspecifications", name))
        self.stage("deleted")
        poll(f"{name} is gone", self.patience, lambda: self.api.get(self.path("deploymentspecifications", name)) is None)

    def at_rest(self):
        """No Job and no pod is left, and no run waits for anything."""
        def is_empty():
            return not self.api.items(f"/apis/batch/v1/namespaces/{self.ns}/jobs") and \
                not self.api.items(f"/api/v1/namespaces/{self.ns}/pods")
        poll("Jobs and pods are gone", self.patience, is_empty, 0.2)
        poll("runs are let go", self.patience, lambda: not any(
            run["metadata"].get("finalizers") for run in self.api.items(self.path("provisioningruns"))), 0.2)


def condition(obj, kind):
    """Whether the object's own generation was observed and the condition holds."""
    status = (obj or {}).get("status", {})
    if status.get("observedGeneration") != (obj or {}).get("metadata", {}).get("generation"):
        return False
    return any(c["type"] == kind and c["status"] == "True" for c in status.get("conditions", []))


def life(s):
    """Declared, applied, changed, applied, deleted."""
    s.environment()
    s.specification()
    s.applied(1)
    s.change({"programVersion": COMMIT[2]})
    s.applied(2)
    s.delete()
    s.at_rest()


def create(s):
    """Declared and applied."""
    s.environment()
    s.specification()
    s.applied(1)
    s.at_rest()


def suspend(s):
    """Suspended while its plan runs, resumed, applied."""
    s.environment()
    s.node.hold("plan")
    s.specification()
    s.engine_runs("plan")
    s.change({"suspend": True})
    s.cancelled()
    s.node.let("plan")
    s.change({"suspend": False})
    s.applied(1)
    s.at_rest()


def retire(s):
    """Deleted while it applies: the apply goes on to its end."""
    s.environment()
    s.node.hold("apply")
    s.specification()
    s.engine_runs("apply")
    s.api.must("DELETE", s.path("deploymentspecifications", "web"))
    s.stage("deleted")
    s.node.let("apply")
    poll("web is gone", s.patience, lambda: s.api.get(s.path("deploymentspecifications", "web")) is None)
    s.at_rest()


WORKLOADS = {f.__name__: f for f in (create, life, suspend, retire)}
