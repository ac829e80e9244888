# SPDX-License-Identifier: LGPL-3.0-or-later
"""An agent that is attached is put before what can sleep: it samples more often than the kernel's clock
ticks, and by the wall clock, also threads that sleep already; nothing of it is seen, and all is put back."""

import os
import re
import shutil
import signal
import subprocess
import time

from attach_support import asleep, attach, detach, end, own_weights, record, rights_of, start, text_of, words_of
from support import HCCT, Daemon, check, finish, need, run, scratch, target

need("readelf")
LIBRARY = target("attach_library.so")
FINE, WALL = ["--rate", "1000"], ["--rate", "1000", "--clock", "wall"]


def cpu_seconds(pid):
    words = text_of(pid, "stat").rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def shares_of(found):
    total = sum(found.values()) or 1
    return {name: 100 * weight / total for name, weight in found.items()}


# ---- what is seen ----

def finely():
    """The shares are those of the program's own clock, by more samples than the kernel has ticks."""
    process, path = start(target("attach_shares")), scratch("fine.pb.gz")
    process.send_signal(signal.SIGUSR2)
    process.send_signal(signal.SIGUSR1)
    before = cpu_seconds(process.pid)
    said = record(process, 5, path, *FINE)
    used = cpu_seconds(process.pid) - before
    status, out = end(process)
    check(status == 0, "it ends with status 0")
    if not said:
        return
    samples = int(re.search(r"in ([0-9,]+) samples", said)[1].replace(",", ""))
    check(samples > 500 * used, f"{samples} samples of {used:.2f} s of CPU time")
    truth = shares_of({name: int(ns) for name, ns in (line.split() for line in out.splitlines())})
    seen = shares_of(own_weights(path, truth))
    # a share of a half is good to 50/sqrt(n) points, three times that in 997 of 1,000 cases; work that began
    # before is in the program's own count alone
    for name in truth:
        bound = 1 + 150 / samples ** 0.5
        check(abs(seen[name] - truth[name]) <= bound,
              f"{name}: {seen[name]:.2f} % of the time, {truth[name]:.2f} % is true, good to {bound:.1f}")


def idle():
    """A program that does nothing at all is seen, each time."""
    need("cat")
    process, seen = subprocess.Popen(["cat"], stdin=subprocess.PIPE), 0
    time.sleep(0.3)
    for _ in range(6):
        result = run([HCCT, "record", "-p", str(process.pid), "--duration", "1s", "--clock", "wall", "-o",
                      scratch("idle.pb.gz")])
        seen += result.status == 0
    check(seen == 6, f"a program that waits for its input is seen {seen} of 6 times")
    process.kill()
    process.wait()


# ---- what is not ----

def quiet(daemon):
    for call in ("epoll", "nanosleep", "poll", "sigwait", "read", "recv", "futex"):
        process, attached, left = start(target("attach_quiet"), call), 0, 0
        for i in range(8):
            attached += attach(daemon, process, *(FINE if i % 2 else WALL))
            time.sleep(0.15)
            left += detach(process)
        status, out = end(process)
        check(status == 0 and attached == left == 8, f"{call} sees nothing of {attached} times: {out}")


TIMED = """import ctypes, time
libc = ctypes.CDLL(None)
class timespec(ctypes.Structure):
    _fields_ = [("s", ctypes.c_long), ("ns", ctypes.c_long)]
began = time.monotonic()
result = libc.ppoll(None, 0, ctypes.byref(timespec(SECONDS, 0)), None)
print(result, time.monotonic() - began)
"""


def timed(daemon):
    """A call that was made again for one attachment has its time in the next one, too."""
    seconds = 8
    process = start("python3", "-c", TIMED.replace("SECONDS", str(seconds)))
    for turn in (1, 2, 3):
        check(attach(daemon, process, *WALL) and detach(process), f"ppoll: attached to, and left, {turn}")
    out, _ = process.communicate(timeout=60)
    result, took = out.split()
    check(result == b"0" and float(took) >= seconds, f"ppoll of {seconds} s ended after {float(took):.2f} s with {result}")


def transfers(daemon):
    """Calls whose interruption would be seen are not interrupted."""
    for options in FINE, WALL:
        process = start(target("attach_sleepers"))
        check(attach(daemon, process, *options), f"attached with {' '.join(options)}")
        time.sleep(0.7)
        process.send_signal(signal.SIGUSR1)
        time.sleep(2)
        status, out = end(process)
        check(status == 0 and int(out.split()[-1]) > 20, f"no transfer and no nap ended short: {out}")


def put_back(daemon):
    """Byte for byte, and the rights of the pages: of one whose words are in pages of their own, read-only
    once they are filled, and of one whose are not."""
    commands = [[shutil.which("python3") or "python3", "-c", "import time\nwhile True: time.sleep(0.01)"],
                [target("attach_sleepers")]]
    for command in commands:
        process = start(*command, env={**os.environ, "LD_BIND_NOW": "1"})
        time.sleep(0.3)
        check(attach(daemon, process) and detach(process), "the library is there")
        before, rights = words_of(process.pid), rights_of(process.pid)
        for i in range(3):
            check(attach(daemon, process, *(WALL if i % 2 else FINE)), "attached")
            time.sleep(0.2)
            changed = sum(word != before[key] for key, word in words_of(process.pid).items())
            check(changed > 5, f"{changed} of {len(before)} words lead to the agent")
            check(rights_of(process.pid) == rights, "pages have the rights that they had")
            check(detach(process), "detached")
            after = words_of(process.pid)
            check(after == before, f"all words are as they were: {len(after)}")
            check(rights_of(process.pid) == rights, "and so are their pages")
        check(attach(daemon, process), "by the kernel's ticks")
        check(words_of(process.pid) == before, "nothing is changed")
        check(detach(process), "and left")
        end(process)


def storms(daemon):
    for kind in "threads", "loader", "fork":
        process, attached, left, timers = start(target("attach_storm"), kind, LIBRARY), 0, 0, 0
        for i in range(8):
            if attach(daemon, process, *(WALL if i % 2 else FINE)):
                attached += 1
                time.sleep(0.05)
                left += detach(process)
                timers += text_of(process.pid, "timers") != ""
        status, out = end(process)
        check(status == 0 and "rounds" in out and attached == left,
              f"{kind}: {attached} times attached, {left} times left, status {status}, {out}")
        check(timers == 0, f"{kind}: {timers} times a timer was left")


finely()
asleep(target("attach_sleepers"))
idle()
with Daemon() as shared:
    quiet(shared)
    timed(shared)
    transfers(shared)
    put_back(shared)
    storms(shared)
finish()
