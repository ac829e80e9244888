# SPDX-License-Identifier: LGPL-3.0-or-later
"""What has broken profilers, all at once and at a high rate: exceptions, dlopen and dlclose, fork,
short threads, longjmp out of handlers, coroutines. The sums come out the same, over and over.

    usage: storm_test.py [ROUNDS [RATE]]     of each program; `make hazards` has ten times as many
"""

import sys

from support import Daemon, check, finish, run, target

ROUNDS = sys.argv[1] if len(sys.argv) > 1 else "80"
RATE = sys.argv[2] if len(sys.argv) > 2 else "10000"

plain = run([target("storm"), ROUNDS])
check(plain.status == 0, "it runs without the agent: " + plain.out.decode().strip())
with Daemon() as daemon:
    same = 0
    for _ in range(10):
        result = run([target("storm"), ROUNDS], env=daemon.env(HCCT_RATE=RATE), timeout=max(60, int(ROUNDS)))
        is_same = (result.status, result.out, result.err) == (plain.status, plain.out, plain.err)
        same += is_same
        if not is_same:
            print(f"        {result.status} {result.out} {result.err[:200]}")
    check(same == 10, f"{same} of 10 runs gave the same with the agent")
    runs = [p for p in daemon.processes() if p["command"] == "storm" and p["walks"] > 0]
    check(len(runs) >= 10, f"{len(runs)} processes were profiled")
    lost, walks = sum(p["lost"] for p in runs), sum(p["walks"] for p in runs)
    check(lost <= 0.01 * walks, f"{lost} ticks found no room, beside {walks} walks: their time is in later ones")
    check(sum(p["broken_rings"] for p in runs) == 0, "each ring made sense")
finish()
