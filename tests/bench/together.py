# SPDX-License-Identifier: LGPL-3.0-or-later
"""together.py - everything from the command to the printed report, by the CPU time of all processes
that take part: `hcct record` against `perf record --call-graph dwarf` and `perf report`, the latter
without inlined functions, which it would ask addr2line for at many times the price.

The first run of each is apart: it compiles hcct's unwind tables, and reads files from the disk.
"""

import os
import shutil
import statistics

from profilers import Run, run
from support import HCCT, scratch

ROUNDS = 2  # and a first one
# Files that they keep for later go into our own directory, and are removed with it.
ENV = {"HOME": scratch(""), "DEBUGINFOD_URLS": ""}


class Whole:
    """CPU seconds of all processes, and bytes of the files that they leave."""

    def __init__(self, runs, files):
        self.cpu = sum(done.cpu for done in runs)
        self.size = sum(os.path.getsize(file) for file in files)


def hcct(program, rate):
    profile = scratch("whole.pb.gz")
    record = [HCCT, "record", "--rate", str(rate), "-o", profile, "--", *program.command]
    return Whole([Run(record, program.stdin, ENV)], [profile])


def perf(program, rate):
    data = scratch("perf.data")
    record = ["perf", "record", "-q", "-F", str(rate), "--call-graph", "dwarf", "-o", data, "--",
              *program.command]
    report = ["perf", "report", "--stdio", "--no-inline", "-i", data]
    return Whole([Run(record, program.stdin, ENV), Run(report, env=ENV)], [data])


def tools():
    """[(name, function)]; says which are not there."""
    found = [("hcct record", hcct)]
    if shutil.which("perf") is None:
        print("left out: perf is not installed")
        return found
    try:
        Run(["perf", "record", "-q", "-o", scratch("tried"), "--", "true"], env=ENV)
    except SystemExit as reason:
        print("left out: perf can't record here:", reason)
        return found
    return [*found, ("perf record and report", perf)]


def size_text(size):
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.1f} kB"


def line(name, tool, rate, wholes, plains):
    later = statistics.mean(whole.cpu for whole in wholes[1:])
    beyond = later - statistics.mean(plains[1:])
    print(f"{name:9} {rate:5} {tool:22} {later:8.3f} {beyond:8.3f}"
          f" {wholes[0].cpu - plains[0]:8.3f} {size_text(wholes[-1].size):>9}", flush=True)


def bench(program, rates, found):
    plains, wholes = [], {(rate, tool): [] for rate in rates for tool, _ in found}
    for _ in range(1 + ROUNDS):
        plains.append(run(program).cpu)
        for rate in rates:
            for tool, profile in found:
                wholes[rate, tool].append(profile(program, rate))
    print(f"{program.name:9} {'':5} {'plain':22} {statistics.mean(plains[1:]):8.3f}")
    for (rate, tool), of_tool in wholes.items():
        line(program.name, tool, rate, of_tool, plains)


def table(found_programs, rates):
    print(f"\n\nEverything together: CPU seconds of all processes up to the printed report\n\n"
          f"{'program':9} {'rate':>5} {'':22} {'CPU s':>8} {'beyond':>8} {'first':>8} {'files':>9}")
    found = tools()
    for program in found_programs:
        bench(program, rates, found)
    print(f"""
CPU s      mean of {ROUNDS} runs after a first one
beyond     of that, more than plain runs in the same rounds
first      the same of the first run: unwind tables are compiled and kept, files read from disk
files      hcct: .pb.gz with names; perf: perf.data, names not included""")
