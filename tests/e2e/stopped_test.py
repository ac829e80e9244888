# SPDX-License-Identifier: LGPL-3.0-or-later
"""A hcctd that stands still for longer than programs wait for it: what they use meanwhile is credited, or
counted as lost, whether they go on, end, fork or call exec."""

import concurrent.futures
import json
import os
import signal
import subprocess
import sys
import time

from support import Daemon, check, finish, report, run, HCCT, scratch, target, wait_for_checkpoints

STOPPED_S = 5


def said(text, word):
    return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith(word + " "))


def saved(daemon, name):
    """The profile of all that hcctd knows, by a file: what `hcct report` makes of it."""
    path = scratch(name + ".pb.gz")
    result = run([HCCT, "hot", "--socket", daemon.socket, "-o", path])
    check(result.status == 0, f"{name}: a profile is written {result.err.decode()}")
    return report(path)


def stand_still(name, what, seconds, ends_meanwhile=False, restart=None, **env):
    """Of a program that takes so many seconds: its CPU time, its threads' time, and the profile. `restart`: hcctd is
    another one then, which has to meet the program: one that has ended by then, on a slow machine, is begun again,
    for longer."""
    state = scratch(f"{name}-{seconds}.state")
    options = ["--state-dir", state, "--checkpoint", "1"] if restart else []
    daemon = Daemon(*options, socket=scratch(f"{name}-{seconds}.sock")).start()
    app = subprocess.Popen([target("outlasts"), what, str(seconds)], env=daemon.env(**env),
                           stdout=subprocess.PIPE, text=True)
    time.sleep(1)
    check(daemon.wait_for(lambda p: p["pid"] == app.pid and p["walks"] > 0) is not None, f"{name}: it is profiled")
    if restart:
        check(wait_for_checkpoints(state), f"{name}: there is a checkpoint of it")
    daemon.process.send_signal(signal.SIGSTOP)
    time.sleep(STOPPED_S)
    if ends_meanwhile:
        out = app.communicate(timeout=300)[0]
    if restart == "killed":
        daemon.stop(signal.SIGKILL)
        daemon.start()
        while app.poll() is None and not any(p["pid"] == app.pid and p["state"] == "live" for p in daemon.processes()):
            time.sleep(0.1)
        if app.poll() is not None and seconds < 100:
            daemon.stop()
            app.communicate()
            return stand_still(name, what, 2 * seconds, ends_meanwhile, restart, **env)
    else:
        daemon.process.send_signal(signal.SIGCONT)
    if not ends_meanwhile:
        out = app.communicate(timeout=300)[0]
    daemon.wait_for(lambda p: p["state"] == "finished")
    profile = saved(daemon, name)
    daemon.stop()
    return said(out, "CPU"), said(out, "TIME"), profile


# what follows main(), and precedes it; and ticks of a thread that nobody has heard of
BESIDE_NS = 30e6


def accounted(what, profile, truth):
    total, half = profile["total"], profile["chance"]["total_half_width"]
    lost = sum(process["lost_ns"] + process["gap_ns"] for process in profile["processes"])
    varied = sum(process["varied_total"] for process in profile["processes"]) * 1024**2
    by_chance = 1.96 * (varied + 1.5 * max(process["lone_ns"] for process in profile["processes"]) ** 2) ** 0.5
    check(lost > 0.03 * truth, f"{what}: {lost / 1e9:.2f} s are said to be lost")
    check(abs(total + lost - truth) <= 1.5 * by_chance + 0.02 * truth + BESIDE_NS,
          f"{what}: {total / 1e9:.2f} s in contexts, {lost / 1e9:.2f} s lost, "
          f"{truth / 1e9:.2f} s are true, chance {by_chance / 1e9:.2f} s")
    check(abs(total - truth) <= half + 0.02 * truth + BESIDE_NS,
          f"{what}: N is {total / 1e9:.2f} s +-{half / 1e9:.2f}")


LOCKS = """
import ctypes, time
until = time.monotonic() + 6
while time.monotonic() < until:
    sum(range(10000))
print("before", [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmRSS")][0])
print("locked", ctypes.CDLL(None).mlockall(1) == 0)
print("after", [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmRSS")][0])
"""


def locked(_):
    """What stays of a session that was left is none of the program's memory."""
    grown = []
    for stopped in (False, True):
        daemon = Daemon(socket=scratch("locked.sock")).start()
        app = subprocess.Popen([sys.executable, "-c", LOCKS], env={**os.environ, **daemon.env()},
                               stdout=subprocess.PIPE, text=True)
        check(daemon.wait_for(lambda p: p["pid"] == app.pid) is not None, "python3 is profiled")
        if stopped:
            daemon.process.send_signal(signal.SIGSTOP)
        out = dict(line.split() for line in app.communicate(timeout=120)[0].splitlines())
        daemon.process.send_signal(signal.SIGCONT)
        daemon.stop()
        check(app.returncode == 0 and len(out) == 3, f"it ends as it should: {out}")
        if out.get("locked") != "True":
            return  # it may not
        grown.append(int(out["after"]) - int(out["before"]))
    check(grown[1] < grown[0] + 8192, f"locked memory grows by {grown[0]} kB beside hcctd, by {grown[1]} kB "
          "where it stands still")


def run_twice():
    """The same work twice; once hcctd stands still for a part of it."""
    for name, stop_s in (("lossy", STOPPED_S), ("whole", 0)):
        daemon = Daemon(socket=scratch(f"{name}.sock")).start()
        app = subprocess.Popen([target("known_shares"), "4"], env=daemon.env(HCCT_RATE="250"),
                               stdout=subprocess.DEVNULL)
        daemon.wait_for(lambda p: p["walks"] > 100)
        if stop_s > 0:
            daemon.process.send_signal(signal.SIGSTOP)
            time.sleep(stop_s)
            daemon.process.send_signal(signal.SIGCONT)
        app.wait(120)
        daemon.wait_for(lambda p: p["state"] == "finished")
        saved(daemon, name)
        daemon.stop()


def compare(pair):
    """What diff says wrongly of the two, as a text."""
    files = [scratch(name + ".pb.gz") for name in pair]
    diff = json.loads(run([HCCT, "diff", *files, "--format", "json"]).out)
    total = diff["total"]
    same = abs(total["before"] - total["after"]) < 0.03 * total["before"]
    above = run([HCCT, "diff", *files, "--fail-above", "3%"])
    wrong = [] if same else [f"{total['before'] / 1e9:.2f} s and {total['after'] / 1e9:.2f} s"]
    if diff["beyond"] > 0:
        wrong.append(f"{diff['beyond']} differences are sure")
    if above.status != 0:
        wrong.append(above.err.decode().strip())
    return ", ".join(wrong)


def compared(_):
    """Chance alone makes one comparison of twenty differ: not four times in a row."""
    for _ in range(4):
        run_twice()
        wrong = [compare(pair) for pair in (("lossy", "whole"), ("whole", "lossy"))]
        if not any(wrong):
            break
    for text, way in zip(wrong, ("from lossy to whole", "from whole to lossy")):
        check(not text, f"{way} nothing is sure to be different: {text or 'right'}")


CASES = {
    "threads": lambda name: stand_still(name, "threads", 9),
    "bursts": lambda name: stand_still(name, "threads", 9, HCCT_BURST="5ms/20ms"),
    "ends": lambda name: stand_still(name, "ends", 9),
    "forks": lambda name: stand_still(name, "forks", 9),
    "exec": lambda name: stand_still(name, "exec", 5),
    "over": lambda name: stand_still(name, "threads", 5.5, ends_meanwhile=True),
    "over-ends": lambda name: stand_still(name, "ends", 5.5, ends_meanwhile=True),
    "over-killed": lambda name: stand_still(name, "killed", 5.5, ends_meanwhile=True),
    "restarted": lambda name: stand_still(name, "threads", 12, restart="killed"),
    "wall": lambda name: stand_still(name, "naps", 9, HCCT_CLOCK="wall"),
    "compared": compared,
    "locked": locked,
    "wall-over": lambda name: stand_still(name, "naps", 5.5, ends_meanwhile=True, HCCT_CLOCK="wall"),
}


def run_case(name):
    found = CASES[name](name)
    if found is not None:
        cpu, elapsed, profile = found
        accounted(name, profile, elapsed if name.startswith("wall") else cpu)


# most of the time they wait for each other: several at once
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    list(pool.map(run_case, sys.argv[1:] or CASES))
finish()
