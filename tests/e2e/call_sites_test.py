#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""Call sites on their way from a file to an agent, and what the agent says of them to a report. The
agent is played here."""

import json
import mmap
import os
import shutil
import struct
import subprocess
import time

from support import HCCT, Daemon, check, finish, need, run, scratch
from wire_support import Agent

need("sqlite3")
BUILD = os.environ["HCCT_BUILDDIR"]
SHOW = os.path.join(BUILD, "tests/code/show_call_sites")
NONE = 1
FOLLOWED, OWN_HOOKS, FORBIDDEN = 1, 2, 14


class Mapped:
    """A file that this process has mapped."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            self.memory = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        self.begin = next(int(line.split("-")[0], 16) for line in open("/proc/self/maps") if path in line)
        self.end = self.begin + len(self.memory)


def build_id(path):
    for line in subprocess.run(["readelf", "-nW", path], capture_output=True, text=True).stdout.splitlines():
        if "Build ID:" in line:
            return bytes.fromhex(line.split()[-1])
    return b""


def begin(daemon, files):
    """A session in which the sites of files are asked for; where they are."""
    agent = Agent(daemon.socket, collector=1, pid=os.getpid())
    for i, file in enumerate(files):
        agent.module(i, file.begin, file.end, file.begin, file.path, build_id(file.path), want_sites=1)
    agent.module(len(files), files[0].begin, files[0].end, files[0].begin, files[0].path,
                 build_id(files[0].path))
    deadline = time.monotonic() + 60
    while not all(agent.sites(i) for i in range(len(files))) and time.monotonic() < deadline:
        time.sleep(0.01)
    return agent, [agent.sites(i) for i in range(len(files))]


def table(agent, at):
    """The bytes of a table in the arena."""
    arena = mmap.mmap(agent.fds[1], 0, prot=mmap.PROT_READ)
    return arena[at:at + struct.unpack_from("<Q", arena, at + 8)[0]]


def fresh(path):
    return subprocess.run([SHOW, path, "raw"], capture_output=True, check=True).stdout


program = shutil.which("sqlite3")
library = os.path.join(BUILD, "tests/client/libcalled.so")
files = [Mapped(program), Mapped(library), Mapped(HCCT), Mapped(SHOW)]
cache = scratch("cache")

for round_ in ("fresh", "kept"):
    with Daemon("--table-cache", cache) as daemon:
        agent, sites = begin(daemon, files)
        check(sites[0] > NONE and table(agent, sites[0]) == fresh(program), f"{round_}: the table of {program}")
        check(sites[1] == NONE, f"{round_}: a library that reports its calls itself has none")
        check(sites[2] > NONE and table(agent, sites[2]) == fresh(HCCT), f"{round_}: the table of {HCCT}")
        check(agent.sites(len(files)) == 0, f"{round_}: nothing is said where nothing was asked for")
        time.sleep(0.3)  # what is kept is written behind the answer
    names = [name for name in os.listdir(cache) if name.endswith(".calls")]
    check(any(build_id(program).hex() in name for name in names), f"{round_}: kept: {names}")

with Daemon() as daemon:
    agent, _ = begin(daemon, files)
    found, sites = (struct.unpack_from("<I", fresh(program), at)[0] for at in (64, 40))
    agent.redirected(0, FOLLOWED, 4)
    agent.redirected(2, FORBIDDEN, 0)
    agent.redirected(3, 200, 2**32 - 1)  # nonsense
    agent.put([2 << 60 | files[0].begin + 0x7000, 0, 3 << 60 | 5])
    daemon.wait_for(lambda p: p["pid"] == os.getpid() and p["calls"] == 5)
    shown = run([HCCT, "hot", "--socket", daemon.socket])
    text = shown.out.decode()
    line = next((line for line in text.splitlines() if " sqlite3: " in line), "")
    check(f"4 of {found:,} direct calls are followed, {sites - 4:,} could not be redirected" in line
          and "; beside them " in line and " indirect calls, " in line, "the report says how many: " + line)
    check(" libcalled.so: reports its calls itself" in text, "and which modules report theirs")
    check(" hcct: the program may not replace its code" in text, "what the agent could not do")
    check(" show_call_sites: ended before" in text, "what it has not said")
    saved = scratch("saved.pb.gz")
    run([HCCT, "hot", "--socket", daemon.socket, "--format", "pprof", "-o", saved])
    again = run([HCCT, "report", saved]).out.decode()
    check(line and line in again, "a profile in a file says it, too")
    merged = scratch("merged.pb.gz")
    run([HCCT, "merge", saved, saved, "-o", merged])
    text = run([HCCT, "report", merged]).out.decode()
    check(f"{line.strip()} (×2)" in text or f"{line.strip()} (x2)" in text, "of two, added up: " + text)
    process = json.loads(run([HCCT, "hot", "--socket", daemon.socket, "--format", "json"]).out)["processes"][0]
    check(process["call_modules"].startswith(program + ",followed,1,"), "JSON: " + process["call_modules"])
finish()
