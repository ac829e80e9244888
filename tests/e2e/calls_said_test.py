# SPDX-License-Identifier: LGPL-3.0-or-later
"""What a report of counted calls says of itself is so: of a program that could not be followed, and of
children that were counted."""

import os

from calls_support import COLLECT, EXACT, record_calls
from support import check, finish, need, record, scratch, skip, target

if os.uname().machine != "x86_64":
    skip("calls are redirected on x86-64 only")
need("dash", "sqlite3")


def text_of(command):
    result = record(command, scratch("said.txt"), *COLLECT, "--summary", "exact")
    check(result.status == 0, f"{command}: it runs ({result.err.decode()[-300:]})")
    return open(scratch("said.txt")).read()


def head_of(text):
    return next((line for line in text.splitlines() if line.startswith("calls ")), "")


text = text_of(["sh", "-c", "ulimit -v 64000000; exec sqlite3 :memory: 'select 1'"])
head = head_of(text)
check("calls of sqlite3 itself are not followed: its address space is limited (ulimit -v)" in head,
      f"a program with a limit of its address space: {head}")
check("every call" not in head, "what is not counted is said first")

text = text_of(["dash", "-c", "for i in 1 2 3 4 5 6 7 8; do (:; :); done"])
check("dash: " in text and "ended before its calls could be followed" not in text,
      "children that were counted did not end before that")
check(head_of(text).endswith("every call that is followed is counted; nothing lost"), head_of(text))

result, profile = record_calls([target("calls_wrapped")], *EXACT)
counts = profile.functions()


def calls_of(name):
    """libc has other names for its functions, too."""
    return sum(n for function, n in counts.items() if function.strip("_").removeprefix("GI_").lstrip("_")
               .removeprefix("libc_").removeprefix("pthread_").startswith(name))


for name, calls in (("read", 30), ("write", 30), ("sigaction", 20), ("create", 10), ("join", 10)):
    check(calls_of(name) == calls, f"{name}, which the agent stands before, by its name: {calls_of(name)}")
check(not [n for n in counts if "hcct" in n], f"nothing is the agent's: {dict(counts)}")
finish()
