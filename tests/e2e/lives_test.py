# SPDX-License-Identifier: LGPL-3.0-or-later
"""What lives shortly, and what is dear to sample, has its share: threads and forked children shorter
than a sampling period, and deep stacks in turns with shallow ones.

Samples fall by chance. Of n samples that weigh w each at most, a total is within 5 sqrt(n) w in all
but one of a million runs. Lives are seen from their first moment to the agent's last word. What the
kernel does for a thread after that is added as it is learned; that of a process, some 100 us, is in no
sample; a busy machine lets ticks come late, which the last sample makes up for."""

import math
import os
import platform
import sys

from support import check, finish, folded, record, report, scratch, target

SECOND = 1e9
FIRST_WEIGHT = 20e6  # ns: of the sample at which a child looks for the daemon


def seen_in(path, *names):
    """[time below each of the functions], and all time."""
    sums, total = dict.fromkeys(names, 0), 0
    for frames, weight in folded(path):
        total += weight
        for name in names:
            if name in frames:
                sums[name] += weight
    return [sums[name] for name in names], total


def is_right(seen, true, weight):
    chance = 5 * math.sqrt(true * weight)
    return 0.8 * true - chance <= seen <= 1.08 * true + chance


def check_lives(kind, count, microseconds, at_once, rate):
    what = f"{count} {kind} of {microseconds / 1000:g} ms, {at_once} at once, {rate} a second"
    path = scratch("lives.pb.gz")
    result = record([target("lives"), kind, str(count), str(microseconds), str(at_once)], path,
                    "--rate", str(rate))
    check(result.status == 0, f"{what}: ended with status 0")
    used, former, latter = map(int, result.out.split())
    (seen_former, seen_latter), total = seen_in(path, "former", "latter")
    weight = SECOND / rate if kind == "threads" else FIRST_WEIGHT
    for name, true, seen in (("all", used, total), ("former", former, seen_former),
                             ("latter", latter, seen_latter)):
        check(is_right(seen, true, weight),
              f"{what}: {name}: {seen / SECOND:.3f} s credited, {true / SECOND:.3f} s used")
    return report(path)


def check_deep(frames, milliseconds, rate):
    what = f"{frames} frames in turns of {milliseconds} ms, {rate} a second"
    path = scratch("deep.pb.gz")
    result = record([target("rounds"), str(frames), str(milliseconds), "5"], path,
                    "--rate", str(rate))
    check(result.status == 0, f"{what}: ended with status 0")
    below, above = map(int, result.out.split())
    (seen_below, seen_above), _ = seen_in(path, "below", "above")
    process = report(path)["processes"][0]
    share, seen = below / (below + above), seen_below / max(1, seen_below + seen_above)
    chance = 0.5 / math.sqrt(max(1, process["walks"]))
    # where walks are dear they weigh differently: some few heavy ones are most of it
    check(abs(seen - share) <= 0.01 + 5 * chance * 1.5,
          f"{what}: {100 * seen:.1f} % at the bottom, {100 * share:.1f} % is true "
          f"({process['walks']} walks)")


check_lives("threads", 4000, 1000, 1, 100)
check_lives("forks", 1000, 2000, 1, 100)
check_lives("forks", 100, 15000, 4, 100)
for rate in 250, 1000:
    check_lives("threads", 1000, 1000, 1, rate)
    check_lives("threads", 200, 8000, 4, rate)
    check_lives("forks", 600, 2000, 1, rate)

processes = check_lives("forks", 300, 2000, 1, 100)["processes"]
runs = sum(process["runs"] for process in processes)
check(runs < 200, f"a child that has no sample does not attach: {runs} of 301 processes did")

# Threads that wait for a processor: their timers come early, and still in time for what they run.
path = scratch("pinned.pb.gz")
record(["taskset", "-c", str(min(os.sched_getaffinity(0))), target("lives"), "threads", "240", "8000", "6"],
       path, "--rate", "250")
seen, total = seen_in(path, "former", "latter")
check(sum(seen) >= 0.9 * total, f"six at once on one processor: {sum(seen) / SECOND:.3f} s of "
                                f"{total / SECOND:.3f} s are in what they run, not in their ends")

# The CPU clock of a process goes on over exec: what a shell has used before is not the program's.
path = scratch("exec.pb.gz")
loop = "i=0; while [ $i -lt 600000 ]; do i=$((i+1)); done; "
result = record(["sh", "-c", loop + f"exec {target('lives')} threads 20 5000 1"], path)
used = int(result.out.split()[0])
cpu = {process["command"]: process["cpu_ns"] for process in report(path)["processes"]}
before = sum(ns for name, ns in cpu.items() if name != "lives")
check(cpu.get("lives", 0) <= used + before / 3 and before >= 0.1 * SECOND,
      f"after exec: {cpu.get('lives', 0) / SECOND:.2f} s are the program's, which says "
      f"{used / SECOND:.2f}; {before / SECOND:.2f} s are the shell's")

# What fork takes is fork's, and the agent's start is nobody's.
path = scratch("fork.pb.gz")
code = """import os, time
memory, taken = bytearray(150 << 20), 0
for _ in range(60):
    before = time.thread_time_ns()
    child = os.fork()
    if child == 0:
        os._exit(0)
    taken += time.thread_time_ns() - before
    os.waitpid(child, 0)
print(taken)"""
result = record([sys.executable, "-S", "-c", code], path)
true, weight = int(result.out), 1e6
seen = seen_in(path, "__fork", "__libc_fork", "fork")[0]
check(is_right(sum(seen), true, 60 * weight / 5),
      f"fork: {sum(seen) / SECOND:.3f} s credited, {true / SECOND:.3f} s used")
functions = report(path)
agents = {i for i, module in enumerate(functions["modules"]) if "libhcctagent" in module["path"]}
ours = sum(f["self"] for f in functions["functions"] if f.get("module") in agents)
check(ours <= 0.05 * functions["total"],
      f"the agent's own functions: {ours / SECOND:.3f} s of {functions['total'] / SECOND:.3f}")

# Threads that are hardly more than their end. What the agent itself counts as lost is known.
path = scratch("ends.pb.gz")
result = record([target("lives"), "threads", "20000", "20", "1"], path, "--rate", "4000")
used = int(result.out.split()[0])
ends = report(path)
seen = ends["total"] + sum(process["lost_ns"] for process in ends["processes"])
chance = 5 * math.sqrt(used * SECOND / 4000)
check(0.95 * used - chance <= seen <= 1.05 * used + chance,
      f"ends of threads: {seen / SECOND:.3f} s credited or lost, {used / SECOND:.3f} s used")

# Threads whose destructors compute, after ours.
path = scratch("destructors.pb.gz")
record([target("destructors"), "8"], path)
destroyed = sum(ns for frames, ns in folded(path) if "destroy" in frames)
check(0.75 <= destroyed / (0.8 * SECOND) <= 1.25,
      f"destructors of threads: {destroyed / SECOND:.3f} of 0.8 s")

# A process ends, without destructors, while no tick can come.
path = scratch("leave.pb.gz")
code = """import ctypes, os, time
mask = ctypes.c_uint64(2 ** 64 - 1)
ctypes.CDLL(None).syscall(14, 0, ctypes.byref(mask), None, 8)
begin = time.thread_time()
while time.thread_time() < begin + 0.3:
    pass
os._exit(0)"""
if platform.machine() == "x86_64":
    result = record([sys.executable, "-S", "-c", code], path)
    total = report(path)["total"] / SECOND
    check(0.29 <= total, f"all signals blocked, _exit: {total:.3f} s credited, 0.3 s used")

for depth in 50, 300, 2000:
    check_deep(depth, 1, 1000)
finish()
