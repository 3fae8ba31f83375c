"""Which plans a set has. What depends on the number of writes is known only after learning."""
POINTS = ("crash-before", "crash-commit", "crash-reply")
# The last writes of a workload may come in another order or not at all, so a plan at them may find nothing to strike.
MARGIN = 2

CHECKS = [f"broken:{rule}@create" for rule in (
    "forge-start", "forge-receipt", "twin-job", "two-engines", "write-at-rest", "token-in-log")]

# What the API server, or something before it, may answer: status, Retry-After, verb, and where.
ANSWERS = [
    "401:-:list:jobs", "401:-:watch:provisioningruns", "401:-:write:12",
    "403:-:list:deploymentspecifications", "403:-:write:9", "403:-:watch:pods",
    "404:-:watch:leases", "409:-:write:10", "409:-:write:25", "410:-:list:configmaps", "410:-:watch:jobs",
    "422:-:write:32", "429:0:write:14", "429:1:list:pods", "429:32:write:17", "429:garbage:write:20", "429:1:watch:pods",
    "500:-:write:16", "500:-:list:namespaces", "503:1:write:26", "503:-:get:customresourcedefinitions",
    "504:1:list:provisioningruns", "504:-:write:31",
]
FRAMES = [
    "duplicate:provisioningruns:3", "duplicate:pods:2", "error:jobs:1", "error:provisioningruns:4", "split:provisioningruns:2",
    "truncate:pods:1", "half-close:deploymentspecifications:1", "reset:jobs:1", "slow:leases:1", "garbage:provisioningruns:2",
    "big:configmaps:1", "nul:deploymentspecifications:1", "utf8:provisioningruns:3",
]
BODIES = [
    "split:list:namespaces", "truncate:list:provisioningruns", "reset:list:configmaps", "garbage:list:pods", "nul:list:namespaces",
    "utf8:list:nodes", "big:list:jobs", "truncate:write:9", "reset:write:14", "garbage:write:17", "utf8:write:25", "split:write:28",
    "slow:write:20", "half-close:write:31", "black-hole:write:26",
]
STANDING = [
    "freeze:all:declared", "freeze:provisioningruns:engine-plan@suspend", "freeze:pods:declared", "freeze:jobs:declared",
    "freeze:leases:changed", "freeze:deploymentspecifications:deleted", "freeze:provisioningruns:declared",
    "stale:all:applied", "stale:all:changed", "stale:all:deleting", "stale:provisioningruns:applied.2", "stale:jobs:applied",
    "stale:leases:applied",
    "stale:pods:changed", "stale:deploymentspecifications:deleted", "stale:all:engine-plan@suspend",
    "stale:all:cancelled@suspend", "stale:all:engine-apply@retire", "stale:all:deleted@retire",
    "skew:jobs:700", "skew:pods:700", "skew:provisioningruns:500", "skew:leases:700",
    "hold:deploymentspecifications:web:1500:engine-plan@suspend", "hold:deploymentspecifications:web:1500:applied",
    "hold:environments:dev:2000:environment", "bookmarks:80", "cut:all:declared", "cut:all:changed", "cut:provisioningruns:applied",
]
GONE = [
    "stop:4:declared", "stop:9:declared", "stop:11:changed", "stop:16:declared@create", "stop:40:declared@create",
    "outage:5:declared", "outage:60:declared@create", "silence:10:declared", "silence:40:changed",
    "token:wrong:5:declared@create", "token:empty:5:declared@create", "token:gone:5:declared@create",
]
PASSING = ["pass-cut:4", "pass-silence:12"]


def crashes(references, workload, first, step):
    """One point at each effective write, in turn."""
    last = references[workload].writes - MARGIN
    return [f"{POINTS[k % 3]}:{k}@{workload}" for k in range(first, last + 1, step)]


def lost(references, workload, first, step):
    return [f"lose-answer:{k}@{workload}" for k in range(first, references[workload].writes - MARGIN + 1, step)]


def workloads_of(which):
    """What must be learned for a set."""
    return ("create",) if which == "checks" else ("create", "life", "retire", "suspend")


def everything(references):
    out = []
    for workload in ("life", "suspend", "retire"):
        for k in range(1, references[workload].writes - MARGIN + 1):
            out += [f"{fault}:{k}@{workload}" for fault in POINTS + ("lose-answer", "lose-request")]
    return out


def others():
    out = [f"answer:{words}@create" for words in ANSWERS] + [f"frame:{words}@create" for words in FRAMES]
    return out + [f"bytes:{words}@create" for words in BODIES] + STANDING + GONE + PASSING


def names(which, references):
    """The plans of a set: ci, all, checks, or those of one family."""
    if which == "checks":
        return CHECKS
    if which == "all":
        return everything(references) + others() + CHECKS
    ci = crashes(references, "create", 1, 1) + crashes(references, "life", references["create"].writes + 1, 3)
    ci += crashes(references, "suspend", 17, 4) + crashes(references, "retire", 27, 4)
    ci += lost(references, "create", 2, 3) + lost(references, "life", references["create"].writes + 2, 5)
    ci += ["lose-request:10@create", "lose-request:17@create", "lose-request:25@create"]
    ci += others() + CHECKS
    return ci if which == "ci" else [name for name in everything(references) + ci if name.startswith(which)]
