# SPDX-License-Identifier: LGPL-3.0-or-later
"""Under a budget bursts are so far apart that profiling costs no more than it says; the program can't
tell, and what is estimated stays what it is."""

import os

from calls_support import ALL, COLLECT, record_calls
from support import check, finish, record, run, scratch, target

BUDGET = 0.05
FACTOR = 4  # as in calls_dense_test.py
SPARE = 2   # of the budget: other programs make all of it dearer, and it begins with what is paid once
ROUNDS = "600"

for program in ("calls_dense", "calls_dense_hooks"):
    if program == "calls_dense" and os.uname().machine != "x86_64":
        continue
    alone = run([target(program), "dense", ROUNDS])
    result, profile = record_calls([target(program), "dense", ROUNDS], *COLLECT, "--budget", "5%", *ALL)
    check((result.out, result.status) == (alone.out, alone.status), f"{program}: it runs as without")
    process = profile.processes[0]
    cpu, cost, reading = (process[name] for name in ("cpu_burst_ns", "cost_ns", "reading_ns"))
    check(process["budget_ppm"] == 1e6 * BUDGET, f"{process['budget_ppm']} ppm")
    check(0 < cost < SPARE * BUDGET * cpu and reading > 0,
          f"{program}: {100 * cost / cpu:.2f} % of its CPU time, and {100 * reading / cpu:.2f} % in hcctd")
    check(0 < process["own_ns"] <= cost, "reports, ticks and the agent's start are what it costs")
    bursts, stands = process["bursts"], process["stands_ns"]
    check(1 < bursts < cpu / 5e6, f"{program}: {bursts} bursts in {cpu / 1e6:.0f} ms")
    check(cpu / 5 < stands < cpu * 5, f"{program}: they stand for {stands / 1e6:.0f} ms")
    calls = int(result.out)
    estimate = profile.all["total"] * process.get("scale", 1)
    check(calls / FACTOR < estimate < calls * FACTOR, f"{program}: {calls} calls, {estimate:.0f} estimated")

record([target("calls_dense_hooks"), "dense", "200"], scratch("said.txt"), *COLLECT, "--budget", "5%")
text = open(scratch("said.txt")).read()
check("\nbudget    5 % of the program's own CPU time; profiling took " in text, "the report says so")

for options, sentence in ((("--budget", "none"), b"--budget 'none' is not a share of the CPU time from 0.01% to 50%"),
                          (("--budget", "60%"), b"--budget '60%' is not a share"),):
    result = record(["true"], scratch("none.pb.gz"), *COLLECT, *options)
    check(result.status != 0 and sentence in result.err and result.err.count(b"\n") == 1, f"{options}: {result.err}")
result = record(["true"], scratch("none.pb.gz"), "--budget", "1%")
check(result.status != 0 and b"--budget is for --collector calls" in result.err, f"samples: {result.err}")

os.environ["HCCT_BUDGET"] = "much"
result = record([target("calls_dense_hooks"), "dense", "10"], scratch("much.pb.gz"), *COLLECT)
check(result.status == 0 and b'HCCT_BUDGET is "much" but must be a share of the CPU time' in result.err and
      b"none is used" in result.err, f"a bad value: {result.err}")
finish()
