# SPDX-License-Identifier: LGPL-3.0-or-later
"""A program that is over at once pays for pages: each that the agent touches first is a fault, and
with each child of fork it is one again. Faults are counted, as they do not depend on speed; how code
lies in memory differs from run to run by one or two, so the least of several runs counts."""

import os

from support import AGENT, check, finish, scratch

RUNS = 15
FORK = "(:); :"  # a child of the shell that only ends


def faults(command, env):
    """The least that a run takes, its children's among them."""
    least = None
    for _ in range(RUNS):
        pid = os.posix_spawn(command[0], command, env)
        used = os.wait4(pid, 0)[2]
        least = used.ru_minflt if least is None else min(least, used.ru_minflt)
    return least


def more(command):
    agent = {"LD_PRELOAD": AGENT, "HCCT_SOCKET": scratch("nobody")}
    plain, with_agent = faults(command, {}), faults(command, agent)
    return with_agent - plain, f"{with_agent} page faults, {plain} without the agent"


of_one, words = more(["/bin/true"])
check(of_one <= 18, f"/bin/true: {words}")
of_two, words = more(["/bin/sh", "-c", FORK])
check(of_two <= 32, f"a shell with a child: {words}")
finish()
