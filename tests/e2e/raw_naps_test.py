# SPDX-License-Identifier: LGPL-3.0-or-later
"""A thread that sleeps in calls that are not wrapped has the time of each thing that it does, however
short it does it between two sleeps: few() takes 0.1 ms at a time, many() 5 ms, both as much in all.

What runs for a short while was found too late by the timer, and what runs for long had its time: 12 to
16 points of 100 too much. Where other processes wait for the processor a thread may begin to run at
the kernel's ticks, which then meet short pieces less often: 8 points were seen on a busy machine. Its
sleeps are left alone: a tick that meets one costs two switches."""

from support import check, finish, folded, record, report, scratch, target

SECONDS = "2"
TRIES = 3


def measured(rate):
    """By how many points many() has too much of the time of both, and N's part of what was used."""
    path = scratch(f"naps{rate}.pb.gz")
    used, few, many = (int(word) for word in
                       record([target("raw_naps"), SECONDS], path, "--rate", rate).out.split())
    seen = {name: sum(weight for frames, weight in folded(path) if name in frames)
            for name in ("few", "many")}
    return (100 * seen["many"] / (seen["few"] + seen["many"]) - 100 * many / (few + many),
            report(path)["total"] / used)


runs = [measured("1000") for _ in range(TRIES)]
off = sorted(run[0] for run in runs)[TRIES // 2]
part = sorted(run[1] for run in runs)[TRIES // 2]
check(abs(off) < 11, f"many() is off by {off:+.1f} points: {runs}")
check(0.85 < part < 1.15, f"N is {100 * part:.1f} % of the CPU time that was used")
finish()
