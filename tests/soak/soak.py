# SPDX-License-Identifier: LGPL-3.0-or-later
"""soak.py - a mixed load on one hcctd for a given time: does its memory stay, does it lose anything,
does any program notice?

Programs of all kinds (loads.py) run one after the other, some of them side by side, and each must
end and print as it did without the agent. Questions are asked all the time. A line a minute, and a
verdict: exit status 0 when every program came out the same, every question was answered, and the
daemon ended only when it was told to.

Memory is judged by what is printed: profiles of new executables are kept, up to a limit, so that
some growth is in order.
"""

import argparse
import collections
import os
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

import loads  # noqa: E402
import support  # noqa: E402
import watch  # noqa: E402

MB = 1024.0 * 1024.0
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith("HCCT_") and k != "LD_PRELOAD"}


def arguments():
    parser = argparse.ArgumentParser(prog="make soak SOAK_FLAGS=...")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--jobs", type=int, default=2, help="programs at a time (2)")
    parser.add_argument("--restart", type=float, default=150, metavar="SECONDS",
                        help="kill and start the daemon anew so often, 0: never (150)")
    parser.add_argument("--ask", type=float, default=3, metavar="SECONDS",
                        help="between questions (3)")
    parser.add_argument("--memory-limit", default="64M", help="of the daemon, for each tree (64M)")
    return parser.parse_args()


class Runner:
    """Runs the loads in turn, on some threads, until it is told to stop."""

    def __init__(self, found, env):
        self.loads, self.env = collections.deque(found), env
        self.lock, self.stopping = threading.Lock(), threading.Event()
        self.runs, self.failures, self.expected = 0, [], {}

    def command(self, load, env):
        """(status, output); None for the output where it need not be the same."""
        process = subprocess.Popen(load.command, env=env, stdin=subprocess.DEVNULL,
                                   cwd=support.scratch(""), stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT)
        try:
            output, _ = process.communicate(timeout=300)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return "no end", None
        try:
            os.unlink(f"/tmp/perf-{process.pid}.map")
        except OSError:
            pass
        return process.returncode, output if load.steady else None

    def learn(self):
        """How each of them comes out without the agent."""
        for load in self.loads:
            self.expected[load.name] = self.command(load, CLEAN)

    def one(self):
        with self.lock:
            load = self.loads[0]
            self.loads.rotate(-1)
        result = self.command(load, {**CLEAN, **self.env, **load.settings})
        with self.lock:
            self.runs += 1
            if result != self.expected[load.name]:
                text = (result[1] or b"")[-300:]
                self.failures.append(f"{load.name}: status {result[0]}, instead of "
                                     f"{self.expected[load.name][0]}; {text!r}")

    def loop(self):
        while not self.stopping.is_set():
            self.one()

    def start(self, jobs):
        self.threads = [threading.Thread(target=self.loop) for _ in range(jobs)]
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join()


class Keeper:
    """Holds the daemon: restarts it, and adds up what its lives have used and made."""

    def __init__(self, given):
        self.daemon = support.Daemon("--state-dir", support.scratch("state"), "--checkpoint", "10",
                                     "--memory-limit", given.memory_limit)
        self.every, self.next = given.restart, time.monotonic() + given.restart
        self.restarts, self.died, self.cpu_before = 0, 0, 0.0
        self.made = collections.Counter()
        self.last = {}
        self.largest, self.largest_after = 0, ""

    def start(self):
        self.daemon.start()
        self.questions = watch.Questions(self.daemon.socket)
        self.questions.totals()

    def pid(self):
        return self.daemon.process.pid

    def sample(self):
        """Memory now, and the growth of all sums since the last sample."""
        self.note_peak()
        now = watch.memory(self.pid())[0]
        totals = self.questions.totals()
        for field in ("runs", "walks", "lost", "broken_rings", "refused"):
            self.made[field] += max(0, totals[field] - self.last.get(field, 0))
        self.last = totals
        return now

    def note_peak(self):
        largest = watch.memory(self.pid())[1]
        if largest > self.largest:
            self.largest, self.largest_after = largest, self.questions.last

    def cpu(self):
        return self.cpu_before + watch.cpu_seconds(self.pid())

    def restart_if_due(self):
        """By SIGKILL and SIGTERM in turn. True: there is a new one."""
        dead = self.daemon.process.poll() is not None
        if not dead and (self.every == 0 or time.monotonic() < self.next):
            return False
        if dead:
            self.died += 1
        else:
            self.sample()
            self.cpu_before = self.cpu()
            self.daemon.stop(signal.SIGTERM if self.restarts % 2 else signal.SIGKILL)
        self.restarts += 1
        self.daemon.start()
        self.next = time.monotonic() + self.every
        return True


HEAD = (f"{'minute':>6}{'RSS MB':>8}{'peak':>8}{'trees':>8}{'windows':>8}{'CPU s':>8}{'live':>6}{'kept':>6}"
        f"{'processes':>10}{'walks':>10}{'lost':>7}{'restarts':>9}{'asked':>7}{'slowest':>8}"
        f"{'programs':>9}{'failures':>9}{'errors':>7}")


def line(minute, now, keeper, runner):
    questions, last, made = keeper.questions, keeper.last, keeper.made
    print(f"{minute:>6.1f}{now / MB:>8.1f}{keeper.largest / MB:>8.1f}{last['bytes'] / MB:>8.1f}"
          f"{last['windows'] / MB:>8.1f}"
          f"{keeper.cpu():>8.1f}{last['live']:>6}{last['profiles']:>6}{made['runs']:>10}"
          f"{made['walks']:>10}{made['lost']:>7}{keeper.restarts:>9}{questions.asked:>7}"
          f"{questions.slowest:>8.2f}{runner.runs:>9}{len(runner.failures):>9}"
          f"{len(questions.errors):>7}", flush=True)


def watch_over(given, keeper, runner):
    """[(seconds, resident bytes)], once a minute, at a distance from restarts."""
    began, samples = time.monotonic(), []
    next_line = began + min(60, given.seconds / 4)
    while time.monotonic() < began + given.seconds:
        time.sleep(given.ask)
        keeper.restart_if_due()
        keeper.questions.ask_next()
        keeper.note_peak()
        if time.monotonic() >= next_line:
            next_line += min(60, given.seconds / 4)
            samples.append((time.monotonic() - began, keeper.sample()))
            line(samples[-1][0] / 60, samples[-1][1], keeper, runner)
    return samples


def middle(samples):
    values = sorted(value for _, value in samples)
    return values[len(values) // 2] / MB


def verdict(samples, keeper, runner, ended):
    """True: nothing went wrong."""
    third = max(1, len(samples) // 3)
    before, after = middle(samples[:third]), middle(samples[-third:])
    for text in [*runner.failures, *keeper.questions.errors][:50]:
        print("  " + text)
    questions = keeper.questions
    print(f"slowest answer: {questions.slowest:.1f} s, {questions.slowest_of}; most memory was used "
          f"when or before it was asked for {keeper.largest_after or 'nothing'}")
    failures, errors = len(runner.failures), len(keeper.questions.errors)
    good = not (failures or errors or keeper.died or ended or keeper.made["broken_rings"])
    print(f"{'good' if good else 'NOT GOOD'}: {runner.runs} programs, {failures} came out another "
          f"way; {ended} residents ended; {keeper.questions.asked} questions, {errors} without an "
          f"answer; hcctd ended by itself {keeper.died} times, was restarted {keeper.restarts} "
          f"times; {keeper.made['walks']} walks, {keeper.made['lost']} ticks lost, "
          f"{keeper.made['broken_rings']} broken rings; its memory {before:.1f} MB in the first "
          f"third and {after:.1f} MB in the last (medians), {keeper.largest / MB:.1f} MB at most; "
          f"its CPU time {keeper.cpu():.0f} s", flush=True)
    return good


def main():
    given = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what runs ends with us
    keeper = Keeper(given)
    keeper.start()
    runner = Runner(loads.loads(support.scratch("")), keeper.daemon.env())
    runner.learn()
    print("loads: " + " ".join(load.name for load in runner.loads))
    residents = [subprocess.Popen(load.command, env={**CLEAN, **runner.env, **load.settings},
                                  cwd=support.scratch(""), stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                 for load in loads.residents()]
    print(HEAD, flush=True)
    runner.start(given.jobs)
    try:
        samples = watch_over(given, keeper, runner)
        ended = sum(resident.poll() is not None for resident in residents)
    finally:
        runner.stop()
        for resident in residents:
            resident.kill()
            resident.wait()
        if sys.exc_info()[0] is not None:
            keeper.daemon.stop()
    good = verdict(samples, keeper, runner, ended)
    keeper.daemon.stop()
    support.check(good, "the soak")
    support.finish()


if __name__ == "__main__":
    main()
