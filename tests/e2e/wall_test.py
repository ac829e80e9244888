# SPDX-License-Identifier: LGPL-3.0-or-later
"""Elapsed time: a program that sleeps 70 % of its time shows it, in the contexts where it sleeps, and
its calls return as they should (it aborts otherwise)."""

import os
import shutil
import signal
import socket
import subprocess
import time

from support import HCCT, check, finish, folded, record, report, scratch, target, weights

path = scratch("wall.pb.gz")
result = record([target("sleepy"), "6"], path, "--clock", "wall", "--rate", "1000")
check(result.status == 0, "the program ended with status 0")

spent = {}
for line in result.out.decode().splitlines():
    ns, name = line.split()
    spent[name] = int(ns)
total = sum(spent.values())
seen = weights(path, spent)
for name, ns in spent.items():
    check(abs(seen[name] - ns) <= 0.05 * total,
          f"{name}: {100 * seen[name] / total:.1f} % of the time, {100 * ns / total:.1f} % is true")
asleep = sum(ns for name, ns in seen.items() if name != "compute") / total
check(asleep >= 0.6, f"{100 * asleep:.1f} % of the time is sleep")
check(report(path)["unit"] == "nanoseconds", "the unit is nanoseconds")

def answers(path):
    """Whether redis-server is there: its socket is, long before it has begun to wait, on a slow machine."""
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(path)
            client.sendall(b"PING\r\n")
            return client.recv(7) == b"+PONG\r\n"
        except OSError:
            return False


# a server that has next to nothing to do: its main thread waits in epoll_wait
if shutil.which("redis-server"):
    path = scratch("redis.pb.gz")
    began = time.monotonic()
    recording = subprocess.Popen(
        [HCCT, "record", "--clock", "wall", "-o", path, "--", "redis-server", "--port", "0",
         "--unixsocket", scratch("redis.sock"), "--save", ""],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=os.path.dirname(path))
    while not answers(scratch("redis.sock")) and recording.poll() is None:
        time.sleep(0.01)
    ready = time.monotonic()
    time.sleep(4)
    idle = time.monotonic() - ready
    if recording.poll() is None:
        children = f"/proc/{recording.pid}/task/{recording.pid}/children"
        for pid in open(children).read().split():
            if open(f"/proc/{pid}/comm").read().strip() == "redis-server":
                os.kill(int(pid), signal.SIGTERM)
    recording.wait(60)
    lived = time.monotonic() - began
    waited = sum(weight for frames, weight in folded(path)
                 if "main" in frames and "epoll_wait" in frames) / 1e9
    check(0.95 * idle <= waited <= lived,
          f"redis-server: {waited:.2f} s in epoll_wait, {idle:.2f} idle")
else:
    print("redis-server is not installed: left out")
finish()
