# SPDX-License-Identifier: LGPL-3.0-or-later
"""The kernel's end of a child of fork, which takes as long as its memory is large, has its samples,
whoever waits for the child: what is credited is what the kernel counts. How long it takes is known
after the first of them, and a child that attaches in its end has the rest of it, too.

Of children that live for D each a total has the standard deviation sqrt(n D 20 ms), as they attach by
a coin. Without those samples more than half of all time was missing."""

import math
import sys

from support import check, finish, need, record, report, scratch

CODE = """import os
memory = bytearray(b'x') * (60 << 20)
for i in range(300):
    child = os.fork()
    if child == 0:
        os._exit(0)
    {wait}"""
WAITS = ["os.waitpid(child, 0)", "os.wait3(0)", "os.wait4(child, 0)", "os.wait()"]


def check_total(what, seen, true):
    chance = 4 * math.sqrt(true * 0.02)
    check(0.97 * true - chance <= seen <= 1.03 * true + chance,
          f"{what}: {seen:.3f} s credited, {true:.3f} s counted by the kernel, chance {chance:.3f}")


need("python3")
all_seen = all_true = 0
for wait in WAITS:
    path = scratch("ends.pb.gz")
    result = record([sys.executable, "-S", "-c", CODE.format(wait=wait)], path, "--rate", "1000")
    check(result.status == 0, f"{wait}: ended with status 0")
    profile = report(path)
    all_seen += profile["total"] / 1e9
    all_true += profile["kernel_ns"] / 1e9
    check_total(wait, profile["total"] / 1e9, profile["kernel_ns"] / 1e9)
check_total("all", all_seen, all_true)
finish()
