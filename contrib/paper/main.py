# SPDX-License-Identifier: LGPL-3.0-or-later
"""main.py - fetches, builds, measures, prints: see README."""

import argparse
import os
import shutil
import sys
import tempfile
import time

import accuracy
import build
import programs
import show
import slowdown
import tables
import tool
import unmodified

PARTS = ["accuracy", "slowdown", "unmodified"]
RUNS = {"quick": 3, "full": 5}  # of bursts, to tell chance and bias apart


def arguments():
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    names = [program.name for program in [*programs.PROGRAMS, *programs.INSTALLED]]
    names = list(dict.fromkeys(names))
    parser = argparse.ArgumentParser(
        prog="contrib/paper/run.sh",
        description="The papers' tables, measured on programs of the distribution.")
    parser.add_argument("--quick", action="store_true",
                        help="less to do for each program: some ten minutes on two processors")
    parser.add_argument("--build", metavar="DIR", help="where hcct is built ($HCCT_BUILD)",
                        default=os.environ.get("HCCT_BUILD"))
    parser.add_argument("--cache", metavar="DIR", default=os.path.join(home, "hcct", "paper"),
                        help="where sources, builds and results stay (%(default)s)")
    parser.add_argument("--output", metavar="DIR", help="for the TSV files (CACHE/results)")
    parser.add_argument("--programs", metavar="NAMES", help="only these: " + " ".join(names))
    parser.add_argument("--rounds", type=int, metavar="N", help="for the slowdowns (9; quick: 3)")
    parser.add_argument("--only", choices=PARTS, help="only this part of the tables")
    parser.add_argument("--traces", metavar="DIR",
                        help="only record a long trace of each program there, and end")
    parser.add_argument("--fetch-only", action="store_true", help="build the programs, and end")
    given = parser.parse_args()
    wanted = given.programs.replace(",", " ").split() if given.programs else names
    for name in wanted:
        if name not in names:
            parser.error(f"there is no program '{name}'; there are: {' '.join(names)}")
    given.size = "quick" if given.quick else "full"
    if not given.build:
        parser.error("--build or HCCT_BUILD must say where hcct is built")
    given.names = wanted
    given.programs = [program for program in programs.PROGRAMS if program.name in wanted]
    given.cache, given.build = os.path.abspath(given.cache), os.path.abspath(given.build)
    given.output = os.path.abspath(given.output or os.path.join(given.cache, "results"))
    return given


class Clock:
    """Says on standard error what is going on, and since when."""

    def __init__(self):
        self.began = time.monotonic()

    def __call__(self, text):
        spent = int(time.monotonic() - self.began)
        print(f"[{spent // 60:2}:{spent % 60:02}] {text}", file=sys.stderr, flush=True)


def build_programs(given, say):
    wanted = [p for p in given.programs if not given.quick or "quick" in p.sizes]
    left = [(p, "takes too long to build for a quick run") for p in given.programs
            if p not in wanted]
    built, failed = build.build_all(wanted, given.cache, say)
    for made in built:
        print(f"program   {made.name} {made.version}{', ' if made.remark else ''}{made.remark}")
    for program, why in left + failed:
        print(f"left out  {program.name}: {why}")
    sys.stdout.flush()
    return built


def tasks_of(built, given, which, directory):
    """which: 0 for traces, 1 for times."""
    return [tool.Task(made, made.program.sizes[given.size][which], directory) for made in built]


def worth(tasks, quick):
    """Without those that would take most of a quick run's time, as long as there are others."""
    flat = [task for task in tasks if not task.built.program.deep]
    return flat if quick and flat else tasks


def measure_accuracy(hcct, tasks, summaries, given, say):
    study = accuracy.Study(hcct, summaries, not given.quick, say)
    studies = []
    for task in worth(tasks, given.quick):
        try:
            studies.append(study.program(task))
        except tool.Failed as reason:
            print(f"left out  {task.built.name}, sizes and accuracy: {reason}", flush=True)
    return studies


def measure_slowdown(hcct, tasks, kinds, rounds, say):
    results = {}
    for task in tasks:
        try:
            results[task.built.name] = slowdown.measure(hcct, task, kinds, rounds, accuracy.PHI,
                                                        say)
        except tool.Failed as reason:
            print(f"left out  {task.built.name}, slowdown: {reason}", flush=True)
    return results


def measure_unmodified(hcct, built, rounds, given, directory, say):
    os.environ["PYTHONHASHSEED"] = "0"  # so that Python makes the same calls in every run
    study = unmodified.Study(hcct, RUNS[given.size], rounds, say)
    pairs = unmodified.pairs_of(built, given.size, given.names, directory)
    return unmodified.measure(study, pairs, say)


def record_traces(given, built, directory, say):
    """A trace of each program's longest work. False: of none."""
    hcct, n = tool.Tool(given.build, directory), 0
    os.makedirs(given.traces, exist_ok=True)
    for task in tasks_of(built, given, 1, directory):
        say(f"{task.built.name}: recording a trace")
        try:
            hcct.record(task, hcct.path("profile.pb.gz"), "--trace",
                        os.path.join(given.traces, task.built.name + ".trace"))
            n += 1
        except tool.Failed as reason:
            print(f"left out  {task.built.name}: {reason}", flush=True)
    return n > 0


def measure(given, built, directory, say):
    """False: there is nothing to show."""
    hcct, out = tool.Tool(given.build, directory), tables.Tables(given.output)
    summaries = hcct.summaries()
    kinds, rounds = slowdown.ways(summaries), given.rounds or (3 if given.quick else 9)
    studies, results, counted = [], {}, []
    if given.only in (None, "accuracy"):
        studies = measure_accuracy(hcct, tasks_of(built, given, 0, directory), summaries, given,
                                   say)
    if given.only in (None, "slowdown"):
        results = measure_slowdown(hcct, tasks_of(built, given, 1, directory), kinds, rounds, say)
    if given.only in (None, "unmodified"):
        counted = measure_unmodified(hcct, built, rounds, given, directory, say)
    if studies:
        show.show(out, studies, summaries, {p.name: p.like for p in programs.PROGRAMS})
    if results:
        slowdown.show(out, results, kinds, rounds)
    if counted:
        unmodified.show(out, counted, RUNS[given.size])
    out.note(f"The same as TSV: {given.output}")
    return bool(studies or results or counted)


def main():
    given, say = arguments(), Clock()
    built = build_programs(given, say)
    if given.fetch_only or (given.traces and not built):
        return 0 if built else 1
    directory = tempfile.mkdtemp(prefix="hcct-paper-", dir=given.cache)
    os.environ["XDG_CACHE_HOME"] = os.path.join(directory, "cache")  # hcctd's unwind tables
    work = record_traces if given.traces else measure
    try:
        return 0 if work(given, built, directory, say) else 1
    except tool.Failed as reason:
        print(f"paper: {reason}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
