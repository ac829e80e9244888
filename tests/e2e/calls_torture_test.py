# SPDX-License-Identifier: LGPL-3.0-or-later
"""Whatever a program does to its stacks, each of its calls is counted once, to the right function: as
many as it counts itself. Where its stacks can be known, contexts are right as well."""

import os
import sys

from calls_support import COLLECT, EXACT, compare, own_counts, path_of, record_calls
from support import check, finish, run, scratch, target

PARTS = (
    ("jumps", 200), ("exceptions", 200), ("deep", 1000), ("deepest", 100000), ("threads", 1000), ("coroutines", 4),
    ("edges", 100), ("plugins", 40), ("children", 5), ("handlers", 3000), ("ticks", 100), ("tails", 300))


def expected_jumps(times):
    """What the source says, path for path."""
    paths = {}
    part = ("main", "part_jumps")

    def down(*names, calls, depth):
        for i in range(depth + 1):
            jumpers = ["jumper"] * (i + 1)
            paths[path_of(*names, *jumpers)] = calls
            paths[path_of(*names, *jumpers, "leaf")] = calls
    for name, depth in (("jump_once", 5), ("jump_again", 3)):
        paths[path_of(*part, name)] = times if name == "jump_once" else 1
        paths[path_of(*part, name, "leaf")] = times if name == "jump_once" else 1
        down(*part, name, calls=times, depth=depth)
    out = (*part, "jump_out")
    paths[path_of(*out)] = 1
    paths[path_of(*out, "signalled")] = times
    paths[path_of(*out, "signalled", "leaf")] = times
    paths[path_of(*out, "signalled", "jump_from_handler")] = times
    paths[path_of(*out, "signalled", "jump_from_handler", "leaf")] = times
    return paths


def expected_exceptions(times):
    paths, names = {}, ["main", "part_exceptions"]
    for name in ("catcher", "again_thrower"):
        names.append(name)
        paths[path_of(*names)] = paths[path_of(*names, "leaf")] = times
    for _ in range(5):
        names.append("thrower")
        paths[path_of(*names)] = paths[path_of(*names, "leaf")] = times
    return paths


def expected_two_coroutines(times):
    """Both of the two alternate, each on a stack of its own, which begins at the root."""
    return {path_of("coroutine_a"): times, path_of("coroutine_a", "ping"): 50 * times,
            path_of("coroutine_a", "ping", "leaf"): 100 * times,
            path_of("coroutine_b"): times, path_of("coroutine_b", "pong"): 50 * times,
            path_of("coroutine_b", "pong", "leaf"): 50 * times - times}


def expected_plugins(times):
    paths = {}
    for letter in "ab":
        leaf = f"plugin_leaf_{letter}"
        for name, leaves in (("begin", 1), ("end", 1), ("work", 3)):
            path = ("main", "part_plugins", f"plugin_{name}_{letter}")
            paths[path_of(*path)] = times // 2
            paths[path_of(*path, leaf)] = leaves * times // 2
    return paths


SUMMED = (*COLLECT, "--summary", "exact", "--no-report")
MADE_UP_CALLS = 2  # of functions that the compiler makes up, before main
EXPECTED = {"jumps": expected_jumps, "exceptions": expected_exceptions,
            "coroutines": expected_two_coroutines, "plugins": expected_plugins}

for build in ("calls_torture_plain", "calls_torture"):
    for part, times in PARTS:
        if sys.argv[1:] and part not in sys.argv[1:]:
            continue
        what = f"{build} {part}"
        counted = scratch("counted")
        if os.path.exists(counted):
            os.unlink(counted)
        command = [target(build), part.removesuffix("est"), str(times)]
        options = SUMMED if part == "deepest" else EXACT
        result, profile = record_calls(command, *options, env={"CALLS_COUNT": counted})
        check(result.status == 0 and result.out.count(b"done\n") >= 1, f"{what}: ends as it should")
        own, lost = own_counts(counted), profile.sum("lost")
        if part == "deepest":  # a context of its own for each call: too much to write down
            check(0 <= profile.all["total"] - sum(own.values()) <= MADE_UP_CALLS,
                  f"{what}: {profile.all['total']} calls, {sum(own.values())} by its own count")
        elif part == "handlers":  # more may come during one report than there is room for
            missing = own
            missing.subtract(profile.functions())
            check(min(missing.values()) >= 0 and sum(missing.values()) <= lost,
                  f"{what}: {sum(missing.values())} calls of handlers missing, {lost} reports said lost")
            continue
        else:
            compare(f"{what}: functions", own, profile.functions())
        check(lost == 0, f"{what}: nothing lost")
        if part in EXPECTED:
            got, want = profile.paths(), EXPECTED[part](times)
            compare(f"{what}: contexts", want, {path: got[path] for path in want})
finish()
