# SPDX-License-Identifier: LGPL-3.0-or-later
"""A system call of the program's own that a signal has ended, and of which nobody knows which it was, is
not made again: the program sees EINTR, and the report says how often. Nothing is said where none was. (On aarch64 no
such call is made again: the kernel's answer has overwritten an argument.)"""

import platform

from support import HCCT, check, finish, record, report, run, scratch, target

path = scratch("eintr.pb.gz")


def of(command, *options):
    """What it prints, the count in the profile, and the report."""
    out = record(command, path, *options).out.decode()
    counted = sum(process.get("interrupted", 0) for process in report(path)["processes"])
    return out, counted, run([HCCT, "report", path]).out.decode()


plain = run([target("eintr"), "20"])
check(plain.out == b"0\n", "without the agent no nap ends early")
out, counted, text = of([target("eintr"), "20"], "--clock", "wall", "--rate", "1000")
ended = int(out)
check(0 < ended <= counted, f"{ended} naps ended with EINTR, {counted} were counted")
check("EINTR" in text and "ended with EINTR when" in text, "the report says so: " +
      "".join(line for line in text.splitlines() if "EINTR" in line))
if platform.machine() == "x86_64":
    out, counted, text = of([target("raw_naps"), "1"], "--clock", "wall", "--rate", "1000")
    check(counted == 0 and "EINTR" not in text, f"calls that are known are made again: {counted} were not")
finish()
