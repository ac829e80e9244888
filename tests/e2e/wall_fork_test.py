# SPDX-License-Identifier: LGPL-3.0-or-later
"""On the wall clock, threads of a child of fork that do nothing but sleep are all there: the child has
no session yet when they begin, and the first of them that looks for it keeps the others away."""

from support import check, finish, record, report, scratch, target

THREADS = 16
for run in range(3):
    path = scratch("fork.pb.gz")
    result = record([target("sleepers"), str(THREADS), "1.5"], path, "--clock", "wall")
    check(result.status == 0, "the program ends with status 0")
    truth = next(int(line.split()[0]) for line in result.out.decode().splitlines()
                 if line.endswith(" nap"))
    profile = report(path)
    seen = sum(function["inclusive"] for function in profile["functions"]
               if function["function"] == "nap")
    # what threads slept before hcctd, on a busy machine, had room for them: it must be said
    lost = sum(process["lost_ns"] for process in profile["processes"])
    # sleeps that are awake late on a busy machine are in the truth as well; of each thread a step
    # or two are left to chance
    check(0.94 < (seen + lost) / truth < 1.06,
          f"run {run + 1}: {seen / 1e9:.2f} s in nap, {lost / 1e9:.2f} said to be lost, {truth / 1e9:.2f} are true")
finish()
