# SPDX-License-Identifier: LGPL-3.0-or-later
"""Threads that live for one request, wait in the middle of it and end after a few milliseconds of CPU time: their
time is in what they do, not in their end. And a program that limits its address space goes on being sampled."""

import math

from support import check, finish, folded, record, report, scratch, target

for rate in (100, 250):
    path = scratch(f"requests{rate}.pb.gz")
    result = record([target("requests"), "800", "8"], path, "--rate", str(rate))
    parsed, answered = (int(ns) for ns in result.out.split())
    total, samples = report(path)["total"], sum(p["walks"] for p in report(path)["processes"])
    weight = {name: sum(w for frames, w in folded(path) if name in frames)
              for name in ("parse", "answer", "__nptl_deallocate_tsd")}
    chance = 5 * math.sqrt(0.25 / samples)
    share, true = weight["parse"] / (weight["parse"] + weight["answer"]), parsed / (parsed + answered)
    check(weight["parse"] + weight["answer"] > 0.66 * total,
          f"{rate}/s: {(weight['parse'] + weight['answer']) / 1e9:.2f} s in both functions, of {total / 1e9:.2f} s")
    check(weight["__nptl_deallocate_tsd"] < 0.15 * total,
          f"{rate}/s: {weight['__nptl_deallocate_tsd'] / 1e6:.0f} ms at the end of threads")
    check(abs(share - true) < chance, f"{rate}/s: parse {100 * share:.1f} % seen, {100 * true:.1f} % true, "
          f"chance {100 * chance:.1f}")

# hcctd may answer late where the machine is busy: the agent asks again a second later
for _ in range(5):
    path = scratch("limits.pb.gz")
    result = record([target("limits_itself")], path)
    seen = report(path)["total"] if result.status == 0 and b"no profile" not in result.err else 0
    if seen > 0.3e9:
        break
check(seen > 0.3e9, f"a program that limits its address space: {seen / 1e6:.0f} of 500 ms are seen")
finish()
