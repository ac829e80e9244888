# SPDX-License-Identifier: LGPL-3.0-or-later
"""As many walks as were asked for, without any right: 1,000 to a second of CPU time with 1, 4 and 16
threads, and equal shares for equal threads. And by the kernel's task clock event, where that is
allowed; its descriptors are out of the program's way."""

from support import check, finish, folded, record, report, run, scratch, target

for threads, seconds in ((1, 4), (4, 2), (16, 1.5)):
    path = scratch(f"rate{threads}.pb.gz")
    result = record([target("equal_threads"), str(threads), str(seconds)], path, "--rate", "1000")
    check(result.status == 0, f"{threads} threads: ended with status 0")
    used = {}
    for line in result.out.decode().splitlines():
        ns, name = line.split()
        used[name] = int(ns)
    process = report(path)["processes"][0]
    # until hcctd has read the program's files a walk is dear, and some are left out by chance
    rate = (process["walks"] + process["skipped"]) / (process["total"] / 1e9)
    check(970 <= rate <= 1030, f"{threads} threads: {rate:.0f} points per second of CPU time, "
                               f"{process['walks']} of {process['walks'] + process['skipped']} with a walk")

    seen = dict.fromkeys(used, 0)
    for frames, weight in folded(path):
        for name in used:
            if name in frames:
                seen[name] += weight
    worst = max(abs(seen[name] - used[name]) / used[name] for name in used)
    check(worst <= 0.03, f"{threads} threads: no thread's time is wrong by more than "
                         f"{100 * worst:.2f} %")

path = scratch("perf.pb.gz")
record([target("equal_threads"), "4", "1"], path, "--rate", "1000", "--clock", "perf")
process = report(path)["processes"][0]
if process["perf_refused"] == 0:
    rate = process["walks"] / (process["total"] / 1e9)
    check(950 <= rate <= 1030, f"task clock: {rate:.0f} walks per second of CPU time")
    command = ["/usr/bin/python3", "-c", "import os; sum(range(3 * 10**7)); print(os.open('/', 0))"]
    plain, profiled = run(command), record(command, path, "--rate", "1000", "--clock", "perf")
    check(profiled.out == plain.out, f"task clock: the program's first descriptor is {plain.out}")
else:
    print("perf_event_open is refused: left out")
finish()
