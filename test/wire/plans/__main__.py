"""Carries out plans on an API server that runs. Started by plans.sh, which says what it needs in the environment."""
import argparse
import json
import os
import sys
import threading
import time

import catalogue
import selection
from cluster import Api, Audit, Failure
from oracles import Reference
from plan import Run


class World:
    """What all plans share."""

    def __init__(self):
        self.directory = os.environ["PLANS_DIR"]
        self.port = int(os.environ["PLANS_PORT"])
        self.proxy, self.binary = os.environ["PLANS_PROXY"], os.environ["PLANS_OPERATOR"]
        self.user = os.environ["PLANS_USER"]
        with open(f"{self.directory}/token", encoding="utf-8") as token:
            self.token = token.read().strip()
        self.api = Api(self.directory, self.port)
        self.audit = Audit(f"{self.directory}/audit.log", self.user)
        self.references = {}
        self.numbers = iter(range(1, 1 << 30))
        self.lock = threading.Lock()
        self.passed = self.failed = 0

    def number(self):
        with self.lock:
            return next(self.numbers)

    def carry_out(self, plan):
        """Runs it and counts it; its outcome, or None."""
        began = time.monotonic()
        run = Run(self, plan, self.number())
        try:
            found, outcome = run.carry_out()
        except Exception as why:  # pylint: disable=broad-except
            found, outcome = [f"the harness: {type(why).__name__}: {why}"], None
        if plan.broken:
            hit = [sentence for sentence in found if sentence.startswith(plan.broken)]
            verdict, told = bool(hit), hit[:1] or [f"nobody found out; found was {found}"]
        else:
            verdict, told = not found, found
        self.report(plan, verdict, told, time.monotonic() - began, run)
        return outcome if not found else None

    def report(self, plan, verdict, told, seconds, run):
        with self.lock:
            if verdict:
                self.passed += 1
                print(f"    {seconds:5.1f}s  {plan.name}" + (f"  found: {told[0][:120]}" if plan.broken else ""), flush=True)
                return
            self.failed += 1
            print(f"FAILED  plan {plan.name} ({seconds:.1f} s, namespace {run.ns})", file=sys.stderr)
            for sentence in told[:8]:
                print(f"        {sentence[:600]}", file=sys.stderr)
            print(f"        replay: test/wire/plans.sh --plan '{plan.name}'", file=sys.stderr, flush=True)
            with open(f"{run.directory}/journal", "w", encoding="utf-8") as out:
                json.dump(run.node.journal if run.node else [], out, indent=1)

    def learn(self, workloads):
        """Each workload twice without faults, side by side."""
        outcomes = {}

        def one(workload):
            outcome = self.carry_out(catalogue.parse(f"none@{workload}"))
            with self.lock:
                outcomes.setdefault(workload, []).append(outcome)
        threads = [threading.Thread(target=one, args=(w,)) for w in workloads for _ in range(2)]
        for thread in threads:
            thread.start()
            time.sleep(0.3)
        for thread in threads:
            thread.join()
        for workload, got in outcomes.items():
            if None in got:
                raise Failure(f"workload {workload} fails without any fault")
            self.references[workload] = reference = Reference(got)
            print(f"  learned {workload}: {reference.writes} effective writes, {len(reference.leaves)} values, "
                  f"{len(reference.unsteady)} of them unsteady", flush=True)


def in_lanes(world, plans, lanes):
    """Long ones first, so that the end does not wait for one of them."""
    todo = sorted(plans, key=lambda plan: (not plan.broken, -plan.patience))
    lock = threading.Lock()

    def lane(delay):
        time.sleep(delay)
        while True:
            with lock:
                if not todo:
                    return
                plan = todo.pop(0)
            world.carry_out(plan)
    threads = [threading.Thread(target=lane, args=(i * 0.4,)) for i in range(lanes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main():
    parser = argparse.ArgumentParser(prog="test/wire/plans.sh")
    parser.add_argument("--plan", action="append", help="only this one; may be repeated")
    parser.add_argument("--set", default="ci", help="ci (default), all, checks, or a family such as crash-commit")
    parser.add_argument("--lanes", type=int, default=int(os.environ.get("PLANS_LANES", "6")))
    parser.add_argument("--list", action="store_true", help="prints the names of the set")
    arguments = parser.parse_args()
    world = World()
    began = time.monotonic()
    try:
        named = [catalogue.parse(name) for name in arguments.plan or []]
        wanted = {plan.workload for plan in named} if named else set(selection.workloads_of(arguments.set))
        world.learn(sorted(wanted))
        plans = named or [catalogue.parse(name) for name in selection.names(arguments.set, world.references)]
        if arguments.list:
            print("\n".join(plan.name for plan in plans))
            return 0
        in_lanes(world, [plan for plan in plans if not plan.plain], arguments.lanes)
        for plan in plans:
            if plan.plain:
                world.carry_out(plan)
    except (Failure, ValueError) as why:
        print(f"FAILED  {why}", file=sys.stderr)
        world.failed += 1
    print(f"  {world.passed + world.failed} plans in {time.monotonic() - began:.0f} s", flush=True)
    with open(os.environ["PLANS_COUNTS"], "w", encoding="utf-8") as out:
        out.write(f"{world.passed} {world.failed}\n")
    return 1 if world.failed else 0


sys.exit(main())
