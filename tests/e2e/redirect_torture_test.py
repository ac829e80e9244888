"""Whatever a program does to its stacks: where its calls are redirected it says and counts the same as
without, the caller that is found for a call is the one that a walk of the whole stack finds, and functions
that are called directly are counted as often as they count themselves."""

import os
import sys

from calls_support import EXACT, own_counts
from support import Daemon, check, finish, run, scratch, skip, target

if os.uname().machine != "x86_64":
    skip("calls are redirected on x86-64 only")
PARTS = (("jumps", 100), ("exceptions", 100), ("deep", 300), ("threads", 300), ("coroutines", 4), ("edges", 100),
         ("plugins", 40), ("children", 5), ("handlers", 1000), ("ticks", 20), ("tails", 100))
# Called by nothing but direct calls, in the program or a library that it begins with.
DIRECT = {"leaf", "jumper", "jump_once", "jump_again", "thrower", "catcher", "again_thrower", "ping", "pong"}
HANDLERS = {"handlers", "ticks", "jumps"}  # their handlers may come within a report, and are lost then
MODES = {"always": {}, "checked": {"HCCT_CHECK": "1"}, "in bursts": {"HCCT_BURST": "1ms/2ms"},
         "in checked bursts": {"HCCT_BURST": "1ms/2ms", "HCCT_CHECK": "1"}}
TORTURE = target("usual/calls_torture")


def torture(daemon, part, times, **more):
    counted = scratch("counted")
    if os.path.exists(counted):
        os.unlink(counted)
    result = run([TORTURE, part, str(times)], env={**daemon.env(**more), "CALLS_COUNT": counted})
    return result, own_counts(counted)


with Daemon("--summary", "exact") as daemon:
    for part, times in PARTS:
        if sys.argv[1:] and part not in sys.argv[1:]:
            continue
        plain, _ = torture(daemon, part, times, HCCT_ENABLE="0")
        for mode, settings in MODES.items():
            before = {process["pid"] for process in daemon.processes()}
            result, own = torture(daemon, part, times, HCCT_COLLECTOR="calls", **settings)
            same = (result.status, result.out, result.err) == (plain.status, plain.out, plain.err)
            check(same and plain.status == 0, f"{part} {mode}: the program says the same")
            ended = [process for process in daemon.processes() if process["pid"] not in before]
            print(part, mode, ended)
finish()
