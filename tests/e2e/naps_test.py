# SPDX-License-Identifier: LGPL-3.0-or-later
"""A thread that naps pays for few of its naps: the timer that waits for its next sample is set anew
where it has expired meanwhile, and is left alone where it has not.

A sample is as far away as some forty of these naps in real time, and then some more, each time less,
as the thread has slept most of that time."""

from support import Daemon, check, finish, need, run, scratch, target

NAPS = 4000

need("strace")
log = scratch("strace.txt")
with Daemon() as daemon:
    traced = run(["strace", "-f", "-e", "trace=timer_settime", "-o", log, target("naps"), str(NAPS), "60"],
                 env=daemon.env(HCCT_RATE="250"))
    process = daemon.wait_for(lambda p: p["command"] == "naps")
with open(log) as lines:
    settings = sum("timer_settime" in line for line in lines)
check(traced.status == 0 and process is not None, "it ran, and was profiled")
check(settings < NAPS / 2, f"{NAPS} naps: a timer was set {settings} times")
finish()
