# SPDX-License-Identifier: LGPL-3.0-or-later
"""Samples of allocations that found no room, while hcctd stood still: the blocks are in N of the heap until
they are freed, in no context, and `hcct diff` does not take the end of these for the growth of others."""

import json
import os
import signal
import subprocess

from support import AGENT, HCCT, Daemon, check, finish, run, scratch, target

BLOCKS = os.path.join(os.path.dirname(AGENT), "libhcctblocks.so")
SIZE = 1000
MANY = 60000     # blocks: hundreds of samples, of paths of 200 calls, of which a ring holds some twenty
REPLACED = 6000  # one in ten


def step(program, line):
    """Until it has done what was asked for."""
    if line is not None:
        program.stdin.write(f"{line}\n".encode())
        program.stdin.flush()
    if program.stdout.readline() != b"done\n":
        raise SystemExit(f"the program has not done {line}")


def snapshot(daemon, program, form):
    path = scratch(f"heap.{form}")
    done = run([HCCT, "hot", "--socket", daemon.socket, "-p", str(program.pid), "-o", path, "--format", form])
    check(done.status == 0, f"a snapshot is taken {done.err.decode()}")
    return path


def seen(daemon, program):
    with open(snapshot(daemon, program, "json")) as file:
        profile = json.load(file)
    unknown = sum(node["count"] for node in profile["nodes"] if node.get("function") == "[~]")
    return profile["total"], unknown, profile["processes"][0]


def near(total, blocks):
    """R is 512 KiB at most for so few bytes: six standard deviations."""
    return abs(total - blocks * SIZE) < 6 * (blocks * SIZE * (512 << 10)) ** 0.5


with Daemon() as daemon:
    program = subprocess.Popen([target("heap_steps")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               env={**os.environ, **daemon.env(LD_PRELOAD=f"{AGENT}:{BLOCKS}",
                                                               HCCT_METRICS="heap")})
    step(program, None)
    daemon.process.send_signal(signal.SIGSTOP)
    step(program, f"first {MANY}")
    daemon.process.send_signal(signal.SIGCONT)
    total, unknown, process = seen(daemon, program)
    check(process["lost"] > 20, f"{process['lost']} samples found no room")
    check(near(total, MANY), f"{total} bytes are there, {MANY * SIZE} is true")
    check(unknown > total / 2 and process.get("lost_ns", 0) == 0, f"{unknown} of these are in no context")

    before = scratch("before.pb.gz")
    os.rename(snapshot(daemon, program, "pprof"), before)
    step(program, f"free {REPLACED}")
    step(program, f"then {REPLACED}")
    after = snapshot(daemon, program, "pprof")
    done = run([HCCT, "diff", "--metric", "heap", "-o", scratch("diff.json"), before, after])
    with open(scratch("diff.json")) as file:
        beyond = [node["function"] for node in json.load(file)["nodes"] if node["self"]["beyond"]]
    check(done.status == 0 and beyond == [], f"nothing is said to have grown: {beyond}")

    step(program, f"free {MANY}")
    total, unknown, _ = seen(daemon, program)
    check(near(total, REPLACED) and unknown <= total, f"{total} bytes are left, {REPLACED * SIZE} is true")
    program.stdin.close()
    check(program.wait(60) == 0, "the program has ended")
finish()
