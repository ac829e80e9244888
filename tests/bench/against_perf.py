#!/usr/bin/python3
"""against_perf.py [--rate N] [--clock C] [--phi P] -- COMMAND...: shares of hcct beside those of perf.

One run of the command is sampled by both: perf's cpu-clock event looks at all of it, hcct's own
processes included, which are left out. Shown are the ten largest self shares by module and by
function, and how far chance may have moved their difference. What the kernel does is the user's
function that has asked for it; functions that perf has no name for are compared by module only."""

import argparse
import collections
import math
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from support import HCCT, finish, need, report, scratch  # noqa: E402

OURS = {"hcct", "perf"}
KERNEL = re.compile(r"\[(kernel|guest|unknown)|^\[")
FRAME = re.compile(r"^\s+([0-9a-f]+) (.*) \((.*)\)$")


def bare(name):
    """Without arguments and template arguments, which the two write differently."""
    depth, out = 0, []
    for letter in name.split(" [")[0]:
        depth += letter == "<"
        if depth == 0:
            out.append(letter)
        depth -= letter == ">" and depth > 0
    name = re.sub(r"\.(cold|part|isra|constprop|lto_priv)[.\d]*", "", "".join(out).split("(")[0])
    return name.split(" ")[-1].split("@")[0]


def leaf_of(frames):
    """(module, function) of the innermost frame of the user's; None: there is none, or it is ours."""
    if any("libhcctagent" in module for _, module in frames):
        return None
    for name, module in frames:
        if not KERNEL.search(module):
            return os.path.basename(module.split(" (deleted)")[0]), bare(name)
    return None


def by_perf(path):
    """Samples by (module, function)."""
    script = subprocess.run(["perf", "script", "-i", path, "-F", "comm,pid,ip,sym,dso"],
                            capture_output=True, text=True, check=True).stdout
    counts, daemons = collections.defaultdict(collections.Counter), set()
    for block in script.split("\n\n"):
        head, *lines = block.strip("\n").split("\n")
        frames = [(m.group(2), m.group(3)) for m in map(FRAME.match, lines) if m]
        comm, _, pid = head.strip().rpartition(" ")
        if any(os.path.basename(module) == "hcctd" for _, module in frames):
            daemons.add(pid)
        leaf = leaf_of(frames)
        if comm.strip() not in OURS and leaf is not None:
            counts[pid][leaf] += 1
    return sum((n for pid, n in counts.items() if pid not in daemons), collections.Counter())


def leaves(path, *options):
    counts = collections.Counter()
    for line in report(path, *options, form="folded").splitlines():
        stack, weight = line.rsplit(" ", 1)
        counts[stack.split(";")[-1]] += int(weight)
    return counts


def table(title, wanted, got, looks):
    """Prints the ten largest of `wanted`; gives the largest difference in points, and its interval."""
    all_wanted, all_got = sum(wanted.values()), sum(got.values())
    worst = (0.0, 0.0)
    print(f"{title:44} {'perf':>7} {'hcct':>7} {'differ':>7} {'chance':>7}")
    for name, n in wanted.most_common(10):
        p, h = n / all_wanted, got[name] / all_got
        chance = 1.96 * math.sqrt(p * (1 - p) * (1 / all_wanted + 1 / looks))
        print(f"{name[:44]:44} {100 * p:7.2f} {100 * h:7.2f} {100 * (h - p):+7.2f} {100 * chance:7.2f}")
        worst = max(worst, (100 * abs(h - p), 100 * chance))
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rate", default="1000")
    parser.add_argument("--clock", default="cpu")
    parser.add_argument("--phi", default="0.0001")
    parser.add_argument("command", nargs="+")
    wish = parser.parse_args()
    need("perf")
    profile, data = scratch("profile.pb.gz"), scratch("perf.data")
    subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "1999", "-g", "-o", data, "--",
                    HCCT, "record", "--no-report", "--rate", wish.rate, "--clock", wish.clock,
                    "--phi", wish.phi, "-o", profile, "--", *wish.command],
                   stdout=subprocess.DEVNULL, check=True)
    samples = by_perf(data)
    looks = sum(process["walks"] for process in report(profile)["processes"]) or 1
    by_module, named = collections.Counter(), collections.Counter()
    for (module, function), n in samples.items():
        by_module[module] += n
        named[function if function and function != "[unknown]" else f"({module})"] += n
    functions = collections.Counter()
    for name, weight in leaves(profile).items():
        functions[bare(name) if "+0x" not in name else f"({name.split('+0x')[0]})"] += weight
    print(f"{sum(samples.values())} samples of perf's, {looks} of hcct's\n")
    modules = collections.Counter()
    for name, weight in leaves(profile, "--by", "module").items():
        modules[name] += weight
    worst = table("module", by_module, modules, looks)
    print(f"largest difference {worst[0]:.2f} points, chance {worst[1]:.2f}\n")
    worst = table("function", named, functions, looks)
    print(f"largest difference {worst[0]:.2f} points, chance {worst[1]:.2f}")
    finish()


main()
