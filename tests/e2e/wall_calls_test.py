# SPDX-License-Identifier: LGPL-3.0-or-later
"""wall_calls_test.py [PARTS]: the wall clock sees all of a thread's time, whatever call it sleeps in: each call is the only one
of a thread, alone or beside writes, and the thread's own clock says how long that was. Threads that
never compute, and children of fork that do nothing but sleep, are there. All threads at once, or so many
parts one after the other, for a processor that has no time for 35,000 samples a second."""

import sys

from support import check, finish, folded, record, report, run, scratch, target

SECONDS = "5"
PART = 0.03  # of a thread's time may be wrong
FORK_PART = 0.1  # children wait for the daemon first

path = scratch("calls.pb.gz")


def battery(rate, *only):
    """{function: (ns that the program has measured, ns in the profile)}"""
    command = [target("sleep_battery"), SECONDS, *only]
    plain = run(command) if not only else None
    result = record(command, path, "--clock", "wall", "--rate", str(rate))
    check(result.status == 0, f"{rate}/s: ended with status 0, all calls as they should")
    true = {}
    for line in result.out.decode().splitlines():
        ns, name = line.split()
        true[name] = int(ns)
    if plain is not None:
        names = [line.split()[1] for line in plain.out.decode().splitlines()]
        check(plain.status == 0 and list(true) == names, f"{rate}/s: the same output")
    seen = dict.fromkeys(true, 0)
    for frames, weight in folded(path):
        # children begin in the functions of their parents
        name = next((frame for frame in reversed(frames) if frame in seen), None)
        if name is not None and not any("fork" in frame for frame in frames):
            seen[name] += weight
    return {name: (ns, seen[name]) for name, ns in true.items()}


def all_calls(*only):
    # where hcctd has no processor for long much is lost, and little can be said of the rest: once in three runs it has
    for _ in range(3):
        threads = battery(250, *only)
        lost = sum(process["lost_ns"] for process in report(path)["processes"])
        total = sum(ns for ns, _ in threads.values())
        print(f"{lost / 1e9:.3f} s of {total / 1e9:.0f} were lost until hcctd had room for all threads")
        if lost < PART * total:
            break
    # that may all be of one thread: those whose calls wait with the signal blocked have their first sample late
    late = lost
    for name, (ns, seen) in threads.items():
        if name != "child_sleeps":
            part = FORK_PART if "waitpid" in name else PART
            check(-part * ns - late <= seen - ns <= part * ns,
                  f"{name}: {seen / 1e9:.3f} s, {ns / 1e9:.3f} is true")


parts = int(sys.argv[1]) if len(sys.argv) > 1 else 1
for part in range(parts):
    all_calls(*([f"{part + 1}/{parts}"] if parts > 1 else []))
# where hcctd has no time for them, children ask again a second later: once in three runs it has
for _ in range(3):
    ns, seen = battery(1000, "waitpid")["child_sleeps"]
    if abs(seen - ns) <= FORK_PART * ns:
        break
check(abs(seen - ns) <= FORK_PART * ns,
      f"children of fork: {seen / 1e9:.3f} s, {ns / 1e9:.3f} is true")
finish()
