"""The plans. A name says all there is to it: FAULT:ARGUMENTS[@WORKLOAD], so that the name alone replays it."""
import ssl
import urllib.request

from cluster import Failure
from plan import Plan

RESTART_S, THAW_S = 1, 4  # after what is shown stands still: the restart onto it, and its end


def tell(line):
    """A command for the proxy, as a step."""
    return lambda run: run.instance.tell(line)


def later(seconds, *actions):
    """Actions that come SECONDS apart, beside the workload."""
    def start(run):
        def act():
            for i, action in enumerate(actions):
                if run.node.stop.wait(seconds[i]):
                    return
                action(run)
        run.beside(act)
    return start


def fired(run, stats):
    return stats["fired"].get("f", 0) > 0


def killed(run, _):
    return run.instance.kills > 0


# --- families: the arguments of a name to a plan -------------------------------------------------

def at_write(name, workload, fault, k):
    return Plan(name, workload, [("started", tell(f"arm f on=write write={k} do={fault}"))],
                killed if fault.startswith("crash") else fired)


def answer(name, workload, status, retry, verb, what):
    """answer:STATUS:RETRY-AFTER:VERB:WHAT. WHAT is a number of an effective write, or RESOURCE[.NTH]."""
    words = f"arm f on={verb} do=status status={status} times=2"
    if retry != "-":
        words += f" retry={retry}"
    if status == "504":
        words += " reason=Timeout cause=ResourceVersionTooLarge"
    if what.isdigit():
        words += f" write={what}"
    else:
        res, _, nth = what.partition(".")
        words += f" res={res} nth={nth or 1}"
    return Plan(name, workload, [("started", tell(words))], fired, exits=verb in ("list", "get"),
                patience=150 if retry == "32" else 90)


def stream(name, workload, fault, res, nth):
    """frame:FAULT:RESOURCE:NTH: the nth frame of its watch."""
    words = f"arm f on=frame res={res} nth={nth} do={fault}"
    if fault == "error":
        words += " status=410 reason=Expired"
    if fault == "slow":
        words += " ms=5000"
    if fault == "drop":
        raise Failure("no API server drops a frame; use hold")
    return Plan(name, workload, [("started", tell(words))], fired, patience=200 if fault == "black-hole" else 90)


def body(name, workload, fault, verb, what):
    """bytes:FAULT:VERB:WHAT: of an answer."""
    words = f"arm f on={verb} do={fault}" + (" ms=5000" if fault == "slow" else "")
    if what.isdigit():
        words += f" write={what}"
    else:
        res, _, nth = what.partition(".")
        words += f" res={res} nth={nth or 1}"
    return Plan(name, workload, [("started", tell(words))], fired, patience=200)


def freeze(name, workload, res, stage):
    """What is shown stands still for THAW_S from a stage on."""
    return Plan(name, workload, [(stage.replace(".", ":"), lambda run: (tell(f"freeze {res}")(run), later([THAW_S], tell(f"release {res}"))(run)))])


def stale(name, workload, res, stage):
    """The same, also to a process that starts meanwhile."""
    steps = [(stage.replace(".", ":"), lambda run: (
        tell(f"stale {res}")(run), later([RESTART_S, THAW_S], lambda run: run.instance.crash(), tell(f"release {res}"))(run)))]
    return Plan(name, workload, steps, killed)


def skew(name, workload, res, ms):
    return Plan(name, workload, [("ready", tell(f"skew {res} {ms}"))], patience=120)


def hold(name, workload, res, key, ms, stage):
    return Plan(name, workload, [(stage.replace(".", ":"), tell(f"hold {res} {key} {ms}"))], lambda run, stats: stats["hidden"] > 0)


def cut(name, workload, res, stage):
    return Plan(name, workload, [(stage.replace(".", ":"), tell(f"cut {res}"))])


def bookmarks(name, workload, seconds):
    """bookmarks:S: none is shown; after S seconds without any other frame all watches are cut, and go on from old versions."""
    def wait(run):
        run.node.stop.wait(int(seconds))
        run.instance.tell("cut all")
    return Plan(name, workload, [("started", tell("arm f on=bookmark do=drop times=0")), ("applied", wait)], fired, patience=150)


def stop(name, workload, seconds, stage):
    def act(run):
        run.beside(lambda: pause(run, int(seconds)))
    return Plan(name, workload, [(stage.replace(".", ":"), act)], exits=int(seconds) >= 16, patience=60 + int(seconds))


def pause(run, seconds):
    """Not through the proxy, whose control connection it would keep."""
    import os  # pylint: disable=import-outside-toplevel
    import signal  # pylint: disable=import-outside-toplevel
    pid = run.instance.process.pid
    os.kill(pid, signal.SIGSTOP)
    run.node.stop.wait(seconds)
    try:
        os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:
        pass


def away(name, workload, how, seconds, stage):
    """outage and silence: connections are refused, or taken and never answered."""
    def act(run):
        tell(f"{how} on")(run)
        later([int(seconds)], tell(f"{how} off"))(run)
    return Plan(name, workload, [(stage.replace(".", ":"), act)], exits=int(seconds) >= 16, patience=90 + int(seconds))


def token(name, workload, how, seconds, stage):
    """token:wrong|empty|gone:S:STAGE: the token file, read again because of a 401 that the proxy makes up."""
    text = {"wrong": "nonsense", "empty": "", "gone": None}[how]

    def act(run):
        run.instance.write_token(text)
        run.instance.tell("arm f on=request do=status status=401 times=2")
        later([int(seconds)], lambda run: run.instance.write_token(run.world.token))(run)
    return Plan(name, workload, [(stage.replace(".", ":"), act)], fired, patience=150, refusals=(401,))


def passing(name, how, seconds):
    """TLS and HTTP/2 from end to end; the bytes are cut or stand still."""
    def act(run):
        tell(f"{how} on")(run)
        later([int(seconds)], tell(f"{how} off"))(run)
    return Plan(name, "create", [("declared", act)], exits=int(seconds) >= 16, patience=90 + int(seconds), plain=True)


# --- self-checks: a proxy or a runner that breaks a rule must be found out -----------------------

def write_at_rest(run):
    """The operator's account writes when everything is at rest."""
    world = run.world
    request = urllib.request.Request(
        f"https://127.0.0.1:{world.port}/apis/runtimecloud.io/v1alpha1/namespaces/{run.ns}/environments/dev", method="PATCH",
        data=b'{"metadata": {"annotations": {"example.com/seen": "now"}}}',
        headers={"Authorization": f"Bearer {world.token}", "Content-Type": "application/merge-patch+json"})
    trust = ssl.create_default_context(cafile=f"{world.directory}/cp/pki/ca.crt")
    with urllib.request.urlopen(request, context=trust, timeout=10):
        pass


def log_secret(run):
    with open(f"{run.instance.directory}/log", "a", encoding="utf-8") as log:
        log.write(f"token {run.world.token}\n")


def two_engines(run):
    run.node.second_engine = True


# What must be found, and how the rule is broken.
BROKEN = {
    "forge-start": ("recorded-start", [("started", tell("arm f on=patch res=provisioningruns sub=status do=forge nth=4"))]),
    "forge-receipt": ("receipt-kept", [("started", tell("arm f on=patch res=provisioningruns sub=status do=forge nth=5"))]),
    "twin-job": ("converged: Jobs and pods are gone", [("started", tell("arm f on=create res=jobs do=twice"))]),
    "two-engines": ("one-start", [("started", two_engines)]),
    "write-at-rest": ("quiet", [("quiet", write_at_rest)]),
    "token-in-log": ("canary", [("over", log_secret)]),
}


def broken(name, rule):
    sentence, steps = BROKEN[rule]
    return Plan(name, "create", steps, broken=sentence, patience=45)


FAMILIES = {
    "crash-before": lambda n, w, k: at_write(n, w, "crash-before", k),
    "crash-commit": lambda n, w, k: at_write(n, w, "crash-commit", k),
    "crash-reply": lambda n, w, k: at_write(n, w, "crash-reply", k),
    "lose-request": lambda n, w, k: at_write(n, w, "lose-request", k),
    "lose-answer": lambda n, w, k: at_write(n, w, "lose-answer", k),
    "answer": answer,
    "frame": stream,
    "bytes": body,
    "freeze": freeze,
    "stale": stale,
    "skew": skew,
    "hold": hold,
    "cut": cut,
    "bookmarks": bookmarks,
    "stop": stop,
    "outage": lambda n, w, s, stage: away(n, w, "refuse", s, stage),
    "token": token,
    "silence": lambda n, w, s, stage: away(n, w, "black-hole", s, stage),
    "pass-cut": lambda n, w, s: passing(n, "refuse", s),
    "pass-silence": lambda n, w, s: passing(n, "black-hole", s),
    "broken": lambda n, w, rule: broken(n, rule),
    "none": lambda n, w: Plan(n, w, []),
}


def parse(name):
    """The plan of this name."""
    fault, _, workload = name.partition("@")
    family, *arguments = fault.split(":")
    if family not in FAMILIES:
        raise Failure(f"{name}: no such fault; there are {', '.join(FAMILIES)}")
    try:
        return FAMILIES[family](name, workload or "life", *arguments)
    except (TypeError, KeyError) as why:
        raise Failure(f"{name}: the arguments do not fit: {why}") from why
