#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""hcct doctor: a trial that really profiles, and programs that can't be."""

import os
import re
import shutil

from support import HCCT, check, finish, need, run, scratch, target

need("sqlite3")


def doctor(*words, **env):
    result = run([HCCT, "doctor", *words], env=env)
    return result.status, result.out.decode()


def line(text, name):
    return next((row for row in text.splitlines() if re.match(rf"\w+ +{name} ", row)), "")


status, text = doctor("sqlite3", TERM="xterm")
check(status == 0, "a machine and a program for which all is well")
trial = re.match(r"ok +trial .*: (\d+) samples in (\d+) ms .* ([\d.]+) % of them complete",
                 line(text, "trial"))
check(trial is not None and int(trial[1]) > 0 and float(trial[3]) > 90,
      "the trial walks stacks: " + line(text, "trial"))
check(line(text, "start").startswith("ok"), "sqlite3 can load the agent")
if os.uname().machine == "x86_64":
    check("can be followed as it is" in line(text, "calls"), "its calls can be counted: " + line(text, "calls"))
    table = {row.split()[0]: row for row in text[text.find("\ncalls of"):].splitlines()[2:]}
    numbers = re.match(r"sqlite3 +([\d,]+) +([\d,]+) +\d+ +([\d,]+) +([\d,]+) +([\d.]+) %  can be followed",
                       table.get("sqlite3", ""))
    check(numbers and int(numbers[1].replace(",", "")) > int(numbers[2].replace(",", "")) > 100
          and float(numbers[5]) > 90, "what calls it has: " + table.get("sqlite3", ""))
    check(table.get("libc.so.6", "").endswith("only where --modules says so"), "libc is there, and not chosen")
check(line(text, "names").startswith("ok") or "libc6-dbg" in text, "names: " + line(text, "names"))

status, text = doctor(os.path.join(os.environ.get("HCCT_BUILDDIR", "."), "tests", "client",
                                   "static_target"))
check(status == 1 and "statically linked" in line(text, "start"), "a static program is a problem")
check("\ncalls of" not in text, "without a table")
check("statically linked" in line(text, "calls") and "built with" not in line(text, "calls"),
      "its calls can't be counted: " + line(text, "calls"))

status, text = doctor(os.path.join(os.environ.get("HCCT_BUILDDIR", "."), "tests", "client",
                                   "instrumented_target"))
check("built with -finstrument-functions" in line(text, "calls")
      and re.search(r"^instrumented_target +reports its calls itself", text, re.M),
      "a program that reports its calls: " + line(text, "calls"))

status, text = doctor(os.path.join(os.environ.get("HCCT_BUILDDIR", "."), "tests", "client",
                                   "callless_target"))
if os.uname().machine == "x86_64":
    check(line(text, "calls").startswith("note") and "no call that can be redirected" in line(text, "calls")
          and re.search(r"^callless_target +no call that can be redirected", text, re.M),
          "one without calls, in both places: " + line(text, "calls"))

shutil.copy(shutil.which("sqlite3"), scratch("written"))
with open(scratch("written"), "r+b") as file:  # its code becomes writable
    head = file.read(64)
    table, size, n = (int.from_bytes(head[at:at + length], "little") for at, length in ((32, 8), (54, 2), (56, 2)))
    for i in range(n):
        file.seek(table + i * size)
        if file.read(8) == b"\1\0\0\0\5\0\0\0":
            file.seek(table + i * size + 4)
            file.write(b"\7")
status, text = doctor(scratch("written"))
if os.uname().machine == "x86_64":
    check(re.search(r"^written +its code is writable", text, re.M), "one whose code can be written is left alone")

privileged = scratch("privileged")
shutil.copy("/bin/true", privileged)
os.chmod(privileged, 0o4755)
status, text = doctor(privileged)
check(status == 1 and "setuid" in line(text, "start"), "so is a setuid one")
check(line(text, "calls").startswith("note") and "can't be counted" in line(text, "calls"),
      "whose calls can't be counted, either: " + line(text, "calls"))

status, text = doctor("/no/such/program")
check(status == 1 and "can't be found" in line(text, "start"), "so is one that is not there")

status, text = doctor(TERM="dumb", HCCT_DAEMON="/no/hcctd")
check(status == 1 and line(text, "daemon").startswith("PROBLEM"), "so is a missing hcctd")
check(line(text, "terminal").startswith("note"), "a dumb terminal is a note")

status, text = doctor(HCCT_SOCKET=scratch("nobody.sock"))
check(status == 0 and line(text, "running daemon").startswith("note"), "so is no running daemon")
finish()
