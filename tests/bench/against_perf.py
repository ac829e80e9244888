#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""against_perf.py [--rate N] [--clock C] [--phi P] [--stacks fp|dwarf] -- COMMAND...: shares of hcct
beside those of perf.

One run of the command is sampled by both, perf's cpu-clock event and hcct; hcctd runs outside of it
(what it opens in a namespace of its own, perf could not read any more). Shown are the ten largest self shares, and with --stacks the
ten largest inclusive ones, by module and by function, and how far chance may have moved their
difference. What the kernel does is the user's function that has asked for it; functions that perf has
no name for are compared by module only.

perf's stacks are by frame pointers (fp: of programs, and their libraries, that have them) or by
copies of 64 kB (dwarf). Those that do not reach the outermost function lack callers: their share is
how much too small an inclusive share of perf's can be. A function of a library without frame pointers
hides who called it: with fp, inclusive shares are of the samples that lie in the program itself."""

import argparse
import collections
import math
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from support import Daemon, HCCT, finish, need, report, run, scratch  # noqa: E402

OURS = {"env", "perf"}
WHOLE, TRIES = 0.95, 3  # perf reads the unwind data of libc in some recordings, and not in others
KERNEL = re.compile(r"\[(kernel|guest|unknown)|^\[")
FRAME = re.compile(r"^\s+([0-9a-f]+) (.*) \((.*)\)$")


def bare(name):
    """Without arguments and template arguments, which the two write differently; one name where an
    address has several."""
    depth, out = 0, []
    for letter in name.split(" [")[0]:
        depth += letter == "<"
        if depth == 0:
            out.append(letter)
        depth -= letter == ">" and depth > 0
    name = re.sub(r"\.(cold|part|isra|constprop|lto_priv)[.\d]*", "", "".join(out).split("(")[0])
    name = re.sub(r"^(__GI_)?_*(?=\w)", "", name.split(" ")[-1].split("@")[0])
    return name.replace("memcpy", "memmove").replace("libc_", "")


OUTERMOST = {"start", "start_call_main", "start_thread", "clone", "clone3", "dl_start_user"}


def of_user(frames):
    """[(module, function)] of the user's frames, innermost first; none: all is the kernel's or ours."""
    if any("libhcctagent" in module for _, module in frames):
        return []
    return [(os.path.basename(module.split(" (deleted)")[0]), bare(name))
            for name, module in frames if not KERNEL.search(module)]


def called(module, function):
    return function if function and function != "[unknown]" else f"({module})"


class Seen:
    """Samples of perf's by what is counted: own and inclusive, by module and by function."""

    def __init__(self, leaf=None):
        self.leaf = leaf  # inclusive ones of samples in this module only
        self.all = self.whole = self.judged = 0
        self.self_modules, self.self_functions = collections.Counter(), collections.Counter()
        self.modules, self.functions = collections.Counter(), collections.Counter()

    def add(self, stack):
        self.all += 1
        self.self_modules[stack[0][0]] += 1
        self.self_functions[called(*stack[0])] += 1
        if self.leaf not in (None, stack[0][0]):
            return
        self.judged += 1
        self.whole += stack[-1][1] in OUTERMOST or stack[-1][0].startswith("ld-linux")
        self.modules.update({module for module, _ in stack})
        self.functions.update({called(*frame) for frame in stack})


def script(path, *options):
    return subprocess.run(["perf", "script", "-i", path, "--no-inline", *options],
                          capture_output=True, text=True, check=True).stdout


def by_perf(path, leaf):
    """perf does not print a stack of one frame that has no name: it is in the list without stacks."""
    seen = Seen(leaf)
    stacks = script(path, "-F", "comm,ip,sym,dso").rstrip("\n").split("\n\n")
    places = script(path, "-G", "-F", "ip,sym,dso").rstrip("\n").split("\n")
    for block, place in zip(stacks, places, strict=True):
        head, *lines = block.strip("\n").split("\n")
        frames = [(m.group(2), m.group(3)) for m in map(FRAME.match, lines or [place]) if m]
        stack = of_user(frames)
        if head.strip() not in OURS and stack:
            seen.add(stack)
    return seen


class Reported:
    """hcct's weights by what `by` tells apart: own and inclusive, and by how much these may be more.
    What a function that is inlined has is its caller's here, as perf knows only that one; what the
    kernel has is that of the function that called it."""

    def __init__(self, path, by, leaf=None):
        profile = report(path, "--by", by)
        self.files = {process["command"]: os.path.basename(process["exe"])
                      for process in profile["processes"]}
        self.all, self.judged, nodes = profile["total"], 0, profile["nodes"]
        modules = [os.path.basename(module["path"]) for module in profile["modules"]]
        self.own, self.inclusive = collections.Counter(), collections.Counter()
        self.more_own, self.more = collections.Counter(), collections.Counter()
        paths = []
        for node in nodes:
            path = paths[node["parent"]] if node["parent"] is not None else ()
            module = modules[node["module"]] if "module" in node else None
            if node["parent"] is not None and not node.get("inlined") and module != "[kernel]":
                path = (*path, self.name_of(node["function"], by))
            paths.append(path)
            if path and node["count"] > 0:
                self.own[path[-1]] += node["count"]
                if leaf is not None and leaf != module:
                    continue
                self.judged += node["count"]
                for name in set(path):
                    self.inclusive[name] += node["count"]
        for function in profile["functions"]:
            name = self.name_of(function["function"], by)
            self.more_own[name] += function["self_upper"] - function["self"]
            self.more[name] += function["inclusive_upper"] - function["inclusive"]

    def name_of(self, frame, by):
        """perf calls modules by their files, hcct a program by the link that it was executed by."""
        if by == "module":
            return self.files.get(frame, frame)
        module = frame.split("+0x")[0]
        return f"({self.files.get(module, module)})" if "+0x" in frame else bare(frame)


def table(title, wanted, seen_all, got, more, shown_all, n_samples, lacking=0):
    """The ten largest of `wanted`, of which perf may lack a part; the largest difference beyond that
    and hcct's bound, in points."""
    worst = (0.0, 0.0)
    print(f"{title:44} {'perf':>7} {'hcct':>7} {'more':>6} {'differ':>7} {'chance':>7}")
    for name, n in wanted.most_common(10):
        p, h, slack = n / seen_all, got[name] / shown_all, more[name] / shown_all
        chance = 1.96 * math.sqrt(p * (1 - p) * (1 / seen_all + 1 / n_samples))
        differ = max(0, h - p - lacking) if h > p else min(0, h + slack - p)
        print(f"{name[:44]:44} {100 * p:7.2f} {100 * h:7.2f} {100 * slack:6.2f} "
              f"{100 * differ:+7.2f} {100 * chance:7.2f}")
        worst = max(worst, (100 * abs(differ), 100 * chance))
    print(f"largest difference {worst[0]:.2f} points, chance {worst[1]:.2f}\n")


def record_both(args, stacks, rate, profile, data):
    with Daemon("--phi", args.phi) as daemon:
        env = {**daemon.env(), "HCCT_RATE": args.rate, "HCCT_CLOCK": args.clock}
        settings = [f"{name}={env[name]}" for name in env if env[name] != os.environ.get(name)]
        subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", rate, *stacks, "-o", data,
                        "--", "env", *settings, *args.command],
                       stdout=subprocess.DEVNULL, check=True)
        run([HCCT, "hot", "--socket", daemon.socket, "--format", "pprof", "-o", profile])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rate", default="1000")
    parser.add_argument("--clock", default="cpu")
    parser.add_argument("--phi", default="0.0001")
    parser.add_argument("--stacks", choices=("fp", "dwarf"))
    parser.add_argument("--perf-rate", default=None)
    parser.add_argument("command", nargs="+")
    args = parser.parse_args()
    need("perf")
    profile, data = scratch("profile.pb.gz"), scratch("perf.data")
    stacks = {None: ["-g"], "fp": ["--call-graph", "fp"], "dwarf": ["--call-graph", "dwarf,65528"]}
    rate = args.perf_rate or ("499" if args.stacks == "dwarf" else "1999")
    leaf = os.path.basename(shutil.which(args.command[0])) if args.stacks == "fp" else None
    for _ in range(TRIES):
        record_both(args, stacks[args.stacks], rate, profile, data)
        seen = by_perf(data, leaf)
        if args.stacks is None or seen.whole >= WHOLE * seen.judged:
            break
    if seen.all == 0:
        raise SystemExit("perf has no sample of the command")
    n_samples = sum(process["walks"] for process in report(profile)["processes"]) or 1
    modules, functions = Reported(profile, "module", leaf), Reported(profile, "function", leaf)
    print(f"{seen.all} samples of perf's, {n_samples} of hcct's\n")
    table("module, self", seen.self_modules, seen.all, modules.own, modules.more_own, modules.all, n_samples)
    table("function, self", seen.self_functions, seen.all, functions.own, functions.more_own,
          functions.all, n_samples)
    if args.stacks is not None:
        lacking = 1 - seen.whole / seen.judged
        print(f"stacks of perf's that lack callers: {100 * lacking:.2f} %"
              + ("" if lacking <= 1 - WHOLE else ": too many to judge inclusive shares by"))
        n_samples *= functions.judged / functions.all
        table("module, inclusive", seen.modules, seen.judged, modules.inclusive, modules.more,
              modules.judged, n_samples, lacking)
        table("function, inclusive", seen.functions, seen.judged, functions.inclusive, functions.more,
              functions.judged, n_samples, lacking)
    finish()


main()
