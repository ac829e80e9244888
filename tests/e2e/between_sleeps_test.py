# SPDX-License-Identifier: LGPL-3.0-or-later
"""By the wall clock, what a thread computes for a short while between two sleeps has its time: after
sleeps that a timeout ends, and after waits so long that the checks of them have become rare.

It had up to a third too much, or too little: CPU time was sampled by the kernel's ticks, and a sleep that
was interrupted was made again with all of its time. What the program measures includes what samples take, and
points of time are never as near to each other as that: so it has a little less."""

from support import check, finish, record, scratch, target, weights

path = scratch("between.pb.gz")
result = record([target("between_sleeps"), "10"], path, "--clock", "wall", "--rate", "500")
check(result.status == 0, "the program ended with status 0: no call has ended early")
true = {name: int(ns) for ns, name in (line.split() for line in result.out.decode().splitlines())}
seen = weights(path, true)
for name, ns in true.items():
    low, high = (0.85, 1.06) if name.startswith("after") else (0.95, 1.03)
    check(low * ns <= seen[name] <= high * ns,
          f"{name}: {seen[name] / 1e9:.3f} s, {ns / 1e9:.3f} is true ({100 * seen[name] / ns:.1f} %)")
finish()
