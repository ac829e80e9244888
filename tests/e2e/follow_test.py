# SPDX-License-Identifier: LGPL-3.0-or-later
"""Children: profiled as processes of their own, or left alone when that is asked for; and many of them
folded into one profile for each executable."""

import sys
import time

from support import AGENT, Daemon, check, finish, record, report, run, scratch

WORK = "sum(i * i for i in range(2000000))"
FAMILY = f"""
import os, sys
if os.fork() == 0:
    {WORK}
    os._exit(0)
os.wait()
{WORK}
os.spawnl(os.P_WAIT, sys.executable, sys.executable, "-c", "{WORK}")
"""

# a child that is to call exec may have had a sample before
for options, expected in ([], (3, 4)), (["--no-follow"], (1,)):
    path = scratch("family.pb.gz")
    result = record([sys.executable, "-c", FAMILY], path, "--no-report", *options)
    processes = [p for p in report(path)["processes"] if p["walks"] > 0]
    check(result.status == 0 and len(processes) in expected,
          f"hcct record {' '.join(options)}: {len(processes)} processes of 3 are in the profile")

with Daemon() as daemon:
    for _ in range(90):
        run(["/usr/bin/env", "true"], env=daemon.env(HCCT_ATTACH="start"))
    daemon.wait_for(lambda p: p["runs"] > 10)
    processes = daemon.processes()
    runs = sum(p["runs"] for p in processes)
    # a program does not wait for a hcctd that is late
    check(150 < runs <= 180, f"{runs} processes came and went (env calls exec: two programs each time)")
    for _ in range(100):  # in a thread of its own
        processes = daemon.processes()
        if len(processes) <= 82:
            break
        time.sleep(0.1)
    check(len(processes) <= 82, f"old ones are folded by executable: {len(processes)} profiles")
finish()
