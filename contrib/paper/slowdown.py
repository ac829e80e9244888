# SPDX-License-Identifier: LGPL-3.0-or-later
"""slowdown.py - what profiling costs the programs: [1] figure 6.

A round runs a program plainly, then in each way, then plainly again; every second round the other
way round. Each run is held against the mean of the two plain ones; shown are medians over the
rounds. Nothing passes or fails on time.
"""

import os
import statistics

import published
import tables
import tool

BURST = "2ms/20ms"


class Way:
    """A way to run: a build, and with what."""

    def __init__(self, name, flavour, summary=None, burst=None):
        self.name, self.flavour, self.summary, self.burst = name, flavour, summary, burst

    def run(self, hcct, task, phi):
        """(run, CPU seconds of the daemon)"""
        if self.summary is None:
            env = {"GMON_OUT_PREFIX": os.path.join(task.directory, "gmon")}
            return task.run(self.flavour, env), 0.0
        options = ["--summary", self.summary, "--phi", str(phi), "--epsilon", str(phi / 5)]
        with tool.Daemon(hcct, *options) as daemon:
            before = daemon.cpu()
            run = task.run(self.flavour, daemon.env(**({"HCCT_BURST": self.burst}
                                                       if self.burst else {})))
            daemon.finished(run.pid)
            return run, daemon.cpu() - before


def ways(summaries):
    return [Way("empty hooks", "hooks"), Way("exact", "hooks", "exact"),
            *(Way(name, "hooks", name) for name in summaries),
            Way("exact, bursts", "hooks", "exact", BURST),
            Way(f"{summaries[0]}, bursts", "hooks", summaries[0], BURST),
            Way("gprof", "gprof")]


class Measured:
    """All runs of one program."""

    def __init__(self):
        self.plain = []  # CPU seconds
        self.runs = {}   # way: [(CPU to plain, elapsed to plain, daemon's CPU to plain)]

    def add(self, way, run, beside, before, after):
        cpu, elapsed = (before.cpu + after.cpu) / 2, (before.elapsed + after.elapsed) / 2
        self.runs.setdefault(way.name, []).append(
            (run.cpu / cpu, run.elapsed / elapsed, beside / cpu))

    def median(self, way, which):
        runs = self.runs.get(way.name)
        return statistics.median(run[which] for run in runs) if runs else None


def one_round(hcct, task, order, phi, measured, say):
    before = task.run("native")
    done = []
    for way in order:
        try:
            done.append((way, *way.run(hcct, task, phi)))
        except tool.Failed as reason:
            say(f"{task.built.name}, {way.name}: {reason}")
    after = task.run("native")
    measured.plain += [before.cpu, after.cpu]
    for way, run, beside in done:
        measured.add(way, run, beside, before, after)


def measure(hcct, task, kinds, rounds, phi, say):
    measured = Measured()
    for flavour in {"native", *(way.flavour for way in kinds)}:
        task.run(flavour)  # what is read from disk once
    for n in range(rounds):
        say(f"{task.built.name}: slowdown, round {n + 1} of {rounds}")
        one_round(hcct, task, kinds if n % 2 == 0 else kinds[::-1], phi, measured, say)
    return measured


# ---- the tables ----

MEANS = [("slowdown, CPU time of the application", "cpu", 0),
         ("slowdown, elapsed time", "elapsed", 1),
         ("CPU time of the daemon, of the native run's", "daemon", 2)]


def rows_of(results, kinds, which):
    rows = []
    for way in kinds:
        row = [results[name].median(way, which) for name in results]
        known = [value for value in row if value is not None]
        mean = statistics.geometric_mean(known) if known and min(known) > 0 else None
        rows.append([way.name, *row, mean])
    return rows


def show(out, results, kinds, rounds):
    out.title("Slowdown (paper [1]: Figure 6)")
    out.paper("".join(f"{name:14} {text}\n" for name, text in published.FIGURE_6.items()))
    native = [f"{name} {statistics.median(m.plain):.2f} s" for name, m in results.items()]
    print(f"ours, medians of {rounds} rounds; native: {', '.join(native)}\n")
    for text, name, which in MEANS:
        print(text)
        out.table(f"slowdown-{name}", ["", *results, "mean"], rows_of(results, kinds, which),
                  lambda row: [row[0], *map(tables.ratio, row[1:])])
    show_gprof(out, results, kinds)
    out.note("mean: geometric. The daemon works beside the application, on another processor\n"
             "where one is free; the paper's profilers do all their work in the application.")


def show_gprof(out, results, kinds):
    """Figure 6 (b)."""
    bursts, gprof = kinds[-2], kinds[-1]
    row = [f"{bursts.name} / gprof"]
    for measured in results.values():
        pair = measured.median(bursts, 0), measured.median(gprof, 0)
        row.append(None if None in pair else pair[0] / pair[1])
    known = [value for value in row[1:] if value]
    row.append(statistics.geometric_mean(known) if known else None)
    print("against gprof, CPU time of the application")
    out.table("slowdown-gprof", ["", *results, "mean"], [row],
              lambda row: [row[0], *map(tables.ratio, row[1:])])
