#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""A hcctd that has few descriptors refuses programs with several metrics, of which some may have got a part of
what they need, in one sentence each, and goes on."""

import os

from support import AGENT, Daemon, check, finish, run, scratch

FEWEST, MOST = 14, 34  # it begins with some; the most is enough for one program
LIBRARIES = [os.path.join(os.path.dirname(AGENT), f"libhcct{name}.so") for name in ("blocks", "locks")]
PRELOAD = ":".join([AGENT, *LIBRARIES])
METRICS = {"LD_PRELOAD": PRELOAD, "HCCT_METRICS": "alloc,heap,lock", "HCCT_ATTACH": "start"}

refused = 0
for n in range(FEWEST, MOST):
    daemon = Daemon(under=("sh", "-c", f"ulimit -n {n} && exec \"$@\"", "sh"))
    try:
        daemon.start()
    except SystemExit:  # it says so, and ends
        continue
    for _ in range(3):
        result = run(["/bin/true"], env=daemon.env(**METRICS))
        check((result.status, result.out, result.err) == (0, b"", b""), f"{n} descriptors: the program is as without")
    refused += open(scratch("hcctd.log")).read().count("its session can't be made")
    open(scratch("hcctd.log"), "w").close()
    check(daemon.process.poll() is None, f"{n} descriptors: hcctd goes on")
    check(daemon.stop() == 0, f"{n} descriptors: it ends with status 0")
check(refused > 0, f"{refused} programs were refused")
finish()
