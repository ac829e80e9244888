# SPDX-License-Identifier: LGPL-3.0-or-later
"""accuracy.py - sizes and accuracy of trees: [1] tables I, II, figures 4, 5, 7 to 12, by replaying
one recorded trace of each program with many parameters; bursts and [2]'s sampling by runs of their
own, as what they leave out was never recorded.
"""

import os

import tool

PHI = 1e-4
PHIS = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7]
EPSILON_PARTS = [2, 5, 10, 20, 50]  # phi / epsilon
TAUS = [1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001]
BURSTS = ["200us/2ms", "2ms/20ms", "1ms/20ms", "5ms/20ms", "2ms/100ms"]
INTERVALS = [59, 307, 1559, 10**2, 10**3, 10**4, 10**5, 10**6]
QUICK_INTERVALS = [59, 10**2, 10**3, 10**4, 10**5, 10**6]
FEWEST = 20  # calls that a hot context must have to be worth a row, and samples of a run


class Studied:
    """What was found out about one program; keys of the dictionaries are the parameters."""

    def __init__(self, name):
        self.name = name
        self.exact = None       # pprof.Profile
        self.trace_bytes = 0
        self.by_phi = {}        # phi: eval of the exact tree against itself
        self.summary = {}       # (summary, phi): (process, eval)
        self.by_epsilon = {}    # parts: (process, eval)
        self.bursts = {}        # (burst, summary): (process, eval)
        self.sampled = {}       # (interval, credit): (process, eval)

    @property
    def calls(self):
        return self.exact.process["total"]


class Study:
    def __init__(self, hcct, summaries, thorough, say):
        self.hcct, self.summaries, self.say = hcct, summaries, say
        self.thorough = thorough  # all summaries with all phi, all bursts
        self.trace, self.exact = hcct.path("trace"), hcct.path("exact.pb.gz")
        self.approx = hcct.path("approx.pb.gz")

    def program(self, task):
        studied = Studied(task.built.name)
        try:
            self.record(task, studied)
            self.thresholds(studied)
            self.replays(studied)
            self.epsilons(studied)
            self.remove(self.trace)
            self.run_bursts(task, studied)
            self.run_samples(task, studied)
        finally:
            self.remove(self.trace, self.exact, self.approx)
        return studied

    def remove(self, *paths):
        for path in paths:
            if os.path.exists(path):
                os.unlink(path)

    def phis(self, studied):
        """Those at which a hot context is more than some calls."""
        return [phi for phi in PHIS if phi * studied.calls >= FEWEST]

    def record(self, task, studied):
        self.say(f"{studied.name}: recording")
        self.hcct.record(task, self.approx, "--trace", self.trace)
        studied.trace_bytes = os.path.getsize(self.trace)
        studied.exact = self.hcct.replay_exact(self.trace, self.exact)
        if studied.exact.process.get("capped"):
            self.say(f"{studied.name}: the exact tree met its memory limit and is not exact")

    def thresholds(self, studied):
        self.say(f"{studied.name}: exact tree, {studied.calls} calls")
        for phi in self.phis(studied):
            studied.by_phi[phi] = self.hcct.evaluate(self.exact, self.exact, phi, TAUS)

    def replayed(self, studied, results, key, summary, phi, epsilon):
        """A replay held against the exact tree. There is none where nothing is hot."""
        if studied.by_phi[phi]["hot"]["contexts"] > 0:
            profile = self.hcct.replay(self.trace, self.approx, summary, phi, epsilon)
            results[key] = profile.process, self.hcct.evaluate(self.exact, self.approx, phi, TAUS)

    def replays(self, studied):
        for summary in self.summaries:
            self.say(f"{studied.name}: replays, {summary}")
            for phi in self.phis(studied):
                if phi == PHI or self.thorough or summary == self.summaries[0]:
                    self.replayed(studied, studied.summary, (summary, phi), summary, phi, phi / 5)

    def epsilons(self, studied):
        for parts in EPSILON_PARTS if PHI * studied.calls >= FEWEST else []:
            self.replayed(studied, studied.by_epsilon, parts, self.summaries[0], PHI, PHI / parts)

    def run_bursts(self, task, studied):
        for burst in BURSTS if self.thorough else BURSTS[:2]:
            self.say(f"{studied.name}: bursts, {burst}")
            for summary in ("exact", self.summaries[0]):
                self.tried(studied, studied.bursts, (burst, summary), task, "--burst", burst,
                           "--summary", summary,
                           *(tool.ALL if summary == "exact" else at(PHI)))

    def run_samples(self, task, studied):
        self.say(f"{studied.name}: sampled calls")
        for interval in INTERVALS if self.thorough else QUICK_INTERVALS:
            for credit in ("last", "new"):
                if studied.calls / interval >= FEWEST:
                    self.tried(studied, studied.sampled, (interval, credit), task, "--every",
                               str(interval), "--credit", credit, "--summary", "exact", *tool.ALL)

    def tried(self, studied, results, key, task, *options):
        """A run with other options, held against the exact tree."""
        try:
            profile = self.hcct.record(task, self.approx, *options)
            if profile.process.get("total", 0) == 0:
                raise tool.Failed("no call was counted; the run is too short")
            if profile.process.get("capped"):
                raise tool.Failed("the tree met its memory limit")
            results[key] = profile.process, self.hcct.evaluate(self.exact, self.approx, PHI, TAUS)
        except tool.Failed as reason:
            why = str(reason).partition("; ")[0].partition(", and no profile")[0]
            self.say(f"{studied.name}: left out: {' '.join(options)}: {why}")


def at(phi):
    return ["--phi", str(phi), "--epsilon", str(phi / 5)]


def least_full_coverage(answer):
    """The smallest of the taus at which coverage is complete at it and above; None: at none."""
    least = None
    for entry in sorted(answer["coverage"], key=lambda e: -e["tau"]):
        if entry["covered"] < entry["hot"]:
            break
        least = entry["tau"]
    return least
