# SPDX-License-Identifier: LGPL-3.0-or-later
"""trial.py - one run of a suite: without the agent, or with it and a daemon of its own."""

import os
import resource
import signal
import subprocess
import sys
import time

import sources

sys.path.insert(0, os.path.join(sources.ROOT, "tests", "e2e"))

ENDED = "(exit status)"


class Tally:
    """What the daemon of a run has to say."""

    def __init__(self, processes=()):
        def total(field):
            return sum(process[field] for process in processes)
        self.programs = total("runs")
        self.walks, self.complete = total("walks"), total("complete")
        self.lost, self.broken = total("lost"), total("broken_rings")


class Trial:
    """outcomes: {test: outcome}, steps' exit statuses among them."""

    def __init__(self, outcomes, seconds, tally):
        self.outcomes, self.seconds, self.tally = outcomes, seconds, tally

    def failed(self):
        return {name for name, outcome in self.outcomes.items() if outcome == "failed"}


def run_step(command, tree, env, output, seconds):
    """The command's exit status; what it leaves behind in its process group ends, too."""
    with open(output, "wb") as out:
        process = subprocess.Popen(["sh", "-c", command], cwd=tree, env=env, stdout=out,
                                   stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                   start_new_session=True)
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            return "no end"
        finally:
            kill_group(process.pid)
            process.wait()


def kill_group(group):
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run_steps(suite, tree, env, directory):
    outcomes = {}
    for step in suite.steps:
        out = os.path.join(directory, step.name)
        os.makedirs(out)
        log = os.path.join(directory, step.name + ".log")
        status = run_step(step.command.format(out=out), tree, env, log, step.seconds)
        with open(log, errors="replace") as file:
            found = step.parser(file.read(), out)
        if not found:
            raise sources.Missing(f"{step.name} ran no test that could be read, see {log}")
        outcomes.update({f"{step.name}: {name}": outcome for name, outcome in found.items()})
        outcomes[f"{step.name}: {ENDED} {status}"] = "passed"
    return outcomes


def clean_environment():
    """Nothing of ours, and nothing that only one run would have."""
    return {name: value for name, value in os.environ.items()
            if not name.startswith("HCCT_") and name not in ("LD_PRELOAD", "XDG_CACHE_HOME")}


def run(suite, tree, directory, agent):
    """agent: {setting: value} of a run with the agent, None: without."""
    import support  # reads HCCT_BUILDDIR

    os.makedirs(directory)
    env, began = clean_environment(), time.monotonic()
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if agent is None:
        return Trial(run_steps(suite, tree, env, directory), time.monotonic() - began, None)
    with support.Daemon() as daemon:
        env.update(daemon.env(**agent))
        outcomes = run_steps(suite, tree, env, directory)
        seconds = time.monotonic() - began
        tally = Tally(daemon.processes())
        if daemon.process.poll() is not None:
            outcomes["hcctd: it lives"] = "failed"
    return Trial(outcomes, seconds, tally)
