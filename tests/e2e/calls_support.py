# SPDX-License-Identifier: LGPL-3.0-or-later
"""calls_support.py - what the tests of the calls collector share: profiles as paths of functions, and
counts from elsewhere to compare them with."""

import collections
import json
import os
import re
import struct

from support import check, record, run, scratch, target

COLLECT = ("--collector", "calls")
ALL = ("--phi", "1e-12", "--no-report")  # nothing is folded for being small
EXACT = (*COLLECT, "--summary", "exact", *ALL)


def plain(name):
    """A function's name without its arguments, or what the compiler appends to a part of it."""
    if name.startswith("_Z"):  # the two or three parts of a constructor have one name for humans
        return re.sub(r"([CD])[0-4]E", r"\1E", name.split(".")[0])
    return re.sub(r"\(.*", "", name).split(".")[0].split("@")[0]


class Paths:
    """Paths of names as numbers, so that a deep one costs as much as a short one. 0: the empty path."""

    def __init__(self):
        self.numbers, self.of = {}, [(0, "")]

    def longer(self, path, name):
        number = self.numbers.setdefault((path, name), len(self.of))
        if number == len(self.of):
            self.of.append((path, name))
        return number

    def names(self, number):
        names = []
        while number != 0:
            number, name = self.of[number]
            names.append(name)
        return names[::-1]


PATHS = Paths()


def path_of(*names):
    number = 0
    for name in names:
        number = PATHS.longer(number, name)
    return number


MADE_UP = re.compile("_GLOBAL__sub_I_|__static_initialization|TLS (wrapper|init) |__tls_init")


class Profile:
    """A profile of calls, as JSON. Its paths are of functions that ran, outermost first."""

    def __init__(self, path):
        with open(path) as file:
            self.all = json.load(file)
        self.processes = self.all["processes"]
        self.nodes = self.all["nodes"]

    def sum(self, key):
        return sum(process[key] for process in self.processes)

    def name(self, node):
        return node.get("system_name") or node.get("function") or "?"

    def outermost(self):
        """The functions that contexts begin with."""
        roots = {i for i, node in enumerate(self.nodes) if node["parent"] is None}
        return {self.name(node) for node in self.nodes if node["parent"] in roots}

    def paths(self, name=plain, process=None):
        """{path, as a number of PATHS: calls}."""
        known, counts = {}, collections.Counter()
        for i, node in enumerate(self.nodes):
            parent = node["parent"]
            known[i] = 0 if parent is None else PATHS.longer(known[parent], name(self.name(node)))
            if node["count"] and process in (None, node["process"]):
                counts[known[i]] += node["count"]
        return counts

    def functions(self, name=plain):
        """{function: calls}, but for functions that the compiler makes up."""
        counts = collections.Counter()
        for node in self.nodes:
            if node["count"] and node["parent"] is not None:
                counts[name(node.get("function") or "?")] += node["count"]
        return collections.Counter({f: n for f, n in counts.items() if not MADE_UP.match(f)})


def record_calls(command, *options, **kwargs):
    """Runs a command under `hcct record`, calls exact unless options say otherwise."""
    path = scratch("calls.json")
    if os.path.exists(path):
        os.unlink(path)
    result = record(command, path, *(options or EXACT), **kwargs)
    return result, Profile(path)


def phase_shares(profile):
    """Percent of the calls of calls_phases in either phase."""
    counts, phases = profile.paths(), {}
    for phase in ("often", "seldom"):
        do_both = ("main", phase, "do_both")
        phases[phase] = sum(counts[path_of(*do_both, *rest)] for rest in (
            (), ("work",), ("work", "step"), ("compare_two",), ("compare_two", "by_value"),
            ("compare_two", "by_value", "step")))
    total = sum(phases.values()) or 1
    return {phase: 100 * calls / total for phase, calls in phases.items()}


def compare(what, want, got, shown=5):
    """Two counters are equal, name for name; the first differences are said."""
    different = [key for key in sorted({*want, *got}) if want.get(key, 0) != got.get(key, 0)]
    ok = check(not different and len(want) > 0,
               f"{what}: {len(want)} and {len(got)} names, {sum(want.values())} and {sum(got.values())} "
               f"calls, {len(different)} differ")
    for key in different[:shown]:
        label = ";".join(PATHS.names(key)) if isinstance(key, int) else key
        print(f"        {label[-300:]}: {want.get(key, 0)} expected, {got.get(key, 0)} in the profile")
    return ok


# ---- the naive library ----

def symbols(path):
    """{address: names} of an object's functions, and {name: the one name of its address}."""
    at, one = collections.defaultdict(list), {}
    for line in run(["nm", path]).out.decode().splitlines():
        words = line.split()
        if len(words) == 3 and words[1] in "tTwW":
            at[int(words[0], 16)].append(plain(words[2]))
    for names in at.values():
        for name in names:
            one[name] = min(names)
    return at, one


def naive_paths(command, objects):
    """What tests/targets/calls_naive counts for a command: {path: calls}, and how to name the
    functions of a profile so that they compare. Objects: the files whose functions report."""
    out = scratch("naive")
    result = run(command, env={"LD_PRELOAD": target("calls_naive"), "CALLS_NAIVE": out})
    check(result.status == 0, "the program runs with the naive counter")
    tables = {os.path.basename(path): symbols(path)[0] for path in objects}
    names = {}
    for path in objects:
        names.update(symbols(path)[1])
    known, counts = {0: 0}, collections.Counter()
    with open(out) as lines:
        for line in lines:
            node, parent, count, module, offset = line.split()
            name = min(tables[module][int(offset, 16)])
            known[int(node)] = PATHS.longer(known[int(parent)], name)
            counts[known[int(node)]] += int(count)
    return result, counts, lambda name: names.get(plain(name), plain(name))


# ---- programs that count themselves ----

RECORD = struct.Struct("=QQ48s")


def own_counts(path):
    """{function: calls} out of the file of tests/targets/calls_count.h."""
    data = open(path, "rb").read()
    return collections.Counter({name.rstrip(b"\0").decode(): calls
                                for calls, _, name in RECORD.iter_unpack(data) if calls})
