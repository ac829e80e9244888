# SPDX-License-Identifier: LGPL-3.0-or-later
"""execs.py - which programs a command runs, as the kernel is asked for them: strace's log of a run
without the agent. What hcctd has seen of the same command is held against it."""

import collections
import os
import re
import shutil

CALLS = "execve,execveat,fork,vfork,clone,clone3,chdir"
CALL = re.compile(r"(\d+) +(\w+)\((.*)\) += (\d+)")
NAME = re.compile(r'"((?:[^"\\]|\\.)*)"')
SHARES = re.compile(r"CLONE_VM")  # threads; and vfork's children, in their parent's memory
INTERPRETERS_MAX = 4  # of scripts that scripts run by, as the kernel allows


def available():
    return shutil.which("strace") is not None


def traced(command, log):
    """The command's arguments, so that a log of it is written."""
    return ["strace", "-f", "-z", "-qq", "--seccomp-bpf", "-e", "signal=none",
            "-e", "trace=" + CALLS, "-o", log, *command]


def program_of(path, directory):
    """The file that runs: behind links, and of a script its interpreter."""
    path = os.path.realpath(os.path.join(directory, path))
    for _ in range(INTERPRETERS_MAX):
        try:
            with open(path, "rb") as file:
                first = file.readline(256)
        except OSError:
            return path
        words = first[2:].split() if first.startswith(b"#!") else []
        if not words:
            return path
        path = os.path.realpath(os.fsdecode(words[0]))
    return path


class Count:
    """{program: how often it was started}, and {program: how often it forked}."""

    def __init__(self, text, directory):
        self.started, self.forked = collections.Counter(), collections.Counter()
        at = collections.defaultdict(lambda: ("", directory))  # pid: (program, directory)
        for line in text.splitlines():
            found = CALL.match(line)
            if found is not None:
                self.called(at, *found.groups())

    def called(self, at, pid, call, given, value):
        program, directory = at[pid]
        name = NAME.search(given)
        if call.startswith("exec"):
            program = program_of(name[1] if name else "", directory)
            self.started[program] += 1
            at[pid] = program, directory
        elif call == "chdir":
            at[pid] = program, os.path.join(directory, name[1] if name else "")
        else:
            at[value] = at[pid]
            if call != "vfork" and not SHARES.search(given):
                self.forked[program] += 1

    def unseen(self, runs):
        """[(program, how often started, how often seen)] of those seen less often; runs(program)
        is what hcctd has seen. Children that began as copies may add to it: the agent shows them
        from their first tick on."""
        return [(program, n, runs(program)) for program, n in sorted(self.started.items())
                if runs(program) < n]
