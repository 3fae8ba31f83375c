#!/usr/bin/env python3
"""Stands before the real pulumi on PATH and does what that cannot be made to do on demand. What, says the
file `mode` beside it, and to which command the file `command` (preview or up); every other command, and
the real operation where a mode wants it, is the real one."""

import base64
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(sys.argv[0]).parent
MODE, COMMAND = (HERE / "mode").read_text(), (HERE / "command").read_text()
REAL = next(d + "/pulumi" for d in os.environ["PATH"].split(":")
            if pathlib.Path(d) != HERE and os.path.exists(d + "/pulumi"))
STACK = {"urn": "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev", "type": "pulumi:pulumi:Stack"}


def event(**body):
    print(json.dumps({"sequence": 1, "timestamp": int(time.time()), **body}, separators=(",", ":")), flush=True)


def step(op, kind="resourcePreEvent", planning=False):
    event(**{kind: {"metadata": {"op": op, **STACK, "old": None, "new": None}, "planning": planning}})


def diagnostic(text, severity="info"):
    event(diagnosticEvent={"message": text, "color": "never", "severity": severity})


def summary(preview, result="succeeded"):
    event(summaryEvent={"resourceChanges": {}, "isPreview": preview, "result": result})


def real():
    return subprocess.run([REAL, *sys.argv[1:]]).returncode


def flood():
    line = "0123456789abcdef" * 6
    for i in range(500_000):
        diagnostic(f"{i} {line}\n")
    for i in range(500_000):
        print(i, line)
    sys.stdout.flush()
    return real()


def many():
    """More steps than the sidecar shows of its log."""
    name = "n" * 80
    for i in range(50_000):
        metadata = {"op": "create", "urn": f"urn:pulumi:dev::shop::my:module:Kind::{name}{i}",
                    "type": "my:module:Kind", "old": None, "new": None}
        event(resourcePreEvent={"metadata": metadata, "planning": True})
    return real()


def binary():
    out = sys.stdout.buffer
    for i in range(64):
        out.write(bytes(range(256)) * 256)
    out.write(b"\n")
    out.flush()
    sys.stderr.buffer.write(b"\xff\xfe\x00 warning from a plugin\n")
    sys.stderr.flush()
    return real()


def secret():
    """Slowly, in pieces, in several forms."""
    value = (HERE / "value").read_bytes()
    out = sys.stdout.buffer
    for text in (value, base64.b64encode(b"user:" + value), json.dumps(value.decode()).encode()):
        for i in range(len(text)):
            out.write(text[i:i + 1])
            out.flush()
            time.sleep(0.002)
        out.write(b"\n")
    diagnostic("the password is " + value.decode() + "\n")
    sys.stderr.write("error: cannot log in with " + value.decode() + "\n")
    return 1


def running():
    summary(True)
    step("create")
    step("create", "resOutputsEvent")
    step("update")
    (HERE / "running").write_text(str(os.getpid()))


def hang():
    signals = []

    def on_term(*_):
        signals.append(time.time())
        (HERE / "signals").write_text(str(len(signals)))

    signal.signal(signal.SIGTERM, on_term)
    running()
    end = time.time() + 300
    while time.time() < end:
        time.sleep(0.05)
        if signals and time.time() - signals[0] > 1.5:  # operations in flight end first
            diagnostic("update canceled", "error")
            summary(False, "canceled")
            return 8
    return 1


def stubborn():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    subprocess.Popen(["sleep", "300"])  # a plugin that is left behind
    running()
    time.sleep(300)


def history():
    real()
    sys.stderr.write("error: saving update info: no space left on device\n")
    return 1


def crash():
    running()
    os.kill(os.getpid(), signal.SIGKILL)


def explode():
    step("explode", planning=True)
    return real()


def enormous():
    event(resOutputsEvent={"metadata": {"op": "create", **STACK, "new": {"x": "y" * (17 << 20)}}})
    return real()


def throttled():
    summary(True)
    step("create")
    step("create", "resOpFailedEvent")
    diagnostic("error: Throttling: Rate exceeded\n", "error")
    summary(False, "failed")
    return 1


def policy():
    event(policyEvent={"resourceUrn": STACK["urn"], "message": "no public buckets", "policyName": "p",
                       "enforcementLevel": "mandatory"})
    summary(True, "failed")
    return 1


if COMMAND not in sys.argv[1:2]:
    os.execv(REAL, [REAL, *sys.argv[1:]])
sys.exit(globals()[MODE]())
