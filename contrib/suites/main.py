# SPDX-License-Identifier: LGPL-3.0-or-later
"""main.py - test suites of real programs, without and with the agent: see README."""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time

import compare
import sources
import suites


def arguments():
    names = [suite.name for suite in suites.SUITES]
    parser = argparse.ArgumentParser(
        prog="contrib/suites/run.sh",
        description="Test suites of real programs, without the agent and with it.")
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help="only these: " + " ".join(names))
    parser.add_argument("--build", metavar="DIR", help="where hcct is built ($HCCT_BUILD)",
                        default=os.environ.get("HCCT_BUILD"))
    parser.add_argument("--cache", metavar="DIR", default=sources.default_cache(),
                        help="where sources and builds stay (%(default)s)")
    parser.add_argument("--rate", default="1000", metavar="N", help="walks per CPU second (1000)")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE",
                        help="one more setting of the agent, such as HCCT_CLOCK=wall")
    parser.add_argument("--reruns", type=int, default=2, metavar="N",
                        help="pairs of runs more, at most, for a suite with differences (2)")
    parser.add_argument("--logs", metavar="DIR", help="what the suites printed (CACHE/logs)")
    given = parser.parse_args()
    for name in given.names:
        if name not in names:
            parser.error(f"there is no suite '{name}'; there are: {' '.join(names)}")
    if not given.build:
        parser.error("--build or HCCT_BUILD must say where hcct is built")
    given.suites = [s for s in suites.SUITES if not given.names or s.name in given.names]
    given.agent = {"HCCT_RATE": given.rate, **dict(s.split("=", 1) for s in given.set)}
    given.cache = os.path.abspath(given.cache)
    given.logs = os.path.abspath(given.logs or os.path.join(given.cache, "logs"))
    return given


def say(text):
    print(time.strftime("[%H:%M:%S] ") + text, file=sys.stderr, flush=True)


def prepared(suite, store):
    """(tree, version)"""
    for program in suite.needs:
        if shutil.which(program) is None:
            raise sources.Missing(f"there is no {program}")
    if suite.package is None:
        return "/", ""
    return store.tree(sources.Recipe(suite.name, suite.package, suite.build))


def run_suite(suite, tree, given, logs):
    """Runs until there is no difference, or often enough to see what chance does."""
    import trial  # reads HCCT_BUILDDIR

    trials = {"without": [], "with": []}
    for n in range(1 + given.reruns):
        for side, agent in ("without", None), ("with", given.agent):
            say(f"{suite.name}: {side} the agent" + (f", once more ({n})" if n else ""))
            directory = os.path.join(logs, f"{suite.name}-{side}-{n}")
            trials[side].append(trial.run(suite, tree, directory, agent))
        comparison = compare.Comparison(trials)
        if not comparison.different:
            break
    return comparison


def main():
    given = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what runs ends with us
    os.environ["HCCT_BUILDDIR"] = os.path.abspath(given.build)
    store = sources.Sources(given.cache)
    os.makedirs(given.logs, exist_ok=True)
    logs = tempfile.mkdtemp(prefix=time.strftime("%Y%m%d-%H%M%S-"), dir=given.logs)
    compare.show_head()
    different, left_out = 0, 0
    for suite in given.suites:
        try:
            say(f"{suite.name}: source and build")
            tree, version = prepared(suite, store)
            comparison = run_suite(suite, tree, given, logs)
            compare.show(suite.name, version, comparison)
            different += len(comparison.different)
        except (sources.Missing, OSError) as reason:
            print(f"left out  {suite.name}: {reason}", flush=True)
            left_out += 1
    print(f"{'the same' if different == 0 else f'{different} tests differ'} with the agent as "
          f"without, at {given.rate} walks a second; {left_out} suites left out; logs: {logs}")
    return 0 if different == 0 and left_out < len(given.suites) else 1


if __name__ == "__main__":
    sys.exit(main())
