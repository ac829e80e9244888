#!/usr/bin/python3
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
check(line(text, "names").startswith("ok") or "libc6-dbg" in text, "names: " + line(text, "names"))

status, text = doctor(os.path.join(os.environ.get("HCCT_BUILDDIR", "."), "tests", "client",
                                   "static_target"))
check(status == 1 and "statically linked" in line(text, "start"), "a static program is a problem")
check("statically linked" in line(text, "calls") and "built with" not in line(text, "calls"),
      "its calls can't be counted: " + line(text, "calls"))

privileged = scratch("privileged")
shutil.copy("/bin/true", privileged)
os.chmod(privileged, 0o4755)
status, text = doctor(privileged)
check(status == 1 and "setuid" in line(text, "start"), "so is a setuid one")

status, text = doctor("/no/such/program")
check(status == 1 and "can't be found" in line(text, "start"), "so is one that is not there")

status, text = doctor(TERM="dumb", HCCT_DAEMON="/no/hcctd")
check(status == 1 and line(text, "daemon").startswith("PROBLEM"), "so is a missing hcctd")
check(line(text, "terminal").startswith("note"), "a dumb terminal is a note")

status, text = doctor(HCCT_SOCKET=scratch("nobody.sock"))
check(status == 0 and line(text, "running daemon").startswith("note"), "so is no running daemon")
finish()
