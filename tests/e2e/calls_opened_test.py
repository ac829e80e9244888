# SPDX-License-Identifier: LGPL-3.0-or-later
"""Calls of libraries that are opened while the program runs: those that it asks for a function are
followed from that moment on, and of others it is said for how long they were not; and dlopen and dlsym
answer as ever, though the agent stands before them."""

import os
import re
import sys

from calls_support import COLLECT, EXACT, record_calls
from support import check, finish, run, scratch, skip, target, record

if os.uname().machine != "x86_64":
    skip("calls are redirected on x86-64 only")
PROGRAM, ROUNDS = target("calls_opened"), 5


def text_of(*words):
    """The text report of a run."""
    result = record([PROGRAM, *words], scratch("opened.txt"), *COLLECT, "--summary", "exact")
    check(result.status == 0 and result.out == b"done\n", f"{words}: it runs")
    return open(scratch("opened.txt")).read()


def line_of(text):
    return next((line.strip() for line in text.splitlines()
                 if line.strip().startswith("calls_opened_plugin: ")), "")


result, profile = record_calls([PROGRAM, "asked", str(ROUNDS)], *EXACT)
calls = profile.functions()["leaf"]
check(result.status == 0 and calls == ROUNDS * 1000 and profile.sum("lost") == 0,
      f"a library that is opened, asked for a function and closed, {ROUNDS} times: {calls} calls in it")
line = line_of(text_of("asked", str(ROUNDS)))
check(re.search(rf"direct calls? (?:is|are) followed.*; not followed in its first [\d.]+ .s$", line),
      f"only what its constructors do is not seen: {line}")

SAID = r"ended before its calls could be followed, after [\d.]+ .?s|not followed in its first"
for how in (("told", "1"), ("left",)):
    text = text_of(*how)
    check(re.search(SAID, line_of(text)), f"one that is asked for nothing ({how[0]}): {line_of(text)}")

plain = run([PROGRAM, "relative"])
os.makedirs(scratch("elsewhere"), exist_ok=True)
result = record([PROGRAM, "relative"], scratch("relative.json"), *EXACT)
check(plain.status == 0 and plain.out.startswith(b"found, an error, ") and result.out == plain.out
      and result.status == 0, f"who calls is known to dlopen and dlsym: {result.out} and {plain.out}")
finish()
