# SPDX-License-Identifier: LGPL-3.0-or-later
"""A burst is a length of the program's own CPU time: the reports of calls, which take ten times as long as
the calls of some programs, are not part of it; nor does it end where the program sleeps."""

from calls_support import ALL, COLLECT, record_calls
from support import check, finish, run, target

FACTOR = 4  # the total is estimated so well at least, where reports take ten times the program's time

ROUNDS = "250"

for program in ("calls_dense", "calls_dense_hooks"):
    result, profile = record_calls([target(program), "dense", ROUNDS], *COLLECT, "--burst", "2ms/20ms", *ALL)
    calls = int(result.out)
    cpu, seen, own = (profile.sum(name) for name in ("cpu_burst_ns", "seen_ns", "own_ns"))
    estimate = profile.all["total"] * cpu / max(1, profile.sum("stands_ns"))
    print(f"{program}: {profile.sum('bursts')} bursts, {seen / 1e6:.1f} of {cpu / 1e6:.0f} ms seen, "
          f"reports took {own / 1e6:.1f} ms")
    check(calls / FACTOR < estimate < calls * FACTOR,
          f"{program}: {calls} calls, {estimate:.0f} are estimated: {estimate / calls:.2f} of it")
    check(own > seen / 4, "reports take a good part of a burst")
    check(seen < cpu, "a part is seen")

result, profile = record_calls([target("calls_dense"), "naps", "1.5"], *COLLECT, "--burst", "2ms/20ms", *ALL)
seen, cpu, bursts = profile.sum("seen_ns"), profile.sum("cpu_burst_ns"), profile.sum("bursts")
check(result.status == 0 and seen > 1e6 * bursts,
      f"bursts go on after naps: {bursts}, {seen / 1e6 / max(1, bursts):.2f} ms each of {cpu / 1e6:.0f}")

# Where a burst was nearly over when the program slept, it ends with the next report.
result, profile = record_calls([target("calls_dense"), "sleeps", "1"], *COLLECT, "--burst", "2ms/6ms", *ALL)
bursts, cpu = profile.sum("bursts"), profile.sum("cpu_burst_ns")
check(result.status == 0 and bursts > cpu / 6e6 / 3,
      f"bursts come again where the program sleeps: {bursts} in {cpu / 1e6:.0f} ms, one in 6 was asked for")
finish()
