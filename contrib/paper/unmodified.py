# SPDX-License-Identifier: LGPL-3.0-or-later
"""unmodified.py - counting the calls of programs as the distribution has them, beside the same
programs built with hooks: what bursts cost, and how far they are from counting every call, by the
measures of [1], section 5.2.

One run differs from the truth by chance, and by what is wrong in each run (bias). Of several runs
that are added up chance falls with the square root of their number, and bias stays: so both can be
told apart.
"""

import os
import statistics

import accuracy
import programs
import published
import slowdown
import tool
from tables import percent, ratio

TAU = 0.01
BURSTS = ["2ms/20ms", "1ms/10ms"]
EVERY_CALL = "every call"
# All that is hot, or has tau of a hottest context that has a fiftieth of the calls.
KEPT = ["--summary", "exact", "--memory-limit", tool.MEMORY, "--phi", f"{accuracy.PHI / 50:g}",
        "--epsilon", "1e-10"]
OF = {"installed": "unmodified", "hooks": "instrumented"}


class Installed:
    """A program that somebody else has built."""

    def __init__(self, program):
        self.program, self.name = program, program.name

    def path(self, flavour):
        return self.program.binary


class Pair:
    """A program's run of one flavour against what it is without profiling."""

    def __init__(self, program, built, flavour, units, directory):
        self.name, self.flavour = program.name, flavour
        self.task = tool.Task(built, units, directory)


class Accuracy:
    """Of bursts of one kind: the answers for each run, for their sum, for the exact tree itself."""

    def __init__(self, runs, answers, merged, own):
        self.runs, self.answers, self.merged, self.own = runs, answers, merged, own

    def mean(self, of):
        known = [of(answer) for answer in self.answers]
        return statistics.mean(known) if None not in known else None

    def error(self):
        return self.mean(error_of)

    def bias(self):
        """The part of a run's error that does not fall when runs are added up."""
        one, all_, n = self.error(), error_of(self.merged), len(self.answers)
        if one is None or all_ is None or n < 2:
            return None
        return max(0.0, (n * all_ ** 2 - one ** 2) / (n - 1)) ** 0.5

    def bursts(self):
        return statistics.mean(run.get("bursts", 0) for run in self.runs)


def error_of(answer):
    return answer["hot_error"].get("average")


def covered(answer):
    return next(c["covered"] / c["hot"] if c["hot"] else 1.0
                for c in answer["coverage"] if c["tau"] == TAU)


def ways(flavour):
    return [slowdown.Way(EVERY_CALL, flavour, "exact"),
            *(slowdown.Way(burst, flavour, "exact", burst) for burst in BURSTS)]


class Study:
    def __init__(self, hcct, runs, rounds, say):
        self.hcct, self.runs, self.rounds, self.say = hcct, runs, rounds, say
        self.exact, self.merged = hcct.path("exact.pb.gz"), hcct.path("merged.pb.gz")

    def costs(self, pair):
        return slowdown.measure(self.hcct, pair.task, ways(pair.flavour), self.rounds,
                                accuracy.PHI, self.say)

    def accuracies(self, pair):
        """{burst: Accuracy}; all runs are held against one that has counted every call."""
        self.say(f"{pair.name}, {OF[pair.flavour]}: every call")
        self.hcct.record(pair.task, self.exact, *KEPT, flavour=pair.flavour)
        own = self.evaluate(self.exact)
        return {burst: self.of_burst(pair, burst, own) for burst in BURSTS}

    def evaluate(self, approx):
        return self.hcct.evaluate(self.exact, approx, accuracy.PHI, accuracy.TAUS)

    def of_burst(self, pair, burst, own):
        paths = [self.hcct.path(f"run-{n}.pb.gz") for n in range(self.runs)]
        self.say(f"{pair.name}, {OF[pair.flavour]}: {self.runs} runs in bursts of {burst}")
        runs = [self.hcct.record(pair.task, path, "--burst", burst, *KEPT, flavour=pair.flavour)
                .process for path in paths]
        answers = [self.evaluate(path) for path in paths]
        self.hcct.merge(paths, self.merged)
        return Accuracy(runs, answers, self.evaluate(self.merged), own)


def pairs_of(built, size, names, directory):
    """What is installed, and the builds with hooks that do the same work."""
    with_hooks = {made.name: made for made in built}
    for program in programs.INSTALLED:
        if names and program.name not in names and program.like not in names:
            continue
        units = program.sizes[size]
        if os.path.exists(program.binary):
            yield Pair(program, Installed(program), "installed", units, directory)
        if program.like in with_hooks:
            yield Pair(program, with_hooks[program.like], "hooks", units, directory)


def measure(study, pairs, say):
    """[(pair, costs, accuracies)]"""
    results = []
    for pair in pairs:
        try:
            results.append((pair, study.costs(pair), study.accuracies(pair)))
        except tool.Failed as reason:
            say(f"left out: {pair.name}, {OF[pair.flavour]}: {reason}")
    return results


# ---- the tables ----


def cost_rows(results):
    for pair, costs, _ in results:
        for way in ways(pair.flavour):
            yield [pair.name, OF[pair.flavour], way.name, statistics.median(costs.plain),
                   costs.median(way, 0), costs.median(way, 2)]


def accuracy_rows(results):
    for pair, _, accuracies in results:
        for burst, found in accuracies.items():
            yield [pair.name, OF[pair.flavour], burst, found.bursts(),
                   found.answers[0]["hot"]["contexts"], found.error(), error_of(found.merged),
                   found.bias(), found.mean(covered), covered(found.own),
                   found.mean(lambda answer: answer["overlap"]), found.own["overlap"],
                   found.mean(lambda answer: answer["overlap_shares"]),
                   found.merged["overlap_shares"]]


def show(out, results, runs):
    out.title("Unmodified programs beside instrumented ones: cost of counting calls")
    out.table("unmodified-cost", ["program", "", "counted", "plain, s", "application", "hcctd"],
              list(cost_rows(results)),
              lambda row: [*row[:3], f"{row[3]:.2f}", ratio(row[4]), ratio(row[5])])
    out.note("CPU time to that of the plain run; an instrumented program's plain run has no hooks.")
    out.title("Unmodified programs beside instrumented ones: bursts against every call, phi = 1e-4")
    out.paper(published.FIGURE_12)
    out.table("unmodified-accuracy",
              ["program", "", "bursts", "number", "hot", "error", f"of {runs}", "bias", "covered",
               "at most", "overlap", "at most", "shares", f"of {runs}"],
              list(accuracy_rows(results)),
              lambda row: [*row[:3], f"{row[3]:.0f}", row[4],
                           *(percent(cell, 1) for cell in row[5:])])
    out.note(f"""\
error: of the counts of hot contexts, the average of {runs} runs; of {runs}: of the runs added up;
bias: the part of it that adding up does not lessen. covered: of edges with tau = {TAU} of the
hottest one's calls; overlap: calls in contexts of the hot tree. Both can be no more than the exact
tree with that phi has (at most). shares: the sum over all contexts of the smaller of their two
shares of the calls, of one run and of all.""")
