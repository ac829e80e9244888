#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""A signal handler leaves reports of calls by a jump, or goes to another stack in the middle of them, at one
instruction of them after the other: the program goes on, and what it calls then is counted, or said to be lost. It is
lost only where there is more than a thread keeps: where reports are left again and again, and where one is left on a
stack, and others go on. In bursts signals are blocked for a moment: not those of the steps, which would end the
program."""

from calls_support import EXACT, record_calls
from support import check, finish, target

BURSTS = ("--collector", "calls", "--burst", "1ms/4ms")
LOSES = ("again", "elsewhere", "paused_both")


def said(result):
    words = result.out.decode().split()
    return dict(zip(words[::2], map(int, words[1::2])))


for kind in ("usual", "rare", "again", "elsewhere", "deep", "paused", "paused_there", "paused_both"):
    result, profile = record_calls([target("calls_left"), kind], *EXACT, timeout=100)
    check(result.status == 0, f"{kind}: the program ends as it would")
    made, counted, lost = said(result), profile.functions(), profile.sum("lost")
    print(f"        {made}, counted {dict(counted)}, lost {lost}")
    whole = ("inner",) if kind == "paused_both" else ()  # else some are reported and then left
    for name in ("after", "handled", *whole):
        check(made[name] - lost <= counted[name] <= made[name], f"{kind}: calls of {name}() are counted")
    check(lost == 0 or kind in LOSES, f"{kind}: none is lost")
    result, profile = record_calls([target("calls_left"), kind], *BURSTS, timeout=100)
    check(result.status == 0, f"{kind}, bursts: the program ends as it would")
finish()
