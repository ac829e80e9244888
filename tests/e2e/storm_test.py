# SPDX-License-Identifier: LGPL-3.0-or-later
"""What has broken profilers, all at once and at the highest rate: exceptions, dlopen and dlclose, fork,
short threads, longjmp out of handlers, coroutines. The sums come out the same, over and over."""

from support import Daemon, check, finish, run, target

plain = run([target("storm"), "200"])
check(plain.status == 0, "it runs without the agent: " + plain.out.decode().strip())
with Daemon() as daemon:
    same = 0
    for _ in range(10):
        result = run([target("storm"), "200"], env=daemon.env(HCCT_RATE="10000"), timeout=60)
        same += (result.status, result.out, result.err) == (plain.status, plain.out, plain.err)
    check(same == 10, f"{same} of 10 runs gave the same with the agent")
    runs = [p for p in daemon.processes() if p["command"] == "storm" and p["walks"] > 0]
    check(len(runs) >= 10, f"{len(runs)} processes were profiled")
    lost, walks = sum(p["lost"] for p in runs), sum(p["walks"] for p in runs)
    check(lost <= 0.01 * walks, f"{lost} ticks found no room, beside {walks} walks: their time is in later ones")
    check(sum(p["broken_rings"] for p in runs) == 0, "each ring made sense")
finish()
