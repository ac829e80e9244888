# SPDX-License-Identifier: LGPL-3.0-or-later
"""Whatever a program does to its stacks: where its calls are redirected it says and counts the same as
without, the caller that is found for a call is the one that a walk of the whole stack finds, and functions
that are called directly are counted as often as they count themselves."""

import collections
import json
import os
import sys
import time

from calls_support import own_counts, plain
from support import HCCT, Daemon, check, finish, run, scratch, skip, target

if os.uname().machine != "x86_64":
    skip("calls are redirected on x86-64 only")
PARTS = (("jumps", 100), ("exceptions", 100), ("deep", 300), ("threads", 300), ("coroutines", 4), ("edges", 100),
         ("plugins", 40), ("children", 5), ("handlers", 1000), ("ticks", 20), ("tails", 100))
# Called by nothing but direct calls of the program, of one that is always followed.
DIRECT = ("leaf", "jumper", "jump_once", "jump_again", "thrower", "catcher", "again_thrower", "ping", "pong", "inner",
          "inlined_jump", "void_first", "tail_a")
HANDLERS = ("handlers", "ticks")  # theirs may come within a report, and are lost then
MODES = {"always": {}, "checked": {"HCCT_CHECK": "1"}, "in bursts": {"HCCT_BURST": "1ms/2ms"},
         "in checked bursts": {"HCCT_BURST": "1ms/2ms", "HCCT_CHECK": "1"}}
TORTURE = target("usual/calls_torture")


def torture(daemon, part, times, **more):
    counted = scratch("counted")
    if os.path.exists(counted):
        os.unlink(counted)
    result = run([TORTURE, part, str(times)], env={**daemon.env(**more), "CALLS_COUNT": counted})
    return result, own_counts(counted)


def profile_of(daemon, tag):
    """The processes of that tag, when all of them have ended, and {function: calls} of all of them."""
    counts, path = collections.Counter(), scratch("profile.json")
    while True:
        run([HCCT, "hot", "--socket", daemon.socket, "--tag", tag, "--phi", "1e-12", "--format", "json", "-o", path])
        with open(path) as file:
            profile = json.load(file)
        if profile["processes"] and not any(process["live"] for process in profile["processes"]):
            break
        time.sleep(0.05)
    for node in profile["nodes"]:
        if node["count"] and node["parent"] is not None:
            counts[plain(node.get("function") or "?")] += node["count"]
    return profile["processes"], counts


def check_counts(what, part, own, counts, lost):
    missing = {name: (own[name], counts[name]) for name in DIRECT if own[name] != counts[name]}
    if part in HANDLERS:
        check(all(0 <= want - got <= lost for want, got in missing.values()),
              f"{what}: what is missing was said to be lost ({lost})")
        return
    check(not missing and lost == 0, f"{what}: {sum(own[name] for name in DIRECT)} calls as counted by functions "
          f"themselves, {lost} lost, {missing}")


with Daemon("--summary", "exact") as daemon:
    for part, times in PARTS:
        if sys.argv[1:] and part not in sys.argv[1:]:
            continue
        plain_run, _ = torture(daemon, part, times, HCCT_ENABLE="0")
        for mode, settings in MODES.items():
            what = f"{part} {mode}"
            tag = "run=" + what.replace(" ", "_")
            result, own = torture(daemon, part, times, HCCT_COLLECTOR="calls", HCCT_TAGS=tag, **settings)
            same = (result.status, result.out, result.err) == (plain_run.status, plain_run.out, plain_run.err)
            check(same and plain_run.status == 0, f"{what}: the program says the same")
            processes, counts = profile_of(daemon, tag)
            if "HCCT_CHECK" in settings:
                checked, different = (sum(p[key] for p in processes) for key in ("checked", "different"))
                check(different == 0 and (checked > 0 or "bursts" in mode),
                      f"{what}: {checked} callers checked, {different} are not those of a walk")
            if "bursts" not in mode:
                check_counts(what, part, own, counts, sum(p["lost"] for p in processes))
finish()
