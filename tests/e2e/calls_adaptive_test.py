# SPDX-License-Identifier: LGPL-3.0-or-later
"""Bursts of calls that are left out as enough is known: there are fewer of them, they stand for as
much, the program goes on as ever, and shares are near the exact ones."""

from calls_support import ALL, COLLECT, phase_shares, record_calls
from support import check, finish, run, target

PROGRAM = [target("calls_phases"), "1", "5"]
PLAIN, ADAPTIVE = "1ms/10ms", "1ms/10ms,adaptive=50%"
POINTS = 15


alone = run(PROGRAM)
profiles = {}
for burst in (PLAIN, ADAPTIVE):
    result, profiles[burst] = record_calls(PROGRAM, *COLLECT, "--burst", burst, "--summary",
                                           "exact", *ALL)
    check(result.status == 0 and result.out == alone.out, f"{burst}: the program's output is its own")
plain, adaptive = (profiles[burst] for burst in (PLAIN, ADAPTIVE))
check(plain.sum("bursts") >= 100, f"{plain.sum('bursts')} bursts without")
check(0 < adaptive.sum("bursts") < 0.6 * plain.sum("bursts"),
      f"{adaptive.sum('bursts')} bursts, {plain.sum('bursts')} without")
share = {burst: profiles[burst].sum("stands_ns") / profiles[burst].sum("cpu_burst_ns")
         for burst in profiles}
check(all(0.5 < one < 1.5 for one in share.values()), f"they stand for all of the time: {share}")
check(adaptive.sum("stands_ns") > 15 * adaptive.sum("seen_ns"), "each for more than its period")
often = phase_shares(adaptive)["often"]
check(abs(often - 70) <= POINTS, f"often: {often:.1f} %, 70 in truth")

# under a budget periods follow from what was seen: none is left out then; and samples know of none
for name, settings in (("under a budget", {"HCCT_BUDGET": "1%", "HCCT_COLLECTOR": "calls"}),
                       ("samples", {"HCCT_COLLECTOR": "walks"})):
    result = run(PROGRAM, env={"HCCT_BURST": ADAPTIVE, **settings})
    check(result.status == 0 and result.out == alone.out and result.err == alone.err, name)
finish()
