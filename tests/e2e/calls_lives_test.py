# SPDX-License-Identifier: LGPL-3.0-or-later
"""Bursts of calls fall on all of a program's CPU time alike: on threads that end before the kernel's next
tick, on children of fork, on work between naps, and on what runs long. So shares are right, and so is the
number of calls."""

import math
import resource

from calls_support import ALL, COLLECT, record_calls
from support import check, finish, run, target

LIVES = target("calls_lives")


def used_ms():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e3 * (used.ru_utime + used.ru_stime)


def plain_ms(command):
    """CPU time of it without the agent."""
    before = used_ms()
    run([LIVES, *command])
    return used_ms() - before


def lives(what, command, burst, known_cpu=False):
    result, profile = record_calls([LIVES, *command], *COLLECT, "--burst", burst, *ALL)
    check(result.status == 0, f"{what}: it runs, and its children do")
    first, second = map(int, result.out.split())
    seen = {name: 0 for name in ("first", "second")}
    for node in profile.all["nodes"]:
        if node.get("function") in seen:
            seen[node["function"]] += node["count"]
    bursts, total = profile.sum("bursts"), sum(seen.values())
    cpu = profile.sum("cpu_burst_ns") / 1e6
    if known_cpu:  # what ended without a burst is in it, and of what the agent takes that at both ends of a thread
        plain = max(plain_ms(command) for _ in range(3))
        most = 1.4 * plain + 0.1 * int(command[2])
        check(0.7 * plain < cpu < most, f"{what}: {cpu:.0f} ms of CPU time, {plain:.0f} without the agent")
    check(bursts > 20, f"{what}: {bursts} bursts")
    # Were each burst a draw of what runs then. Periods leave less to chance than that.
    most = 3 * math.sqrt(0.25 / bursts)
    share, true = seen["first"] / max(total, 1), first / (first + second)
    check(abs(share - true) < most,
          f"{what}: {100 * share:.1f} % of calls are of first, {100 * true:.1f} % is true, {100 * most:.0f} at most")
    ratio = total / (first + second)
    check(0.7 < ratio < 1.35, f"{what}: {total} calls, {first + second} is true: {ratio:.2f} of it")


pace = int(run([LIVES, "pace"]).out)


def calls(ms):
    return str(int(ms * pace))


lives("threads of 1.5 ms", ["threads", calls(1.5), "300"], "1ms/5ms", known_cpu=True)
lives("threads of 0.4 ms", ["threads", calls(0.4), "600"], "1ms/5ms", known_cpu=True)
lives("threads of 5 ms", ["threads", calls(5), "100"], "1ms/10ms", known_cpu=True)
lives("children of 15 ms", ["children", calls(15), "40"], "1ms/5ms")
lives("naps", ["naps", "300", "0.6"], "1ms/5ms")
finish()
