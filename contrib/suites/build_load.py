"""build_load.py - `make -j2` of a C project of several hundred files, all of its processes profiled, in
pairs with builds without the agent: what it costs, what the daemon keeps, and whether the credited
time is what the kernel counted. Prints; never passes or fails on time."""

import argparse
import collections
import os
import statistics
import subprocess
import sys
import tempfile
import time

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


def arguments():
    parser = argparse.ArgumentParser(prog="contrib/suites/build_load.sh",
                                     description=__doc__.split(" - ", 1)[1])
    parser.add_argument("project", nargs="?", default="busybox", choices=PROJECTS)
    parser.add_argument("--build", metavar="DIR", default=os.environ.get("HCCT_BUILD"))
    parser.add_argument("--cache", metavar="DIR", default=sources.default_cache())
    parser.add_argument("--pairs", type=int, default=3, metavar="N", help="of builds (3)")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="make -jN (2)")
    parser.add_argument("--rate", default="100", metavar="N", help="walks per CPU second (100)")
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


def build(tree, project, jobs, more):
    """The time is that of the build alone; what one did before is removed first."""
    env = {k: v for k, v in os.environ.items()
           if not k.startswith("HCCT_") and k not in ("LD_PRELOAD", "XDG_CACHE_HOME", "MAKEFLAGS")}
    quiet = {"cwd": tree, "stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    subprocess.run(["sh", "-c", project[2]], env=env, stderr=subprocess.DEVNULL, check=True, **quiet)
    began = time.monotonic()
    with tempfile.TemporaryFile() as err:
        process = subprocess.Popen(["sh", "-c", project[3].format(jobs=jobs)],
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

    with support.Daemon() as daemon:
        done = build(tree, project, given.jobs, daemon.env(HCCT_RATE=given.rate))
        done.processes = daemon.processes()
        done.daemon_cpu = watch.cpu_seconds(daemon.process.pid)
        done.resident, done.peak = watch.memory(daemon.process.pid)
    return done


def ratios(pairs, of):
    values = sorted(of(b) / of(a) for a, b in pairs)
    return f"{statistics.median(values):.3f} ({values[0]:.3f} to {values[-1]:.3f})"


def by_executable(processes):
    """[(executable, runs, profiles, ns)], the longest first"""
    sums = collections.defaultdict(lambda: [0, 0, 0])
    for process in processes:
        at = sums[process["exe"]]
        at[0] += process["runs"]
        at[1] += 1
        at[2] += process.get("total_ns", 0)
    return sorted(((exe, *s) for exe, s in sums.items()), key=lambda row: -row[3])


def show(given, tree, version, pairs, noise):
    last = pairs[-1][1]
    objects = sum(name.endswith(".o") for _, _, names in os.walk(tree) for name in names)
    kernel, credited = last.cpu, last.total("total_ns") / 1e9
    print(f"{given.project} {version}: make -j{given.jobs}, {objects} object files, "
          f"{given.rate} walks per CPU second, {len(pairs)} pairs of builds")
    print(f"  elapsed time, with to without:   {ratios(pairs, lambda r: r.elapsed)}")
    print(f"  CPU time of the build:           {ratios(pairs, lambda r: r.cpu)}")
    print(f"  two builds without, in a row:    elapsed {noise[1].elapsed / noise[0].elapsed:.3f}, "
          f"CPU {noise[1].cpu / noise[0].cpu:.3f}")
    print(f"  CPU time of hcctd:               {last.daemon_cpu:.2f} s, beside {kernel:.2f} s")
    print(f"  hcctd's memory:                  {last.resident / MB:.1f} MB at the end, "
          f"{last.peak / MB:.1f} MB at most; trees {last.total('bytes') / MB:.1f} MB")
    print(f"  processes:                       {last.total('runs')} in {len(last.processes)} "
          f"profiles; {last.total('walks')} walks, {last.total('lost')} ticks lost")
    print(f"  credited to contexts:            {credited:.2f} s, {100 * credited / kernel:.1f} % of "
          f"the {kernel:.2f} s that getrusage says")
    for exe, runs, profiles, ns in by_executable(last.processes)[:8]:
        print(f"    {ns / 1e9:8.2f} s {runs:6} runs in {profiles:3} profiles  {exe}")


def main():
    given = arguments()
    os.environ["HCCT_BUILDDIR"] = os.path.abspath(given.build)
    project = PROJECTS[given.project]
    store = sources.Sources(os.path.abspath(given.cache))
    try:
        tree, version = store.tree(sources.Recipe("load-" + given.project, project[0], project[1]))
    except sources.Missing as reason:
        sys.exit(f"{given.project}: {reason}")
    plain = build(tree, project, given.jobs, {})  # the first one warms caches
    noise, pairs = (plain, build(tree, project, given.jobs, {})), []
    for n in range(given.pairs):
        two = [build(tree, project, given.jobs, {}), profiled(tree, project, given)] if n % 2 == 0 \
            else [profiled(tree, project, given), build(tree, project, given.jobs, {})][::-1]
        pairs.append(two)
        print(f"[{n + 1}] {two[0].elapsed:.1f} s, {two[1].elapsed:.1f} s", file=sys.stderr)
    show(given, tree, version, pairs, noise)


if __name__ == "__main__":
    main()
