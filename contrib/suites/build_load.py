# SPDX-License-Identifier: LGPL-3.0-or-later
"""build_load.py - `make -j2` of a C project of several hundred files, all processes of it profiled,
in pairs with builds without the agent: what it costs, what the daemon keeps, whether it has seen
all processes, and whether the credited time is what the kernel counted. Passes or fails on what
was seen and kept, never on time."""

import argparse
import collections
import os
import statistics
import subprocess
import sys
import tempfile
import time

import execs
import sources

sys.path.insert(0, os.path.join(sources.ROOT, "tests", "e2e"))
sys.path.insert(0, os.path.join(sources.ROOT, "tests", "soak"))

PROJECTS = {
    # name: (package, once, before each build, the build)
    "busybox": ("busybox", ["make -s defconfig", "sed -i 's/^CONFIG_TC=y/# CONFIG_TC is not set/'"
                            " .config", "yes '' | make -s oldconfig"],
                "make -s clean", "make -s -j{jobs} busybox"),
    "redis": ("redis", [], "make -s distclean",
              "make -s -j{jobs} MALLOC=libc"),
    "libuv": ("libuv1", ["sh autogen.sh", "./configure -q"], "make -s clean",
              "make -s -j{jobs} check TESTS="),
}
MB = 1024.0 * 1024.0
COMPILERS = {"cc1", "cc1plus"}
UNSEEN_MAX = 0.001  # of the programs: one that hcctd keeps waiting for 0.1 s goes on without it


def arguments():
    parser = argparse.ArgumentParser(prog="contrib/suites/build_load.sh",
                                     description=__doc__.split(" - ", 1)[1])
    parser.add_argument("project", nargs="?", default="busybox", choices=PROJECTS)
    parser.add_argument("--build", metavar="DIR", default=os.environ.get("HCCT_BUILD"))
    parser.add_argument("--cache", metavar="DIR", default=sources.default_cache())
    parser.add_argument("--pairs", type=int, default=3, metavar="N", help="of builds (3)")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="make -jN (2)")
    parser.add_argument("--rate", default="100", metavar="N", help="walks per CPU second (100)")
    parser.add_argument("--memory-limit", metavar="MB", type=int, default=64,
                        help="of one tree, hcctd's --memory-limit (64)")
    parser.add_argument("--no-count", action="store_true",
                        help="do not count programs with strace in one build more")
    given = parser.parse_args()
    if not given.build:
        parser.error("--build or HCCT_BUILD must say where hcct is built")
    return given


class Round:
    """One build: elapsed time, CPU time of all its processes, and the daemon's part."""

    def __init__(self, elapsed, cpu):
        self.elapsed, self.cpu = elapsed, cpu
        self.processes, self.daemon_cpu, self.resident, self.peak = [], 0.0, 0, 0

    def total(self, field):
        return sum(process[field] for process in self.processes)

    def runs(self, program):
        return sum(p["runs"] for p in self.processes if p["exe"] == program)


def build(tree, project, jobs, more, wrapped=lambda command: command):
    """The time is that of the build alone; what one did before is removed first."""
    env = {k: v for k, v in os.environ.items()
           if not k.startswith("HCCT_") and k not in ("LD_PRELOAD", "XDG_CACHE_HOME", "MAKEFLAGS")}
    quiet = {"cwd": tree, "stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    subprocess.run(["sh", "-c", project[2]], env=env, stderr=subprocess.DEVNULL, check=True,
                   **quiet)
    began = time.monotonic()
    with tempfile.TemporaryFile() as err:
        process = subprocess.Popen(wrapped(["sh", "-c", project[3].format(jobs=jobs)]),
                                   env={**env, **more}, stderr=err, **quiet)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if status != 0:
            err.seek(0)
            sys.exit("the build failed: " + err.read().decode(errors="replace")[-2000:])
    return Round(time.monotonic() - began, usage.ru_utime + usage.ru_stime)


def profiled(tree, project, given):
    import support  # reads HCCT_BUILDDIR
    import watch

    with support.Daemon("--memory-limit", f"{given.memory_limit}M") as daemon:
        done = build(tree, project, given.jobs, daemon.env(HCCT_RATE=given.rate))
        done.processes = wait_until_idle(daemon)
        done.daemon_cpu = watch.cpu_seconds(daemon.process.pid)
        done.resident, done.peak = watch.memory(daemon.process.pid)
    return done


def wait_until_idle(daemon):
    """The last processes are taken in a moment after they end."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        processes = daemon.processes()
        if all(process["state"] != "live" for process in processes):
            return processes
        time.sleep(0.1)
    return processes


def counted(tree, project, given):
    """An independent count of the processes: None without strace."""
    if given.no_count or not execs.available():
        return None
    with tempfile.TemporaryDirectory(prefix="hcct-") as scratch:
        log = os.path.join(scratch, "execs")
        build(tree, project, given.jobs, {}, lambda command: execs.traced(command, log))
        with open(log, errors="replace") as file:
            return execs.Count(file.read(), tree)


def ratios(pairs, of):
    values = sorted(of(b) / of(a) for a, b in pairs)
    return f"{statistics.median(values):.3f} ({values[0]:.3f} to {values[-1]:.3f})"


def spread(pairs, of):
    """What chance does: of the builds without among themselves."""
    values = [of(plain) for plain, _ in pairs]
    return f"{max(values) / min(values):.3f}"


def by_executable(processes):
    """[(executable, runs, profiles, ns)], the longest first"""
    sums = collections.defaultdict(lambda: [0, 0, 0])
    for process in processes:
        at = sums[process["exe"]]
        at[0] += process["runs"]
        at[1] += 1
        at[2] += process.get("total_ns", 0)
    return sorted(((exe, *s) for exe, s in sums.items()), key=lambda row: -row[3])


def show_times(given, pairs):
    last = pairs[-1][1]
    print(f"  elapsed time, with to without:   {ratios(pairs, lambda r: r.elapsed)}")
    print(f"  CPU time of the build:           {ratios(pairs, lambda r: r.cpu)}")
    print(f"  builds without, longest to least: elapsed {spread(pairs, lambda r: r.elapsed)}, "
          f"CPU {spread(pairs, lambda r: r.cpu)}")
    kernel, credited = last.cpu, last.total("total_ns") / 1e9
    print(f"  CPU time of hcctd:               {last.daemon_cpu:.2f} s, beside {kernel:.2f} s")
    print(f"  credited to contexts:            {credited:.2f} s, {100 * credited / kernel:.1f} % "
          f"of the {kernel:.2f} s that getrusage says; {given.rate} walks per CPU second")


def show_memory(given, done):
    """True: the largest tree is below the limit."""
    largest = max(process["bytes"] for process in done.processes)
    print(f"  hcctd's memory:                  {done.resident / MB:.1f} MB at the end, "
          f"{done.peak / MB:.1f} MB at most; trees {done.total('bytes') / MB:.1f} MB, the largest "
          f"{largest / MB:.1f} of {given.memory_limit} MB")
    return largest <= given.memory_limit * MB


def show_processes(done, count):
    """True: the programs that were started have been seen, but for UNSEEN_MAX."""
    print(f"  processes:                       {done.total('runs')} in {len(done.processes)} "
          f"profiles of {len({p['exe'] for p in done.processes})} executables; "
          f"{done.total('walks')} walks, {done.total('lost')} ticks lost")
    for exe, runs, profiles, ns in by_executable(done.processes)[:8]:
        print(f"    {ns / 1e9:8.2f} s {runs:6} runs in {profiles:3} profiles  {exe}")
    if count is None:
        print("  programs started, by strace:     not counted")
        return True
    unseen, started = count.unseen(done.runs), sum(count.started.values())
    missed = sum(n - seen for _, n, seen in unseen)
    print(f"  programs started, by strace:     {started}, and {sum(count.forked.values())} forks; "
          f"{missed} unseen")
    for program, n, seen in unseen:
        print(f"    {n - seen:6} of {n} runs unseen  {program}")
    return missed <= UNSEEN_MAX * started


def show(given, tree, version, pairs, count):
    """True: nothing is amiss."""
    done = pairs[-1][1]
    objects = sum(name.endswith(".o") for _, _, names in os.walk(tree) for name in names)
    compiled = "" if count is None else "; compiler runs " + str(
        sum(n for program, n in count.started.items() if os.path.basename(program) in COMPILERS))
    print(f"{given.project} {version}: make -j{given.jobs}, {objects} object files{compiled}; "
          f"{len(pairs)} pairs of builds")
    show_times(given, pairs)
    small = show_memory(given, done)
    return show_processes(done, count) and small


def main():
    given = arguments()
    os.environ["HCCT_BUILDDIR"] = os.path.abspath(given.build)
    project = PROJECTS[given.project]
    store = sources.Sources(os.path.abspath(given.cache))
    try:
        tree, version = store.tree(sources.Recipe("load-" + given.project, project[0], project[1]))
    except sources.Missing as reason:
        sys.exit(f"{given.project}: {reason}")
    count = counted(tree, project, given)  # it warms caches, too
    pairs = []
    for n in range(given.pairs):
        two = [build(tree, project, given.jobs, {}), profiled(tree, project, given)] if n % 2 == 0 \
            else [profiled(tree, project, given), build(tree, project, given.jobs, {})][::-1]
        pairs.append(two)
        print(f"[{n + 1}] {two[0].elapsed:.1f} s, {two[1].elapsed:.1f} s", file=sys.stderr)
    return 0 if show(given, tree, version, pairs, count) else 1


if __name__ == "__main__":
    sys.exit(main())
