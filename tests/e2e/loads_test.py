# SPDX-License-Identifier: LGPL-3.0-or-later
"""Code that was loaded a moment ago goes by its library, never by "generated code": libraries that
load each other and compute at once, and libraries that follow each other at one address."""

import shutil

from support import check, finish, folded, record, report, scratch, target

ROUNDS, CHAIN, MS = 6, 8, 25


def libraries(name, n):
    """Files of their own, so that nobody has an unwind table for them."""
    paths = []
    for i in range(n):
        paths.append(scratch(f"{name}{i}.so"))
        shutil.copy(target("loads_library"), paths[-1])
    return paths


def examine(name, profile):
    walks = foreign = strange = 0
    for frames, weight in folded(profile, "--by", "module"):
        walks += weight
        foreign += weight * any("generated code" in f or "[jit]" in f for f in frames)
    for frames, weight in folded(profile):
        strange += weight * any("generated code" in f for f in frames)
    check(walks > 0, f"{name}: {walks / 1e6:.0f} ms")
    check(foreign == 0 and strange == 0,
          f"{name}: {max(foreign, strange) / 1e6:.1f} ms of {walks / 1e6:.0f} go by generated code")
    return walks


for i in range(ROUNDS):
    path = scratch("chain.pb.gz")
    names = libraries(f"chain{i}_", CHAIN)
    result = record([target("loads"), str(MS), *names], path, "--rate", "1000", "--no-report")
    check(result.status == 0, "chain: ended with status 0")
    total = examine("chain", path)
    whole = sum(weight for frames, weight in folded(path)
                if sum(f == "loads_work" for f in frames) == CHAIN and "main" in frames)
    check(whole >= 0.4 * total, f"chain: {100 * whole / total:.1f} % of the time is below all libraries")



def examine_again(name, path):
    total = examine(name, path)
    own = {}
    for frames, weight in folded(path, "--by", "module"):
        for module in {f for f in frames if f.startswith("again")}:
            own[module] = own.get(module, 0) + weight
    heaviest = max(own.values(), default=1)
    # where the machine has no time for hcctd, stacks are copies for so long that some libraries have none
    least = 29 if heaviest < 1.5 * MS * 1e6 else total / heaviest
    check(len(own) >= least, f"{name}: {len(own)} libraries of 30 are named, the heaviest has {heaviest / 1e6:.0f} ms")
    check(heaviest < 3 * MS * 1e6, f"{name}: none has what is another's")
    modules = report(path, "--by", "module", form="text")
    check("generated" not in modules, f"{name}: no generated code by module")


path = scratch("again.pb.gz")
result = record([target("loads"), "-r", str(MS), *libraries("again", 30)], path, "--rate", "1000", "--no-report")
check(result.status == 0, "one after another: ended with status 0")
examine_again("one after another", path)

finish()
