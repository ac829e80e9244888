#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""Signal handlers that throw exceptions, out of reports of calls, out of stubs of redirected ones, and out of the
program's own code: each is caught where it would be without the agent, whether every call is counted or bursts are,
and what is called afterwards is counted."""

import os

from calls_support import ALL, COLLECT, EXACT, Profile
from support import HCCT, check, finish, run, scratch, target

BURSTS = (*COLLECT, "--burst", "1ms/2ms", *ALL)
PROGRAMS = {"reporting": target("calls_thrown"), "redirected": target("usual/calls_thrown")}


def said(result):
    words = result.out.decode().split()
    return dict(zip(words[::2], map(int, words[1::2])))


def record(program, kind, options):
    path = scratch("thrown.json")
    if os.path.exists(path):
        os.unlink(path)
    result = run([HCCT, "record", "-o", path, *options, "--", program, kind], timeout=100)
    return result, Profile(path) if os.path.exists(path) else None


def check_counts(what, made, profile):
    counted, lost = profile.functions(), profile.sum("lost")
    print(f"        {made}, counted {dict(counted)}, lost {lost}")
    check(counted["after"] == made["after"], f"{what}: calls after a handler are counted")
    check(made["handled"] - lost <= counted["handled"] <= made["handled"],
          f"{what}: those of a handler are, or are said to be lost")


for name, program in PROGRAMS.items():
    for kind in ("steps", "timer", "faults"):
        usual = said(run([program, kind]))
        for way, options in (("always", EXACT), ("bursts", BURSTS)):
            what = f"{name}, {kind}, {way}"
            result, profile = record(program, kind, options)
            made = said(result)
            check(result.status == 0 and (kind == "steps" or made == usual) and
                  made.get("caught") == made.get("handled"), f"{what}: each exception is caught")
            if way == "always":  # one burst may see nothing of so short a program
                check_counts(what, made, profile)
finish()
