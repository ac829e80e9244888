# SPDX-License-Identifier: LGPL-3.0-or-later
"""Calls that do not end before their process does are in its profile on the wall clock, in full,
whether it returns from main or calls _exit; and threads of which nothing else was ever seen."""

from support import check, finish, folded, record, scratch, target

THREADS = ["sigwait", "sigsuspend", "pause", "read", "poll", "mutex", "sleep_for"]
path = scratch("end.pb.gz")
for how, status in (([], 0), (["_exit"], 3)):
    for rate in (100, 1000):
        result = record([target("sleep_on"), "2", *how], path, "--clock", "wall", "--rate", str(rate))
        text = f"{rate}/s, {how[0] if how else 'return'}"
        check(result.status == status, f"{text}: ended with status {status}")
        true = int(result.out)
        seen = dict.fromkeys(THREADS + ["main"], 0)
        for frames, weight in folded(path):
            for name in seen:
                if name == "main" and "main" in frames or any(
                        frame.startswith("in_" + name + "(") for frame in frames):
                    seen[name] += weight
        for name, ns in seen.items():
            check(abs(ns - true) <= 0.05 * true,
                  f"{text}: {name}: {ns / 1e9:.3f} s of {true / 1e9:.3f}")

record([target("sleep_on"), "1"], path, "--clock", "wall", "--threads")
named = [frames for frames, weight in folded(path)
         if any(frame.startswith("in_pause(") for frame in frames)]
check(named and all("[thread idler]" in frames for frames in named),
      f"a thread that was only seen at the process's end has its name: {named}")
finish()
