# SPDX-License-Identifier: LGPL-3.0-or-later
"""Of calls that are followed in bursts, or counted one in N, shares are near the exact ones, and no
context appears that a program does not have."""

from calls_support import ALL, COLLECT, phase_shares as shares, record_calls
from support import check, finish, run, target

POINTS = 10
BURSTS = 100
PROGRAM = target("calls_phases")
ROUNDS = 200


def check_subset(what, some, exact):
    strange = set(some.paths()) - set(exact.paths())
    check(len(some.paths()) > 0 and not strange,
          f"{what}: {len(some.paths())} contexts, {len(strange)} of them not in the exact profile")


result, exact = record_calls([PROGRAM, str(ROUNDS), "0"])
check(result.out == b"as 7 to 3: 1\n" and exact.sum("lost") == 0, "exact: nothing lost")
check(abs(shares(exact)["often"] - 70) < 1, f"exact: {shares(exact)}")
total = exact.all["total"]

result, bursts = record_calls([PROGRAM, "1", "5"], *COLLECT, "--burst", "2ms/20ms", "--summary",
                              "exact", *ALL)
seen, cpu = bursts.sum("seen_ns"), bursts.sum("cpu_burst_ns")
check(result.status == 0 and bursts.sum("bursts") >= BURSTS, f"{bursts.sum('bursts')} bursts")
check(0 < seen <= cpu, f"bursts: {seen / 1e6:.0f} of {cpu / 1e6:.0f} ms seen")
stands = bursts.sum("stands_ns")
check(5 * seen < stands <= 10 * seen,
      f"each but the first stands for ten: {seen / 1e6:.0f} ms for {stands / 1e6:.0f}")
once = [node["count"] for node in bursts.nodes if node["count"] % 10 != 0]
check(len(once) < len(bursts.nodes), f"{len(once)} of {len(bursts.nodes)} contexts were met at the start")
for phase, share in shares(bursts).items():
    check(abs(share - shares(exact)[phase]) <= POINTS,
          f"bursts: {phase} {share:.1f} %, exact {shares(exact)[phase]:.1f} %")
check_subset("bursts", bursts, exact)

# one burst, at the start, or nearly always no other; what came after it counts for what was seen of
# the whole
alone = run([PROGRAM, str(ROUNDS), "0"]).cpu * 1e9
result, bursts = record_calls([PROGRAM, str(ROUNDS), "0"], *COLLECT, "--burst", "1ms/10s", *ALL)
cpu = bursts.sum("cpu_burst_ns")
check(1 <= bursts.sum("bursts") <= 2 and cpu > alone / 2,
      f"one burst: seen of {cpu / 1e6:.0f} ms, {alone / 1e6:.0f} ms without the agent")

for options in (("--every", "100"), ("--every", "100/routine"), ("--credit", "new")):
    what = " ".join(options)
    result, some = record_calls([PROGRAM, str(ROUNDS), "0"], *COLLECT, *options, "--summary", "exact",
                                *ALL)
    check(abs(some.all["total"] - total) <= total / 100,
          f"{what}: {some.all['total']} calls, {total} in truth")
    check_subset(what, some, exact)
result, some = record_calls([PROGRAM, str(ROUNDS), "0"], *COLLECT, "--every", "100", "--credit", "new",
                            "--summary", "exact", *ALL)
check(some.all["total"] >= 0.99 * total, f"every 100, all new edges: {some.all['total']} calls")
check_subset("every 100, all new edges", some, exact)
finish()
