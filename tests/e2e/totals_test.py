#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""Beside N stands what the kernel has counted for the command and its children, and why that is more;
processes of one name that have ended are one in the report."""

import re

from support import check, finish, need, record, report, run, scratch, target, HCCT

need("bash")

RUNS = 150


def text(path):
    result = run([HCCT, "report", path], env={"COLUMNS": "200", "LC_ALL": "C.UTF-8"})
    return " ".join(result.out.decode().split()), result.out.decode().splitlines()


def seconds_of(times):
    """User and system time as bash's `times` prints them, in two lines."""
    return sum(60 * int(m) + float(s) for m, s in re.findall(r"(\d+)m([\d.]+)s", times))


# ---- a shell that starts many programs: most of the time is exec's, the loader's and exit's ----

path = scratch("many.pb.gz")
script = f"i=0; while [ $i -lt {RUNS} ]; do /bin/true; i=$((i + 1)); done; times"
result = record(["bash", "-c", script], path)
check(result.status == 0, "a shell with many programs is recorded")
profile = report(path)
shown, kernel = seconds_of(result.out.decode()), profile["kernel_ns"] / 1e9
check(0.9 * shown <= kernel <= 1.2 * shown + 0.02,
      f"the kernel's count in the file is what the shell printed: {kernel:.3f} s and {shown:.3f}")
words, lines = text(path)
share = 100 * profile["total"] / profile["kernel_ns"]
said = re.search(r"kernel counted [\d.]+ m?s of CPU time for the command and its children: "
                 r"N is ([\d.]+) % of it(; the rest is in no context)?", words)
check(said is not None and abs(float(said.group(1)) - share) < 0.06,
      f"the report has both: {share:.1f} %, {said and said.group(0)}")
check(share > 97 or said.group(2) is not None, "and why N is less")
rows = [line for line in lines if re.search(r"%\s+[\d.]+ .*\btrue \(", line) and "Hot" not in line]
runs = sum(process["runs"] for process in profile["processes"] if process["command"] == "true")
check(not rows or (len(rows) == 1 and f"true ({runs} runs" in rows[0]) or runs <= 1,
      f"{runs} runs of true have one row: {rows}")
again = scratch("again.pb.gz")
run([HCCT, "report", "--format", "pprof", "-o", again, path])
check(report(again)["kernel_ns"] == profile["kernel_ns"], "a copy of the file tells the same")
merged = scratch("merged.pb.gz")
run([HCCT, "merge", "-o", merged, path, again])
check(report(merged)["kernel_ns"] == 2 * profile["kernel_ns"], "and a sum the sum")

# ---- one that only computes ----

path = scratch("one.pb.gz")
record([target("handlers"), "1"], path)
profile = report(path)
check(0.9 < profile["total"] / profile["kernel_ns"] < 1.1,
      f"a program that only computes: N is {profile['total'] / profile['kernel_ns']:.3f} of it")
record([target("handlers"), "0.3"], path, "--clock", "wall")
words, _ = text(path)
check("kernel counted" not in words, "elapsed time is not held against CPU time")
finish()
