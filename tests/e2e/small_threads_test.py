#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""Threads on small stacks are sampled as others are, up to the last bytes of the stack. Where the
program has alternate signal stacks, a signal has room only on those that are large enough: what is
not sampled there is counted, and said.

Samples fall by chance. Of n samples that weigh w each at most, a total is within 5 sqrt(n) w in all
but one of a million runs."""

import math
import os

from support import HCCT, check, finish, folded, record, report, scratch, target
from support import run as run_plain

SECOND = 1e9
TRIES = 4
SAYS = "had too small a stack for the agent's signal"
MODES = (("100", "--rate", "100"), ("1,000", "--rate", "1000"),
         ("bursts", "--burst", "4ms/20ms", "--rate", "1000"))
WEIGHTS = {"100": SECOND / 100, "1,000": SECOND / 1000, "bursts": SECOND / 50}
LEAST = os.sysconf("SC_THREAD_STACK_MIN") >> 10  # KB, of a thread: 16 on x86-64, 128 on aarch64
STACKS = (("size", LEAST), ("size", LEAST + 12), ("size", LEAST + 16), ("bare", LEAST + 4), ("malloc", LEAST),
          ("malloc", LEAST + 8), ("mmap", LEAST), ("mmap", 4 * LEAST))
# who has an alternate stack, of which size, and what part of the time is sampled then. Until the
# first of two threads sets one up it has the agent's.
ALTERNATES = ((16, "main", 65536, 0), (28, "main", 65536, 0), (32, "main", 65536, 1),
              (16, "own", 16384, 1 / 2), (16, "own", 2048, 1 / 6), (64, "own", 2048, 2 / 3),
              (64, "own", 16384, 1)) if LEAST == 16 else ()  # else each has room for a signal


def run_once(mode, options, arguments):
    path = scratch("small.pb.gz")
    if os.path.exists(path):
        os.unlink(path)
    result = record([target("small_threads"), *map(str, arguments)], path, *options)
    check(result.status == 0, f"{arguments}, {mode}: ended with status 0")
    used, changed = map(int, result.out.split())
    check(changed == 0, f"{arguments}, {mode}: nothing is written below what the threads use")
    if not os.path.exists(path):
        return used, 0, None, result.err.decode()
    seen = sum(weight for frames, weight in folded(path) if "small" in frames)
    return used, seen, report(path)["processes"][0], report(path, form="text")


def run(mode, options, *arguments):
    """CPU time in ns: used, credited, counted as not sampled; the threads of the latter; what hcct says.
    A machine that is very busy may keep hcctd from it for a time: a run is made again then."""
    for _ in range(TRIES):
        used, seen, process, words = run_once(mode, options, arguments)
        known = process or {"no_room": 0, "no_room_ns": 0}
        if SAYS in words and process is None:
            known = {"no_room": int(words.split(SAYS)[0].split()[-2].replace(",", "")), "no_room_ns": used}
        if seen + known["no_room_ns"] > 0.9 * used:
            break
    return used, seen, known["no_room_ns"], known["no_room"], words


def is_right(seen, true, weight):
    return abs(seen - true) <= 0.1 * true + 5 * math.sqrt(true * weight) / 2 + weight


for mode, *options in MODES:
    for memory, size in STACKS:
        used, seen, _, threads, _ = run(mode, options, memory, size, 600, 3)
        check(is_right(seen, used, WEIGHTS[mode]),
              f"{memory}, {size} KB, {mode}: {seen / SECOND:.3f} s credited, {used / SECOND:.3f} used")
        check(threads == 0, f"{memory}, {size} KB, {mode}: all threads have room")

used, seen, _, threads, _ = run("1,000", MODES[1][1:], "size", LEAST, 600, 300)
check(is_right(seen, used, WEIGHTS["1,000"]) and threads == 0,
      f"300 threads: {seen / SECOND:.3f} s credited, {used / SECOND:.3f} used")
used, seen, *_ = run("wall", ("--clock", "wall", "--rate", "1000"), "size", LEAST, 600, 3)
check(seen > 0.9 * used, f"wall: {seen / SECOND:.3f} s credited, {used / SECOND:.3f} of CPU time used")

for size, whose, alternate, part in ALTERNATES:
    what = f"{size} KB, alternate stack of {alternate}: {whose}"
    used, seen, lost, threads, words = run("1,000", MODES[1][1:], "malloc", size, 600, 2, whose,
                                           alternate)
    check(is_right(seen, part * used, WEIGHTS["1,000"]),
          f"{what}: {seen / SECOND:.3f} s credited of {used / SECOND:.3f}")
    check(abs(lost - (1 - part) * used) <= 0.1 * used and threads == (2 if part < 1 else 0),
          f"{what}: {lost / SECOND:.3f} s counted as not sampled")
    check((SAYS in words) == (part < 1), f"{what}: hcct says so")
    check("too little CPU time" not in words, f"{what}: and nothing else")

# Another thread sets up the first one while a thread computes.
used, seen, lost, _, _ = run("1,000", MODES[1][1:], "malloc", LEAST, 800, 1, "later")
check((0 < lost < used or LEAST > 16) and is_right(seen + lost, used, WEIGHTS["1,000"]),
      f"later: {seen / SECOND:.3f} s credited, {lost / SECOND:.3f} s counted as not sampled, of "
      f"{used / SECOND:.3f}")

# The main thread, hcct's and hcctd's have little as well.
for kilobytes in (64, 32):
    path = scratch("limited.pb.gz")
    if os.path.exists(path):
        os.unlink(path)
    result = run_plain(["sh", "-c", f'ulimit -Ss {kilobytes}; exec "$@"', "sh", HCCT, "record", "--rate",
                        "1000", "-o", path, "--", target("known_shares"), "0.3"])
    check(result.status == 0 and os.path.exists(path) and report(path)["total"] > 0.1 * SECOND and
          "burn" in report(path, form="text"),
          f"ulimit -s {kilobytes}: hcct record ends with status {result.status}, and a profile with names")
finish()
