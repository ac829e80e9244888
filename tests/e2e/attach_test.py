# SPDX-License-Identifier: LGPL-3.0-or-later
"""When a program makes itself known to hcctd: those of a build are over before that, and have their
share of the samples all the same; those that sleep are known soon."""

import math
import os
import socket
import subprocess
import time

from support import AGENT, Daemon, check, finish, run, scratch, target

SHORT, LIVES, US = 300, 400, 1500


def known(daemon):
    return sum(p["runs"] for p in daemon.processes())


def credited(daemon):
    """Samples of all processes, when those that are over have come to their end."""
    last = None
    for _ in range(200):
        time.sleep(0.1)
        processes = daemon.processes()
        sums = (sum(p["total_ns"] for p in processes), sum(p["runs"] for p in processes))
        if sums == last:
            break
        last = sums
    return last


# hcctd may be late where the machine is busy, and a program does not wait for it for long
for attach, fits in ("tick", lambda n: n < SHORT / 2), ("start", lambda n: n > 0.8 * SHORT):
    with Daemon() as daemon:
        env = {**os.environ, **daemon.env(HCCT_ATTACH=attach)}
        for _ in range(SHORT):
            os.waitpid(os.posix_spawn("/bin/true", ["true"], env), 0)
        _, n = credited(daemon)
        check(fits(n), f"{attach}: {n} of {SHORT} short programs are known")

# Programs that wait at once, in calls of several kinds.
WAITS = {
    "read": ["cat"],
    "sleep": ["sleep", "60"],
    "waitpid": ["sh", "-c", "LD_PRELOAD= sleep 60; true"],
    "poll": ["tail", "-f", "/dev/null"],
}
with Daemon() as daemon:
    env = {**os.environ, **daemon.env(HCCT_RATE="1")}
    for call, command in WAITS.items():
        reads, writes = os.pipe()
        process = subprocess.Popen(command, stdin=reads, env=env, stdout=subprocess.DEVNULL)
        found = daemon.wait_for(lambda p: p["pid"] == process.pid)
        check(found is not None, f"{call}: a program that waits is known")
        process.kill()
        process.wait()
        os.close(reads)
        os.close(writes)

# Lives that are shorter than the step between samples.
for rate in 1000,:
    seen = {}
    for attach in "tick", "start":
        with Daemon() as daemon:
            result = run([target("lives"), "forks", str(LIVES), str(US), "1", "exec"],
                         env=daemon.env(HCCT_RATE=str(rate), HCCT_ATTACH=attach))
            used = int(result.out.split()[0])
            total, n = credited(daemon)
            seen[attach] = total / used
            chance = 5 * math.sqrt(used * 1e9 / rate) / used
            print(f"        {attach}: {100 * seen[attach]:.1f} % of the time credited, {n} programs known")
    check(abs(seen["tick"] - seen["start"]) <= 2 * chance,
          f"{LIVES} programs of {US / 1000} ms, {rate} a second: the same by both, chance {100 * 2 * chance:.0f} %")

# A thread that waits for hcctd's answer has descriptors for so long, a child forked then has not.
with socket.socket(socket.AF_UNIX) as silent:
    silent.bind(scratch("silent"))
    silent.listen(1000)
    env = {"LD_PRELOAD": AGENT, "HCCT_SOCKET": scratch("silent"), "HCCT_RATE": "1000"}
    said = {run([target("inherits")], env=env).out for _ in range(10)}
    check(said == {b"0 of 400 children have more descriptors\n"},
          f"beside an hcctd that does not answer: {sorted(said)}")

# Whom the socket is out of reach for later makes itself known before.
if os.geteuid() == 0:
    with Daemon() as daemon:
        status = run([target("leaves_root"), "300"], env=daemon.env()).status
        found = [p for p in daemon.processes() if p["command"] == "leaves_root"]
        check(status == 0 and found and found[0]["walks"] > 0, "a program that changes its root is sampled")
        for attach in "tick", "start":
            result = run([target("worker"), "300"], env=daemon.env(HCCT_ATTACH=attach))
            found = [p for p in daemon.processes() if result.out and p["pid"] == int(result.out)]
            check(result.status == 0 and found and found[0]["walks"] > 10,
                  f"{attach}: so is a server's child that takes another user")
finish()
