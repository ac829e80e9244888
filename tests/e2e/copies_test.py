# SPDX-License-Identifier: LGPL-3.0-or-later
"""Stacks that have to go as copies, each most of a ring: fewer are taken, each for more, so next to
nothing is lost and what is seen is still true."""

import math
import platform
import sys

from support import check, finish, folded, record, report, scratch, target

if platform.machine() != "x86_64":
    print("the frame without a compact rule is written for x86-64 only")
    sys.exit(77)

SECONDS = 3
path = scratch("copied.pb.gz")
result = record([target("copied"), str(SECONDS)], path, "--rate", "1000")
check(result.status == 0, "it runs")
true = {line.split()[1]: int(line.split()[0]) for line in result.out.decode().splitlines()}
process = report(path)["processes"][0]
seen = {name: sum(w for frames, w in folded(path) if name in frames and "enter" in frames) for name in true}
deferred, lost = process["shipped"], process["lost"]
check(deferred > 5 * SECONDS, f"{deferred} stacks went as copies")
# hcctd may come late where the machine is busy
check(lost <= 0.25 * deferred, f"{lost} found no room, beside {deferred}")
check(process["skipped"] > deferred, f"{process['skipped']} were left out by chance: the others stand for them")
spent, credited = sum(true.values()), sum(seen.values())
# what is left out is a matter of chance: each copy stands for about 1/n of all, half as much again by roulette
chance = 5 * math.sqrt(2 / deferred)
check(abs(credited / (spent - process["lost_ns"]) - 1) <= chance,
      f"{credited / 1e9:.2f} s are in both functions, of {spent / 1e9:.2f} s; {100 * chance:.0f} % is chance")
share, real = seen["second"] / credited, true["second"] / spent
check(abs(share - real) <= chance / 2, f"second: {100 * share:.1f} % seen, {100 * real:.1f} % true")

# Code that is in no file can only be walked where it is: the daemon begins above it. Until it has read the tables of
# what is below, which takes 0.1 s where the machine is busy, it has the whole stack as a copy, and not that code.
path = scratch("generated.pb.gz")
result = record([target("copied"), "4", "generated"], path, "--rate", "1000")
if result.status != 77:
    process = report(path)["processes"][0]
    through = [(frames, weight) for frames, weight in folded(path) if "take_turns" in frames]
    time = sum(weight for _, weight in through)
    whole = sum(weight for frames, weight in through
                if frames[frames.index("take_turns") - 2:frames.index("take_turns")] == ["enter", "[generated code]"]
                and "main" in frames)
    check(whole > 0.95 * time > 0, f"{time / 1e6:.0f} ms in generated code's callees, {whole / 1e6:.0f} ms below main")
    deferred = process["shipped"]
    check(deferred > 10, f"{deferred} stacks with generated code went as copies")

# In vfork a register has the return address, and the stack pointer does not move.
path = scratch("vforks.pb.gz")
record([target("vforks")], path, "--rate", "4000")
vforks = [(frames, weight) for frames, weight in folded(path) if "__vfork" in frames or "vfork" in frames]
time = sum(weight for _, weight in vforks)
whole = sum(weight for frames, weight in vforks if "have_a_child" in frames)
check(0 < 0.95 * time <= whole, f"vfork: {time / 1e6:.1f} ms, {whole / 1e6:.1f} ms below its caller")
finish()
