# SPDX-License-Identifier: LGPL-3.0-or-later
"""overhead.py: what profilers cost the programs that they profile, and what an empty signal handler
at the same rate costs them.

A round runs a program with each profiler at each rate, and plainly before and after those of one
rate; every second round runs backwards. A run's cost is the program's own CPU time, user and system
as wait4 gives it, less the mean of the two plain runs around it. Medians of such differences hold
on a machine that is busy with other things; absolute times would not.

Programs or profilers that are not there are named and left out. Nothing passes or fails on time.

  HCCT_BENCH_ROUNDS     rounds (5)
  HCCT_BENCH_PROGRAMS   "cc1 xz": only these (all)
  HCCT_BENCH_RATES      walks per second of CPU time ("100 250 1000 4000"); 0 is the agent alone,
                        without a daemon
  HCCT_BENCH_TABLES     "rates together": only these (both)
"""

import atexit
import math
import os
import shutil
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "e2e"))
import profilers  # noqa: E402
import programs  # noqa: E402
import together  # noqa: E402
from support import Daemon, scratch  # noqa: E402

START_RUNS = 40
TOGETHER_RATES = [250, 1000]
AGAIN = "nothing, again"


# ---- what was measured ----


class Series:
    """The runs of one profiler at one rate, those of each program in a group of its own: samples,
    the plain CPU time around each, and what the profiler costs a process that ends at once."""

    def __init__(self, start_up=0):
        self.start_up, self.groups = start_up, [[]]

    def add(self, sample, before, after):
        self.groups[0].append((sample, (before + after) / 2))

    def __add__(self, other):
        both = Series(self.start_up)
        both.groups = [group for group in self.groups + other.groups if group]
        return both

    def pairs(self):
        return [pair for group in self.groups for pair in group]

    def ratios(self):
        return [sample.cpu / plain for sample, plain in self.pairs()]

    def plain(self):
        return statistics.median(plain for _, plain in self.pairs())

    def beside(self):
        shares = [s.beside / s.cpu for s, _ in self.pairs() if s.beside is not None]
        return statistics.median(shares) if shares else None

    def walks(self):
        """All that were delivered; None where nothing walks or ticks."""
        walks = [sample.walks for sample, _ in self.pairs()]
        return None if None in walks else sum(walks)

    def rate(self):
        return self.walks() / sum(sample.cpu for sample, _ in self.pairs())

    def cost(self):
        """(all seconds of CPU time more than plain, standard error of that)"""
        cost, variance = 0, 0
        for group in self.groups:
            costs = [sample.cpu - plain for sample, plain in group]
            cost += sum(costs)
            variance += len(costs) * statistics.variance(costs) if len(costs) > 1 else math.inf
        return cost, math.sqrt(variance)

    def cost_per_walk(self):
        """The same for one walk, start-up apart."""
        (cost, error), walks = self.cost(), self.walks()
        return (cost - len(self.pairs()) * self.start_up) / walks, error / walks

    def usual_per_walk(self):
        """Median of that over the runs."""
        return statistics.median((sample.cpu - plain - self.start_up) / sample.walks
                                 for sample, plain in self.pairs() if sample.walks)


# ---- the runs ----


def chain(rates, made):
    """One round: None is a plain run, anything else (rate, profiler)."""
    steps = [None]
    for rate in rates:
        steps += [(rate, profiler) for profiler in made[rate]] + [None]
    return steps


def add_round(program, steps, table):
    """Runs the steps; what stands between two plain runs is held against both."""
    before, waiting = None, []
    for step in steps:
        if step is not None:
            rate, profiler = step
            waiting.append((rate, profiler.name, profiler(program)))
            continue
        after = profilers.plain(program)
        for rate, name, sample in waiting:
            table[rate, name].add(sample, before.cpu, after.cpu)
        for rate in {rate for rate, _, _ in waiting}:
            table[rate, AGAIN].add(after, before.cpu, before.cpu)
        before, waiting = after, []


def measure(program, rates, made, rounds, start_up):
    table = {(rate, name): Series(start_up.get(name, 0))
             for rate in rates for name in [AGAIN, *(p.name for p in made[rate])]}
    for profiler in made[rates[-1]]:
        profiler(program)  # what is read from disk once; unwind tables
    steps = chain(rates, made)
    for n in range(rounds):
        add_round(program, steps if n % 2 == 0 else steps[::-1], table)
    return table


def profilers_of(rates, daemon):
    """{rate: [profiler]}"""
    kinds = list(profilers.kinds(daemon))
    made = {rate: [kind(rate) for kind in kinds] for rate in rates if rate}
    return made | ({0: [profilers.Nobody()]} if 0 in rates else {})


# ---- how busy the machine is with other things ----


def processor_seconds():
    """(of all processors, of those that they worked, stolen by the host), from /proc/stat."""
    with open("/proc/stat") as file:
        ticks = [int(word) for word in file.readline().split()[1:9]]
    user, nice, system, idle, iowait, irq, softirq, steal = (t / os.sysconf("SC_CLK_TCK")
                                                             for t in ticks)
    busy = user + nice + system + irq + softirq
    return busy + idle + iowait + steal, busy, steal


class Busy:
    def __init__(self, daemon):
        self.daemon = daemon
        self.start, self.own = processor_seconds(), self.ours()

    def ours(self):
        times = os.times()
        return sum(times[:4]) + profilers.cpu_of(self.daemon.process.pid)

    def text(self):
        every, busy, steal = (now - then for now, then in zip(processor_seconds(), self.start))
        others = max(busy - (self.ours() - self.own), 0)
        return f"others used {100 * others / every:.0f} % of the processors, " \
               f"the host {100 * steal / every:.0f} %"


# ---- the tables ----


def with_error(value, error, digits=2):
    text = f"{value:.{digits}f}"
    return text if math.isinf(error) else f"{text} +-{error:.{digits}f}"


def quotient_text(cost, least):
    """One cost to that of the empty handler, as long as the latter is more than noise."""
    (value, error), (least, least_error) = cost, least
    if math.isfinite(least_error) and least < 2 * least_error:
        return "(noise)"
    quotient = value / least
    return with_error(quotient, math.hypot(error / least, quotient * least_error / least))


def walk_columns(series, empty):
    """Of those that walk or tick: rate, microseconds a walk, cost to that of the empty handler."""
    if not series.walks():
        return f"{'' if series.walks() is None else 0:>7}"
    each = with_error(1e6 * series.usual_per_walk(), 1e6 * series.cost_per_walk()[1], 1)
    text = f"{series.rate():7.0f} {each:>14}"
    if empty is None or empty is series:
        return text
    return f"{text} {quotient_text(series.cost(), empty.cost()):>12}" \
           f" {quotient_text(series.cost_per_walk(), empty.cost_per_walk()):>12}"


def line(program, rate, name, series, empty):
    ratios, beside = series.ratios(), series.beside()
    print(f"{program:9} {rate:5} {name:15} {statistics.median(ratios):6.3f}"
          f"  {min(ratios):.3f}..{max(ratios):.3f} {walk_columns(series, empty):48}"
          f" {'' if beside is None else f'{100 * beside:.2f} %':>7}".rstrip(), flush=True)


def show(program, rates, table):
    empty = {rate: table.get((rate, profilers.EmptyHandler.name)) for rate in rates}
    for (rate, name), series in table.items():
        line(program, rate, name, series, None if name == AGAIN else empty[rate])


def sum_of(tables):
    total = {}
    for table in tables:
        for key, series in table.items():
            total[key] = total.get(key, Series()) + series
    return total


NOTES = """
ratio      CPU time of the program alone, to the mean of the plain runs around it: median, min..max
           "nothing, again": a plain run to the one before: this machine's noise, and more than
           that of the others, which have two plain runs to be held against
walks/s    delivered, per second of the program's CPU time
us/walk    the program's additional CPU time, without start-up, to walks delivered: median, and
           standard error of the mean
quotient   additional CPU time of all rounds to that of the empty handler, with standard error, and
/walk      the same of us/walk; (noise) where that of the empty handler is no more than noise
beside     CPU time of hcctd to the program's"""


def start_ups(daemon):
    """{name: CPU seconds more of a process that ends at once}: library, handshake, first timer."""
    program = programs.Program("true", [shutil.which("true")])
    found = [profilers.Nobody(), *profilers_of([1000], daemon)[1000]]
    plain, cpu = [], {profiler.name: [] for profiler in found}
    for _ in range(START_RUNS):
        plain.append(profilers.run(program).cpu)
        for profiler in found:
            cpu[profiler.name].append(profilers.run(program, profiler.env()).cpu)
    least = statistics.median(plain)
    more = {name: statistics.median(times) - least for name, times in cpu.items()}
    print(f"start-up: {1e3 * least:.2f} ms of CPU time for true; more with " + ", ".join(
        f"{name} {1e3 * seconds:.2f}" for name, seconds in more.items()))
    return more


def rates_table(found_programs, rates, rounds):
    with Daemon() as daemon:
        made = profilers_of(rates, daemon)
        start_up = start_ups(daemon)
        print(f"\n{rounds} rounds; the kernel ticks at {profilers.HZ} Hz\n\n"
              f"{'program':9} {'rate':>5} {'':15} {'ratio':>6}  {'min..max':12} {'walks/s':>7}"
              f" {'us/walk':>14} {'quotient':>12} {'/walk':>12} {'beside':>7}")
        tables = []
        for program in found_programs:
            busy = Busy(daemon)
            tables.append(measure(program, rates, made, rounds, start_up))
            plain = tables[-1][rates[0], AGAIN].plain()
            print(f"\n{program.name}: {plain:.2f} s of CPU time, plain; {busy.text()}")
            show(program.name, rates, tables[-1])
    if len(tables) > 1:
        print("\nall of them together")
        show("all", rates, sum_of(tables))
    print(NOTES)


# ---- what is asked for ----


def setting(name, usual, allowed):
    """Words of an environment variable; `allowed` says which can be."""
    words = os.environ.get(name, usual).replace(",", " ").split()
    wrong = [word for word in words if not allowed(word)]
    if wrong or not words:
        raise SystemExit(f"{name} is '{os.environ.get(name)}'; such as '{usual}' is possible")
    return words


def main():
    rounds = int(setting("HCCT_BENCH_ROUNDS", "5", lambda w: w.isdigit() and int(w) > 0)[0])
    rates = [int(word) for word in setting("HCCT_BENCH_RATES", "100 250 1000 4000", str.isdigit)]
    names = setting("HCCT_BENCH_PROGRAMS", " ".join(programs.NAMES), programs.NAMES.__contains__)
    tables = setting("HCCT_BENCH_TABLES", "rates together", ["rates", "together"].__contains__)
    found = list(programs.programs(names))
    if found and "rates" in tables:
        rates_table(found, rates, rounds)
    if found and "together" in tables:
        together.table(found, TOGETHER_RATES)


atexit.register(shutil.rmtree, os.path.dirname(scratch("x")), ignore_errors=True)
main()
