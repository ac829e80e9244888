# SPDX-License-Identifier: LGPL-3.0-or-later
"""A leak of 1 % of the heap of a running server, between two snapshots: `hcct diff` finds it, and nothing
where there is none.

1 MB is 60 samples at R = 16 KiB, 8 where samples are so dear that R is 128 KiB. With --runs N: how often it
is found in N runs; with --runs N fast, in a server that allocates a gigabyte in a second, and with --runs N
wrapped, in one that allocates it all by one function."""

import json
import os
import subprocess
import sys

from support import AGENT, HCCT, Daemon, check, finish, run, scratch, target

BLOCKS = os.path.join(os.path.dirname(AGENT), "libhcctblocks.so")


def snapshots(daemon, *arguments):
    """The files of two snapshots of the server, before it has served and after."""
    command = subprocess.Popen([target("leaky"), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               env={**os.environ, **daemon.env(LD_PRELOAD=f"{AGENT}:{BLOCKS}",
                                                               HCCT_METRICS="heap")})
    files = []
    for i in range(2):
        if command.stdout.readline() != b"ready\n":
            raise SystemExit("the server is not ready")
        files.append(scratch(f"snapshot-{i}.pb.gz"))
        done = run([HCCT, "hot", "--socket", daemon.socket, "-p", str(command.pid), "-o", files[-1],
                    "--format", "pprof"])
        check(done.status == 0, f"snapshot {i + 1} is taken {done.err.decode()}")
        command.stdin.write(b"on\n")
        command.stdin.flush()
    check(command.wait(60) == 0, "the server has ended")
    return files


def allocator(nodes, node):
    """The function that has allocated, behind a wrapper of malloc."""
    return nodes[node["parent"]]["function"] if node["function"] == "wrapper" else node["function"]


def changed(files):
    """{function: its growth} of the contexts whose own weight has changed by more than error."""
    path = scratch("diff.json")
    done = run([HCCT, "diff", "--metric", "heap", "-o", path, *files])
    check(done.status == 0, f"the snapshots are compared {done.err.decode()}")
    nodes = json.load(open(path))["nodes"]
    return {allocator(nodes, node): node["self"]["after"] - node["self"]["before"]
            for node in nodes if node["self"]["beyond"]}


def one(*arguments):
    with Daemon() as daemon:
        return changed(snapshots(daemon, *arguments))


if len(sys.argv) > 2 and sys.argv[1] == "--runs":
    kinds = (sys.argv[3], sys.argv[3] + "-sound") if len(sys.argv) > 3 else ("leaky", "sound")
    found, sound = ([one(kind) for _ in range(int(sys.argv[2]))] for kind in kinds)
    print(f"found {sum('leak_session' in names for names in found)} of {sys.argv[2]}, "
          f"where there is none {sum('leak_session' in names for names in sound)}")
    finish()

names = one("leaky")
check("leak_session" in names and 3e5 < names["leak_session"] < 3e6, f"the leak is found: {names}")
finish()
