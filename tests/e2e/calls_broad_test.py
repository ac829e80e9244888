# SPDX-License-Identifier: LGPL-3.0-or-later
"""Most calls are of contexts that are not kept: what is shown of each function and context is true
nevertheless, with every summary."""

from calls_support import COLLECT, record_calls
from support import check, finish, target

PROGRAM = target("calls_broad")
SUMMARIES = ("filtered-space-saving", "space-saving", "space-saving-list", "lossy-counting",
             "sticky-sampling", "exact")


def contexts(profile, name):
    """Nodes of that function, without those in [~], which are of contexts that are not known."""
    hidden = set()
    for i, node in enumerate(profile.nodes):
        if node["parent"] in hidden or node.get("function") == "[~]":
            hidden.add(i)
    return [node for i, node in enumerate(profile.nodes)
            if node.get("function") == name and i not in hidden]


def holds(low, truth, high):
    return low <= truth <= high


for summary in SUMMARIES:
    result, profile = record_calls([PROGRAM], *COLLECT, "--summary", summary, "--epsilon", "0.002",
                                   "--phi", "0.01", "--no-report")
    calls = {name: int(n) for name, n in (line.split() for line in result.out.decode().splitlines())}
    below_broad = calls.pop("below_broad")
    total = sum(calls.values()) + 1  # main
    check(result.status == 0 and profile.all["total"] == total, f"{summary}: {total} calls")
    shown = {f["function"]: f for f in profile.all["functions"]}
    for name, n in calls.items():
        f = shown.get(name, {"self": 0, "self_upper": 0})
        check(holds(f["self"], n, f["self_upper"]),
              f"{summary}: {name}: {n} calls, {f['self']} to {f['self_upper']} shown")
    for name, n in (("broad", below_broad), ("main", total), ("hot", calls["hot"])):
        for f in [shown[name], *contexts(profile, name)]:
            check(holds(f["inclusive"], n, f["inclusive_upper"]),
                  f"{summary}: {name} and below: {n} calls, {f['inclusive']} to "
                  f"{f['inclusive_upper']} shown")
    if summary == "filtered-space-saving":
        for node in contexts(profile, "broad"):
            width = node["inclusive_upper"] - node["inclusive"]
            check(width <= total / 20, f"broad and below: {width} of {total} calls are not known")
    own = sum(node["count"] for node in profile.nodes)
    check(own == total, f"{summary}: self weights add up to {own} of {total}")
finish()
