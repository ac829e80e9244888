# SPDX-License-Identifier: LGPL-3.0-or-later
"""Bursts of calls fall on all of a program's CPU time alike: on threads that end before the kernel's next
tick, on children of fork, on work between naps, and on what runs long. So shares are right, and so is the
number of calls."""

import math

from calls_support import ALL, COLLECT, record_calls
from support import check, finish, target


def lives(what, command, burst, turns_ms=0, known=0):
    result, profile = record_calls([target("calls_lives"), *command], *COLLECT, "--burst", burst, *ALL)
    check(result.status == 0, f"{what}: it runs, and its children do")
    first, second = map(int, result.out.split())
    seen = {name: 0 for name in ("first", "second")}
    for node in profile.all["nodes"]:
        if node.get("function") in seen:
            seen[node["function"]] += node["count"]
    bursts, total = profile.sum("bursts"), sum(seen.values())
    cpu = profile.sum("cpu_burst_ns") / 1e6
    if turns_ms > 0:  # what ended without a burst is in it, and what the agent has taken is not
        check(0.85 * turns_ms < cpu < 1.4 * turns_ms, f"{what}: {cpu:.0f} ms of CPU time, {turns_ms} in turns")
    check(bursts > 20, f"{what}: {bursts} bursts")
    # Were each burst a draw of what runs then. Periods leave less to chance than that.
    most = 3 * math.sqrt(0.25 / bursts) + known
    share, true = seen["first"] / max(total, 1), first / (first + second)
    check(abs(share - true) < most,
          f"{what}: {100 * share:.1f} % of calls are of first, {100 * true:.1f} % is true, {100 * most:.0f} at most")
    ratio = total / (first + second)
    check(0.7 < ratio < 1.35, f"{what}: {total} calls, {first + second} is true: {ratio:.2f} of it")


# a known fault: where signals are dear these have some 5 points too little of what they begin with
lives("threads of 1.5 ms", ["threads", "1.5", "300"], "1ms/5ms", 900, known=0.06)
lives("threads of 0.4 ms", ["threads", "0.4", "600"], "1ms/5ms", 480)
lives("threads of 5 ms", ["threads", "5", "100"], "1ms/10ms", 1000)
lives("children of 15 ms", ["children", "15", "40"], "1ms/5ms")
lives("naps", ["naps", "300", "0.6"], "1ms/5ms")
finish()
