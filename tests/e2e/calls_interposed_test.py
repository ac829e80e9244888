# SPDX-License-Identifier: LGPL-3.0-or-later
"""Programs that stand before libc with functions of their own: the agent does not call their clock, and of
what it does need of them no calls are redirected, which is said."""

import os
import shutil

from calls_support import EXACT, record_calls
from support import check, finish, record, run, scratch, skip, target

if os.uname().machine != "x86_64":
    skip("calls are redirected on x86-64 only")
ROUNDS = 60000
CLOCK, MEMORY = target("own_clock"), target("own_memory")
TICKS = (ROUNDS + 16383) // 16384


def line_of(text, name):
    return next((line.strip() for line in text.splitlines() if line.strip().startswith(name + ": ")), "")


def text_of(command, *options):
    result = record(command, scratch("own.txt"), "--collector", "calls", *options)
    check(result.status == 0 and result.out == b"x\n", f"{command} {options}: it runs ({result.status})")
    return open(scratch("own.txt")).read()


result, profile = record_calls([CLOCK, str(ROUNDS)], *EXACT)
calls = profile.functions()
check(result.out == b"x\n" and calls["leaf"] == ROUNDS + TICKS and calls["clock_gettime"] == TICKS,
      f"a clock of its own: {calls['leaf']} calls, {calls['clock_gettime']} of it, none by the agent")
result, profile = record_calls([CLOCK, str(1000 * ROUNDS)], "--collector", "calls", "--burst", "2ms/10ms",
                               "--no-report")
check(result.out == b"x\n" and profile.sum("bursts") > 2, f"in bursts: {profile.sum('bursts')}")
result = record([CLOCK, str(10 * ROUNDS)], scratch("own.json"), "--clock", "wall", "--rate", "1000")
check(result.out == b"x\n" and result.status == 0, "sampled on the wall clock")

result = record([MEMORY, str(ROUNDS)], scratch("own.json"), "--collector", "calls")
check(result.out == b"x\n" and result.status == 0, f"memcpy of its own: it runs ({result.status})")
check(b"own_memory: it stands before functions of libc that the agent needs itself" in result.err
      and b"no call of " in result.err, f"and its calls are not counted: {result.err.decode()[-300:].strip()}")

if shutil.which("gcc"):
    source, sanitized = scratch("sanitized.c"), scratch("sanitized")
    with open(source, "w") as file:
        file.write("#include <stdio.h>\nstatic volatile int n;\n__attribute__((noinline)) static void f(void) { n++; }\n"
                   "int main(void) { for (int i = 0; i < 1000; i++) f(); puts(\"x\"); return 0; }\n")
    if run(["gcc", "-O1", "-fsanitize=address", source, "-o", sanitized]).status == 0:
        text = text_of([sanitized], "--modules", "sanitized,libasan*")
        check("it stands before functions" in line_of(text, next(
            (word.rstrip(":") for word in text.split() if word.startswith("libasan.so")), "libasan")),
            "AddressSanitizer's library, asked for by name, is left alone")
        check(" 1,000 " in text, "and the program is followed")
finish()
