#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""hcctd ends at any moment, is killed or goes in order, while programs of all kinds run in all modes:
none fails or waits for long; the next hcctd counts nothing twice, and what was lost is reported.

gone_test.py [--kills N] [MODE...]: 12 by default; `--kills 1000` takes about half an hour."""

import argparse
import os
import random
import signal
import statistics
import subprocess
import time

from support import Daemon, check, finish, scratch, target

MODES = {"walks": {"HCCT_RATE": "1000"},
         "wall": {"HCCT_CLOCK": "wall", "HCCT_RATE": "1000"},
         "bursts": {"HCCT_BURST": "2ms/20ms"},
         "calls": {"HCCT_COLLECTOR": "calls"},
         "calls_in_bursts": {"HCCT_COLLECTOR": "calls", "HCCT_BURST": "1ms/4ms"}}
LIMIT_S = 120  # for what takes less than one
TRIES = 100
SILENT_S = 3.5  # by then an agent takes a hcctd that stands still for gone
PAUSE_S = 1.5  # half of the silence by which an agent knows a hcctd that stands still

parser = argparse.ArgumentParser()
parser.add_argument("--kills", type=int, default=12)
parser.add_argument("modes", nargs="*")
args = parser.parse_args()
seed = int(os.environ.get("HCCT_SEED", time.time_ns() % 1000000))
random.seed(seed)
print(f"HCCT_SEED={seed}, {args.kills} kills")


def start(daemon, mode, *arguments, nice=5):
    """They take all processors that there are, but leave hcctd its part: else it would be waited for, and they
    would compute for minutes meanwhile."""
    return subprocess.Popen([target("restless"), *arguments], env=daemon.env(**MODES[mode]),
                            preexec_fn=lambda: os.nice(nice), stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def end(app):
    """What is wrong with its end ("" if nothing is), and its longest pauses in seconds: all, waits."""
    app.send_signal(signal.SIGTERM)
    try:
        out, err = app.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        app.kill()
        app.communicate()
        return "hangs", None
    if app.returncode != 0 or err != b"":
        return f"{app.returncode} {err.decode()[:200]}", None
    words = out.split()
    return "", (int(words[3]) / 1e6, int(words[5]) / 1e6)


def begin_to_end(apps):
    """Those that are waited for last need not compute until then."""
    for _, app in apps:
        app.send_signal(signal.SIGTERM)


def say_pauses(what, pauses):
    """Medians do not depend on what else the machine has to do, as the longest do."""
    for mode in {mode for mode, _ in pauses}:
        wall = [pause[0] for m, pause in pauses if m == mode]
        wait = [pause[1] for m, pause in pauses if m == mode]
        print(f"        {what}, {mode}: pauses {statistics.median(wall):.3f} s, {max(wall):.3f} at most; "
              f"waits {statistics.median(wait):.3f}, {max(wait):.3f} at most")
        check(statistics.median(wait) < PAUSE_S, f"{what}, {mode}: programs do not wait for who is gone")


def kill_often(modes):
    """Each program sees one hcctd end, and maybe the next one come."""
    bad, pauses = [], {signal.SIGKILL: [], signal.SIGTERM: []}
    daemon = Daemon("--state-dir", scratch("state"), "--checkpoint", "1").start()
    for n in range(args.kills):
        how = signal.SIGTERM if n % 4 == 3 else signal.SIGKILL
        apps = [(mode, start(daemon, mode)) for mode in modes]
        time.sleep(random.random() * 0.4)
        daemon.stop(how)
        if n % 2:
            daemon.start()
        time.sleep(0.3)
        if n % 2 == 0:
            daemon.start()
        begin_to_end(apps)
        for mode, app in apps:
            wrong, pause = end(app)
            if wrong:
                bad.append(f"{n} {how.name} {mode}: {wrong}")
                print(bad[-1], flush=True)
            else:
                pauses[how].append((mode, pause))
        if n % 50 == 49:
            print(f"        {n + 1} kills", flush=True)
    check(not bad, f"{args.kills} kills, each of {len(modes)} programs: {len(bad)} failed")
    for how, seen in pauses.items():
        if seen:
            say_pauses(how.name, seen)
    check(daemon.stop() == 0, "the last hcctd ends with status 0")


# ---- what is counted ----

class Asked:
    """A program that makes as many calls as it is asked for."""

    def __init__(self, daemon):
        self.app = subprocess.Popen([target("calls_asked")], env=daemon.env(HCCT_COLLECTOR="calls"),
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = self.app.pid

    def ask(self, n):
        self.app.stdin.write(b"%d\n" % n)
        self.app.stdin.flush()
        if self.app.stdout.readline() != b"%d\n" % n:
            check(False, f"asked for {n} calls")

    def end(self):
        self.app.stdin.close()
        return self.app.wait(LIMIT_S)


def adopted(daemon, asked, restarts, before):
    """What the next hcctd says when the program has found it, which takes some use of the processor: the
    calls it has from the last one, the first new ones taken off, and those that are lost. Where the agent
    begins anew, it counts tries in vain as lost, too: one a tick until hcctd has unwind tables."""
    for new in range(1, 100):
        asked.ask(0)
        asked.ask(1)
        time.sleep(0.1)
        found = [p for p in daemon.processes() if p["pid"] == asked.pid and p["restarts"] == restarts]
        if found and found[0]["calls"] > before:
            total = found[0]["calls"]
            return total, before < total <= before + new, found[0]["lost"]
    return 0, False, 0


def given_up(daemon, asked, total, lost):
    """Twice hcctd stands still for so long that the program gives it up, with 1,234 calls in a ring: it goes
    on, and reads them; or is killed, and nobody ever does."""
    def leave():
        time.sleep(2.5)  # a checkpoint has all
        daemon.process.send_signal(signal.SIGSTOP)
        asked.ask(1234)
        time.sleep(SILENT_S)
        for _ in range(10):  # ticks, at which it looks for another one
            asked.ask(0)

    leave()
    daemon.process.send_signal(signal.SIGCONT)
    found, right, now_lost = adopted(daemon, asked, 2, total + 1234)
    check(right and now_lost < lost + TRIES,
          f"stood still, and went on to read 1,234: {found}, and {now_lost - lost} are reported as lost")
    total, lost = found, now_lost
    leave()
    daemon.stop(signal.SIGKILL)
    daemon.start()
    found, right, now_lost = adopted(daemon, asked, 3, total)
    check(right and lost + 1234 <= now_lost < lost + 1234 + TRIES,
          f"stood still, and was killed before it has read 1,234: {found}, {now_lost - lost} are reported as lost")
    return found, now_lost


def count_exactly():
    daemon = Daemon("--state-dir", scratch("exact"), "--checkpoint", "1", "--summary", "exact").start()
    asked = Asked(daemon)

    def knows(total):
        return daemon.wait_for(lambda p: p["pid"] == asked.pid and p["calls"] == total, 20)

    asked.ask(5000)
    check(knows(5000), "5,000 calls are counted")
    daemon.stop()
    daemon.start()
    total, right, tries = adopted(daemon, asked, 1, 5000)
    check(right and tries < TRIES, f"after an orderly restart: {total}, none lost ({tries})")
    asked.ask(700)
    check(knows(total + 700), "700 more are counted, and nothing twice")
    time.sleep(2.5)  # a checkpoint has them
    daemon.process.send_signal(signal.SIGSTOP)
    asked.ask(1234)
    daemon.stop(signal.SIGKILL)
    daemon.start()
    total, right, lost = adopted(daemon, asked, 2, total + 700)
    check(right and tries + 1234 <= lost < tries + 1234 + TRIES,
          f"killed before it has read 1,234: {total}, and {lost} are reported as lost")
    asked.ask(300)
    check(knows(total + 300), "300 more are counted, and nothing twice")
    total, lost = given_up(daemon, asked, total + 300, lost)
    asked.ask(200)
    check(knows(total + 200), "200 more are counted, and nothing twice")
    check(asked.end() == 0, "the program ends as it should")
    check(daemon.stop() == 0, "hcctd ends with status 0")


def stand_still():
    """A hcctd that is stopped does not answer; who begins meanwhile does not wait for it. (Where calls are
    counted the agent looks for hcctd at once.)"""
    daemon = Daemon().start()

    def fastest():
        times = []
        for _ in range(10):
            began = time.monotonic()
            status = subprocess.run(["/bin/true"], env=daemon.env(HCCT_COLLECTOR="calls"),
                                    check=False).returncode
            times.append(time.monotonic() - began if status == 0 else LIMIT_S)
        return min(times)

    running = fastest()
    daemon.process.send_signal(signal.SIGSTOP)
    stopped = fastest()
    daemon.process.send_signal(signal.SIGCONT)
    check(stopped < 0.05, f"beside a stopped hcctd /bin/true takes {1000 * stopped:.1f} ms, beside one that "
          f"runs {1000 * running:.1f}")
    check(daemon.wait_for(lambda p: p["command"] == "true") is not None, "it goes on, and answers")
    check(daemon.stop() == 0, "hcctd ends with status 0")


def cpu_of(pid):
    with open(f"/proc/{pid}/stat") as stat:
        words = stat.read().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def wait_until_used(pids, seconds):
    """Each has used so much CPU time."""
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline and min(map(cpu_of, pids)) < seconds:
        time.sleep(0.1)


def restart_in_order(modes, each, before_s=0, gap_s=0):
    """Each mode's programs are there before, and after. `gap_s`: each uses so much CPU time while no hcctd is
    there, after `before_s` with one, and that time is reported."""
    daemon = Daemon("--state-dir", scratch(f"restart-{gap_s}"), "--report-dir", "none").start()
    apps = [(mode, start(daemon, mode, "0", "calls", "switching", "napping", nice=10))
            for mode in modes for _ in range(each)]
    pids = {app.pid: mode for mode, app in apps}

    def total(process):
        return process["calls" if process["collector"] == "calls" else "total_ns"]

    def measured(process):
        return process["pid"] in pids and process["state"] == "live" and total(process) > 0

    def wait_for_all(more):
        deadline, seen = time.monotonic() + 60, {}
        while time.monotonic() < deadline and len(seen) < len(pids):
            seen = {p["pid"]: p for p in daemon.processes() if measured(p) and more(p)}
            time.sleep(0.2)
        return seen

    before = wait_for_all(lambda p: True)
    check(len(before) == len(pids), f"{len(before)} of {len(pids)} programs are profiled")
    wait_until_used(pids, before_s)
    daemon.stop()
    wait_until_used(pids, before_s + gap_s)
    daemon.start()
    after = wait_for_all(lambda p: p["restarts"] > 0 and total(p) > total(before[p["pid"]]))
    check(len(after) == len(pids), f"{len(after)} of {len(pids)} are taken over, and go on")
    for pid, process in after.items():
        if gap_s:
            seen, gap, cpu = process["total_ns"] / 1e9, process["gap_ns"] / 1e9, cpu_of(pid)
            check(gap_s / 2 < gap and 0.75 * cpu - 0.5 < seen + gap < 1.25 * cpu + 0.5,
                  f"{pids[pid]}: {seen:.2f} s seen, {gap:.2f} s reported as not seen, of {cpu:.2f} s")
    begin_to_end(apps)
    wrong = [f"{mode} {what}" for mode, app in apps if (what := end(app)[0])]
    check(not wrong, f"all programs end as they should {wrong}")
    check(daemon.stop() == 0, "hcctd ends with status 0")


kill_often(args.modes or list(MODES))
if not args.modes:
    stand_still()
    count_exactly()
    restart_in_order(MODES, 4)
    restart_in_order(["walks", "bursts"], 2, before_s=2, gap_s=3)
finish()
