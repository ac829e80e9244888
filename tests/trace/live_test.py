# SPDX-License-Identifier: LGPL-3.0-or-later
"""A recording's trace makes the same profile again: threads, processes, evictions and all."""
import os
import platform
import re
import signal
import socket
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

from support import BUILD, Daemon, HCCT, check, finish, record, report, run, scratch

TARGET = os.path.join(BUILD, "tests", "trace", "live_target")
# few counters, so that contexts are evicted all the time
COARSE = ("--phi", "0.001", "--epsilon", "0.0003")


def certain(node):
    """Without intervals: these have room for what was lost, which a trace does not tell."""
    return {key: value for key, value in node.items() if not key.endswith("half_width")}


def tree(path):
    """All contexts of a profile, with their counts and errors."""
    profile = report(path, "--by", "site", "--cut", "0")
    return (profile["type"], profile["total"],
            [(process["command"], process["pid"], process["total"])
             for process in profile["processes"]], [certain(node) for node in profile["nodes"]])


def replay(*options):
    path = scratch("replayed.pb.gz")
    if os.path.exists(path):
        os.unlink(path)
    result = run([HCCT, "replay", "--no-report", "-o", path, *options, scratch("live.trace")])
    check(result.status == 0, f"replay {' '.join(options)}: {result.err.decode().strip() or 'good'}")
    return tree(path)


def differences(live, again):
    """The first few, for a reader of the failure."""
    pairs = [pair for parts in zip(live, again) for pair in
             (zip(*parts) if isinstance(parts[0], list) else [parts])]
    return [pair for pair in pairs if pair[0] != pair[1]][:3]


def same_again(what, steps, *options):
    path = scratch("live.pb.gz")
    result = record([TARGET, str(steps)], path, "--no-report", "--trace", scratch("live.trace"), *COARSE,
                    *options)
    check(result.status == 0, f"{what}: recorded")
    living = [process["pid"] for process in report(path)["processes"] if process["live"]]
    check(living == [], f"{what}: none of its processes is said to live on: {living}")
    live = tree(path)
    check(live[1] > 0, f"{what}: {len(live[3])} contexts, {live[1]} {live[0]} in all")
    again = replay(*COARSE)
    check(again == live, f"{what}: replay finds the same counts and errors")
    if again != live:
        print(f"        {len(live[3])} contexts, {len(again[3])} again; {differences(live, again)}")
    return live


calls = same_again("calls", 20000, "--collector", "calls")
check(calls[0] == "calls" and len(calls[2]) == 2, "calls: of two processes")
check(len(calls[3]) > 50, "calls: of many contexts")
check(max(node["error"] for node in calls[3]) > 0, "calls: contexts had been evicted")
check(replay("--phi", "0.0001")[1] == calls[1], "another phi: the same total")
exact = replay("--summary", "exact", *COARSE)
check(exact[1] == calls[1] and max(node["error"] for node in exact[3]) == 0,
      "exact: the same total, and no error")
# So few that no context is evicted: of samples, when hcctd has read each thread's decides which one goes.
# A processor that is emulated takes ten times as long for a step.
same_again("walks", 200000 if platform.machine() == "x86_64" else 20000)

# an agent that has given up before hcctd answers leaves no process behind, in the trace neither
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../common/wire/wire.h")) as wire:
    version = int(re.search(r"#define WIRE_VERSION\s+(\d+)", wire.read()).group(1))
with Daemon("--trace", scratch("live.trace")) as daemon:
    daemon.process.send_signal(signal.SIGSTOP)
    with socket.socket(socket.AF_UNIX) as agent:
        agent.connect(daemon.socket)
        agent.sendall(struct.pack("<8sII48x", b"HCCTAGNT", version, 64))
    daemon.process.send_signal(signal.SIGCONT)
    check(run([TARGET, "100000"], env=daemon.env()).status == 0, "a program runs beside one that left")
    pids = [process["pid"] for process in daemon.processes()]
    check(pids and os.getpid() not in pids, "hcctd knows the program, and not the one that left")
check([process[1] for process in replay()[2]] == pids, "and so does the trace")
finish()
