# SPDX-License-Identifier: LGPL-3.0-or-later
"""As many walks as were asked for, without any right: 1,000 to a second of CPU time with 1, 4 and 16
threads, and equal shares for equal threads."""

from support import check, finish, folded, record, report, scratch, target

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

path = scratch("named.pb.gz")
result = record([target("equal_threads"), "1", "1"], path, "--clock", "perf")
check(result.status == 0 and b"--clock perf is another name of cpu" in result.err
      and report(path)["processes"][0]["clock"] == "cpu", "--clock perf: CPU time as by cpu, and it is said")
finish()
