# SPDX-License-Identifier: LGPL-3.0-or-later
"""compare.py - are a suite's results the same with the agent as without?"""


class Comparison:
    """trials: {"without": [Trial], "with": [Trial]}, of one suite. A test differs when no run with
    the agent had an outcome that a run without it had; when some had, chance decides it."""

    def __init__(self, trials):
        self.trials = trials
        names = {name for side in trials.values() for trial in side for name in trial.outcomes}
        outcomes = {name: (self.seen("without", name), self.seen("with", name)) for name in names}
        self.different = {n: o for n, o in outcomes.items() if not o[0] & o[1]}
        self.by_chance = {n: o for n, o in outcomes.items()
                          if n not in self.different and len(o[0] | o[1]) > 1}

    def seen(self, side, name):
        return {trial.outcomes.get(name, "not run") for trial in self.trials[side]}

    def failures(self, side):
        """In the first run."""
        return len(self.trials[side][0].failed())


def words(outcomes):
    return "/".join(sorted(outcomes))


def show(suite, version, comparison):
    """A line of the table, and a line for each test that is not the same."""
    with_agent = comparison.trials["with"]
    without = comparison.trials["without"]
    tally = with_agent[0].tally
    print(f"{suite:<10}{version[:22]:<24}{len(without[0].outcomes):>8}"
          f"{comparison.failures('without'):>9}{comparison.failures('with'):>9}"
          f"{len(comparison.different):>8}{len(comparison.by_chance):>8}{len(with_agent):>6}"
          f"{tally.programs:>10}{sum(trial.tally.walks for trial in with_agent):>11}"
          f"{sum(trial.tally.lost for trial in with_agent):>7}"
          f"{with_agent[0].seconds / without[0].seconds:>7.2f}")
    for title, tests in ("DIFFERS", comparison.different), ("by chance", comparison.by_chance):
        for name, (before, after) in sorted(tests.items()):
            print(f"    {title}: {name}: {words(before)} without, {words(after)} with", flush=True)


def show_head():
    print(f"{'suite':<10}{'version':<24}{'tests':>8}{'failed':>9}{'failed':>9}{'differ':>8}"
          f"{'by':>8}{'runs':>6}{'processes':>10}{'walks':>11}{'lost':>7}{'time':>7}\n"
          f"{'':<10}{'':<24}{'':>8}{'without':>9}{'with':>9}{'':>8}{'chance':>8}", flush=True)
