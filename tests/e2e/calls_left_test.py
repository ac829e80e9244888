#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""A signal handler leaves reports of calls by a jump, at one instruction of them after the other: the program goes
on, and what it calls then is counted exactly. What it calls on one stack while a report is left on another waits
for that, and so much of it may be lost that only the program's end is looked at; what is lost where reports are left
again and again is counted."""

from calls_support import EXACT, record_calls
from support import check, finish, target

BURSTS = ("--collector", "calls", "--burst", "1ms/4ms")


def said(result):
    words = result.out.decode().split()
    return dict(zip(words[::2], map(int, words[1::2])))


for kind in ("usual", "rare", "again", "elsewhere"):
    result, profile = record_calls([target("calls_left"), kind], *EXACT, timeout=100)
    check(result.status == 0, f"{kind}: the program ends as it would")
    made, counted, lost = said(result), profile.functions(), profile.sum("lost")
    print(f"        {made}, counted {dict(counted)}, lost {lost}")
    for name in ("after", "handled"):
        least = 0 if kind == "elsewhere" else made[name] - lost
        check(least <= counted[name] <= made[name], f"{kind}: calls of {name}() are counted")
    check(lost == 0 or kind in ("again", "elsewhere"), f"{kind}: none is lost")
    if kind == "elsewhere":
        continue  # bursts change there with all signals blocked, and a step in that ends a program
    result, profile = record_calls([target("calls_left"), kind], *BURSTS, timeout=100)
    check(result.status == 0, f"{kind}, bursts: the program ends as it would")
finish()
