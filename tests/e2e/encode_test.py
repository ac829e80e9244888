# SPDX-License-Identifier: LGPL-3.0-or-later
"""The calls of programs that do anything to their stacks, recorded and executed again with contexts as
numbers: no context is decoded to another path than the trace tells. And a trace of samples is refused."""

import json
import os

from calls_support import COLLECT
from support import HCCT, check, finish, record, run, scratch, skip, target

if os.uname().machine != "x86_64":
    skip("calls are redirected on x86-64 only")
PARTS = (("jumps", 100), ("exceptions", 100), ("deep", 300), ("threads", 300), ("coroutines", 4), ("edges", 100),
         ("handlers", 100), ("tails", 100))
TORTURE = target("usual/calls_torture")


def encoded(trace, *options):
    result = run([HCCT, "encode", "--format", "json", *options, trace])
    check(result.status == 0, f"{trace}, {options}: {result.err.decode()}")
    return json.loads(result.out)["processes"] if result.status == 0 else []


def check_part(part, times):
    trace = scratch("trace")
    result = record([TORTURE, part, str(times)], scratch("profile.pb.gz"), *COLLECT, "--no-report", "--trace", trace)
    check(result.status == 0, f"{part}: {result.err.decode()}")
    for how in (("--every", "7"), ("--every", "1", "--id-bits", "4")):
        processes = encoded(trace, *how)
        contexts = sum(process["checked"]["contexts"] for process in processes)
        wrong = sum(process["checked"]["wrong"] + process["checked"]["of_the_time_wrong"] for process in processes)
        calls = sum(process["calls"]["all"] for process in processes)
        check(wrong == 0 and contexts > 0 and calls > 100,
              f"{part}, {' '.join(how)}: {contexts} contexts of {calls} calls, {wrong} wrong")


for part, times in PARTS:
    check_part(part, times)

record([TORTURE, "deep", "300"], scratch("profile.pb.gz"), "--rate", "1000", "--no-report", "--trace", scratch("samples"))
result = run([HCCT, "encode", scratch("samples")])
check(result.status == 1 and result.out == b"" and b"it is a trace of samples" in result.err,
      f"a trace of samples: {result.err.decode()}")
finish()
