# SPDX-License-Identifier: LGPL-3.0-or-later
"""Programs that lock their memory (mlockall) are as without the agent where calls are counted: little
memory is locked, and becomes real."""

import os

from support import BUILD, Daemon, check, finish, run

LOCKED = os.path.join(BUILD, "tests", "hazards", "locked")

with Daemon("--summary", "exact") as daemon:
    for collector in ({}, {"HCCT_BURST": "2ms/10ms"}):
        for kind in ("current", "future", "limit", "space"):
            plain = run([LOCKED, kind])
            result = run([LOCKED, kind], env=daemon.env(HCCT_COLLECTOR="calls", **collector))
            check((result.status, result.out, result.err) == (plain.status, plain.out, plain.err)
                  and plain.out == b"done\n", f"{kind} {collector or 'always'}: {result.out.decode()[-200:].strip()}")
    found = [p["calls"] for p in daemon.processes() if p["command"] == "locked"]
    check(len(found) >= 8 and sum(found) > 0, f"they were counted: {found}")
finish()
