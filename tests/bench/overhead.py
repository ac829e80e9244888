"""overhead.py: what profilers cost the programs that they profile.

A round runs a program once with each profiler in turn, beginning with none; the cost is the ratio of
the program's own CPU time, user and system as wait4 gives it, to that of the same round's plain run.
Medians of such pairs hold on a machine that is busy with other things; absolute times would not. The
CPU time of what runs beside the program, our daemon or perf itself, stands in a column of its own.

Programs or profilers that are not there are named and left out. Nothing passes or fails on time.
"""

import atexit
import os
import random
import re
import shutil
import statistics
import struct
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "e2e"))
from support import HCCT, Daemon, run, scratch  # noqa: E402

SOURCES = os.environ.get("HCCT_SRCDIR", os.path.join(HERE, os.pardir, os.pardir))
RUSAGE = os.path.join(HERE, os.pardir, "e2e", "rusage.py")


# ---- the programs: some seconds of one processor each ----


def c_source(functions):
    """A C file of loops, switches and calls: work for an optimizing compiler."""
    dice = random.Random(1)
    for f in range(functions):
        cases = "".join(
            f"case {c}: s = s * {dice.randrange(2, 99)} + a[(i + {c}) % n] / "
            f"{dice.randrange(2, 9)}; break;\n" for c in range(5))
        callee = f"f{dice.randrange(f)}(a, i)" if f else "s >> 3"
        yield (f"int f{f}(int *a, int n)\n{{\nint s = {dice.randrange(1000)};\n"
               f"for (int i = 0; i < n; i++)\nswitch (a[i] % {dice.randrange(5, 12)}) {{\n"
               f"{cases}default: s ^= {callee};\n}}\nreturn s;\n}}\n")


def text_lines(lines):
    """Text that compresses neither well nor badly."""
    dice = random.Random(1)
    words = ["".join(dice.choices("etaoinshrdlu", k=dice.randrange(2, 9))) for _ in range(3000)]
    for _ in range(lines):
        yield " ".join(dice.choices(words, k=10)) + "\n"


def written(name, parts):
    with open(scratch(name), "w") as out:
        out.writelines(parts)
    return scratch(name)


def cc1():
    """The C compiler proper, without the driver that would start it."""
    if shutil.which("gcc") is None:
        return None
    path = run(["gcc", "-print-prog-name=cc1"]).out.decode().strip()
    return path if os.path.isabs(path) else None


def programs():
    """[(name, command, path of its input)]; names what is missing."""
    found = [
        ("sqlite3", shutil.which("sqlite3"), [":memory:"],
         lambda: os.path.join(SOURCES, "contrib", "try.sql")),
        ("xz", shutil.which("xz"), ["-T1", "-6", "-c"],
         lambda: written("text", text_lines(100000))),
        ("cc1", cc1(), ["-quiet", "-O2", "-o", "/dev/null", "-"],
         lambda: written("code.c", c_source(300))),
    ]
    for name, path, _, _ in found:
        if path is None:
            print(f"left out: {name} is not installed")
    return [(name, [path, *options], make()) for name, path, options, make in found if path]


# ---- the profilers ----


class Sample:
    """One run: CPU seconds of the program and of what ran beside it, walks, and bytes of profile."""

    def __init__(self, cpu, beside=None, walks=None, size=None):
        self.cpu, self.beside, self.walks, self.size = cpu, beside, walks, size


def timed(command, path, env=None):
    with open(path) as stdin:
        result = run(command, env=env, stdin=stdin)
    if result.status != 0:
        raise SystemExit(f"{command} ended with {result.status}: {result.err.decode()}")
    return result


def plain(command, path):
    return Sample(timed(command, path).cpu)


def cpu_of(pid):
    """CPU seconds of another process: the clock of clock_getcpuclockid, finer than /proc's."""
    return time.clock_gettime((~pid << 3) | 2)


class Ours:
    def __init__(self, daemon, rate):
        self.daemon, self.rate = daemon, rate

    def __call__(self, command, path):
        known = {(p["pid"], p["since"]) for p in self.daemon.processes()}
        before = cpu_of(self.daemon.process.pid)
        cpu = timed(command, path, self.daemon.env(HCCT_RATE=str(self.rate))).cpu
        time.sleep(0.5)  # for what the daemon has yet to read; it is asked only afterwards
        beside = cpu_of(self.daemon.process.pid) - before
        process = self.daemon.wait_for(
            lambda p: (p["pid"], p["since"]) not in known and p["state"] == "finished")
        if process is None:
            raise SystemExit(f"hcctd does not know of {command}")
        profile = scratch("ours.pb.gz")
        timed([HCCT, "hot", "--socket", self.daemon.socket, "-p", str(process["pid"]), "-o", profile],
              os.devnull)
        return Sample(cpu, beside, process["walks"], os.path.getsize(profile))


def nobody(command, path):
    """The agent, and no daemon to talk to."""
    nowhere = Daemon(socket=scratch("nobody.sock"))
    return Sample(timed(command, path, nowhere.env()).cpu)


GPERFTOOLS = "libprofiler.so.0"


def gperftools(command, path):
    profile = scratch("gperftools")
    env = {"LD_PRELOAD": GPERFTOOLS, "CPUPROFILE": profile, "CPUPROFILE_FREQUENCY": "250"}
    cpu = timed(command, path, env).cpu
    return Sample(cpu, None, gperftools_samples(profile), os.path.getsize(profile))


def gperftools_samples(profile):
    """Its file: five words of header, then (count, depth, depth addresses)..., to a count of 0."""
    with open(profile, "rb") as file:
        data = file.read()
    at, samples = 5, 0
    while (record := struct.unpack_from("=QQ", data, 8 * at))[0] != 0:
        samples += record[0]
        at += 2 + record[1]
    return samples


PERF = ["perf", "record", "-F", "250", "--call-graph", "dwarf"]


def perf(command, path):
    profile, cpu_file = scratch("perf.data"), scratch("cpu")
    result = timed(
        [*PERF, "-o", profile, "--", sys.executable, "-B", RUSAGE, cpu_file, *command], path)
    with open(cpu_file) as file:
        cpu = float(file.read().split()[0])
    found = re.search(rb"\((\d+) samples\)", result.err)
    return Sample(cpu, result.cpu - cpu, int(found[1]) if found else None, os.path.getsize(profile))


def profilers(daemon):
    """[(name, function)], that without a profiler first; names what is missing."""
    found = [
        ("nothing preloaded", plain),
        ("nothing, again", plain),
        ("hcct, no daemon", nobody),
        ("hcct, 250/s", Ours(daemon, 250)),
        ("hcct, 10000/s", Ours(daemon, 10000)),
    ]
    if run(["true"], env={"LD_PRELOAD": GPERFTOOLS}).err:
        print(f"left out: {GPERFTOOLS} of gperftools is not installed")
    else:
        found.append(("gperftools, 250/s", gperftools))
    if shutil.which("perf") is None:
        print("left out: perf is not installed")
    elif (tried := run([*PERF, "-o", scratch("tried"), "--", "true"])).status != 0:
        print("left out: perf can't record here:", tried.err.decode().strip().split("\n")[0])
    else:
        found.append(("perf dwarf, 250/s", perf))
    return found


# ---- the table ----


def size_text(size):
    if size is None:
        return ""
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.1f} kB"


def line(name, profiler, samples, baseline):
    ratios = [sample.cpu / base.cpu for sample, base in zip(samples, baseline)]
    cpu = sum(sample.cpu for sample in samples)
    walks = [sample.walks for sample in samples if sample.walks is not None]
    beside = [sample.beside for sample in samples if sample.beside is not None]
    sizes = [sample.size for sample in samples if sample.size is not None]
    print(f"{name:9} {profiler:18} {statistics.median(ratios):6.3f}"
          f"  {min(ratios):.3f}..{max(ratios):.3f}"
          f" {f'{sum(walks) / cpu:.0f}' if walks else '':>8}"
          f" {f'{100 * sum(beside) / cpu:.2f} %' if beside else '':>9}"
          f" {size_text(statistics.median(sizes)) if sizes else '':>10}", flush=True)


def bench(name, command, path, kinds, rounds):
    plain(command, path)  # what is read from disk once
    samples = {kind: [] for kind, _ in kinds}
    for _ in range(rounds):
        for kind, profile in kinds:
            samples[kind].append(profile(command, path))
    baseline = samples[kinds[0][0]]
    print(f"\n{name}: {statistics.median(s.cpu for s in baseline):.2f} s of CPU time, plain")
    for kind, _ in kinds:
        line(name, kind, samples[kind], baseline)


NOTES = """
ratio      CPU time of the program alone, to its plain run in the same round: median, min..max
           "nothing, again" shows how much of that is this machine's noise
walks/s    achieved, per second of the program's CPU time. The kernel ticks CPU-time timers at HZ:
           with HZ=250 no more than 250, whatever rate was asked; perf doesn't depend on it
beside     CPU time of hcctd, or of perf and a script of about 20 ms, to the program's
profile    hcct: .pb.gz with names; gperftools and perf: what they record, names not included"""


def main():
    rounds = os.environ.get("HCCT_BENCH_ROUNDS", "5")
    if not rounds.isdigit() or int(rounds) < 1:
        raise SystemExit(f"HCCT_BENCH_ROUNDS is {rounds}; it must be a number from 1 on")
    with Daemon() as daemon:
        kinds = profilers(daemon)
        print(f"{rounds} rounds\n\n{'program':9} {'profiler':18} {'ratio':>6}  {'min..max':12}"
              f" {'walks/s':>8} {'beside':>9} {'profile':>10}")
        for name, command, path in programs():
            bench(name, command, path, kinds, int(rounds))
    print(NOTES)


atexit.register(shutil.rmtree, os.path.dirname(scratch("x")), ignore_errors=True)
main()
