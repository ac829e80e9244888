# SPDX-License-Identifier: LGPL-3.0-or-later
"""Profiles outlive hcctd: what a checkpoint has, the next one goes on with."""

import json
import os
import signal
import subprocess
import time

from support import HCCT, HCCTD, Daemon, check, finish, run, scratch, target, wait_for_checkpoints

STATE = scratch("state")


def one(daemon, pid, seconds=15, **want):
    return daemon.wait_for(lambda p: p["pid"] == pid and all(p[k] == v for k, v in want.items()),
                           seconds)


def own_weights(daemon):
    """{path of functions: weight} of the program that runs on. With all names: an answer in text has
    for now what is known soon."""
    path = scratch("weights.pb.gz")
    run([HCCT, "hot", "--socket", daemon.socket, "-p", str(app.pid), "-o", path])
    lines = run([HCCT, "report", "--format", "folded", path]).out.decode().splitlines()
    return {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in lines}


def text(daemon, pid):
    return run([HCCT, "hot", "--socket", daemon.socket, "-p", str(pid), "--format", "text"]).out.decode()


def kill(daemon):
    daemon.process.kill()
    daemon.process.wait()


daemon = Daemon("--state-dir", STATE, "--checkpoint", "1").start()
app = subprocess.Popen([target("known_shares"), "60"], env=daemon.env(HCCT_RATE="250"),
                       stdout=subprocess.DEVNULL)
done = run([target("known_shares"), "1"], env=daemon.env(HCCT_RATE="250"))
check(daemon.wait_for(lambda p: p["pid"] == app.pid and p["walks"] > 300, 30), "a program runs")
finished = daemon.wait_for(lambda p: p["state"] == "finished" and p["walks"] > 0)
check(finished is not None, "and another has ended")
before_ns, before = one(daemon, app.pid)["total_ns"], own_weights(daemon)
check(wait_for_checkpoints(STATE), "there is a checkpoint of all that")
kill(daemon)
time.sleep(1)
daemon.start()
kept = one(daemon, finished["pid"], state="finished")
check(kept is not None and kept["total_ns"] == finished["total_ns"] and
      kept["walks"] == finished["walks"] and kept["restarts"] == 0,
      "after SIGKILL the next hcctd knows the one that has ended, all of it")
after = one(daemon, app.pid, 30, state="live")
check(after is not None and after["total_ns"] >= before_ns,
      f"the other goes on: {after['total_ns'] / 1e9:.2f} s, {before_ns / 1e9:.2f} s were seen before")
check(after["restarts"] == 1 and after["gap_ns"] > 0, f"what is missing is said: {after['gap_ns']} ns")
check(len([p for p in daemon.processes() if p["pid"] == app.pid]) == 1, "it is there once")
weights = own_weights(daemon)
lost = {path: (n, weights.get(path, 0)) for path, n in before.items() if weights.get(path, 0) < n}
check(before and not lost, f"no context has less than before: {lost}")
time.sleep(1)
found = one(daemon, app.pid)
seen = found["total_ns"] + found["gap_ns"]
check(abs(seen - found["cpu_ns"]) <= 0.03 * found["cpu_ns"] + 50e6,
      f"what is seen and what is not make up its CPU time: {seen / 1e9:.2f} s of "
      f"{found['cpu_ns'] / 1e9:.2f} s")
check("hcctd was started anew" in text(daemon, app.pid), "the text says so, too")
answer = run([HCCT, "hot", "--socket", daemon.socket, "-p", str(app.pid), "--format", "json"])
process = json.loads(answer.out)["processes"][0]
check(process["restarts"] == 1 and process["gap_ns"] == found["gap_ns"], "and JSON")

# switched off, it stays so; and an orderly end loses nothing that was seen
run([HCCT, "stop", "--socket", daemon.socket, "-p", str(app.pid)])
check(one(daemon, app.pid, sampling="off"), "switched off")
time.sleep(0.5)
before_ns = one(daemon, app.pid)["total_ns"]
check(daemon.stop() == 0, "SIGTERM")
daemon.start()
found = one(daemon, app.pid, 15)
check(found["total_ns"] == before_ns and found["restarts"] == 2, "all that was seen is in the last one")

# a program that ends while nobody looks
daemon.stop()
app.kill()
app.wait()
daemon.start()
found = one(daemon, app.pid, state="finished")
check(found is not None and found["total_ns"] == before_ns, "a program that ended meanwhile is kept")
check("more than" in text(daemon, app.pid), "and it is said that its end was not seen")

# two at once would destroy each other's
result = run([HCCTD, "--socket", scratch("second.sock"), "--state-dir", STATE], timeout=20)
check(result.status == 1 and b"another hcctd" in result.err and result.err.count(b"\n") == 1,
      f"a second hcctd is kept out: {result.err.decode().strip()}")
daemon.stop()

# whatever stands in the file, hcctd starts
path = os.path.join(STATE, "hcctd.state")
good = open(path, "rb").read()
for name, content in [("empty", b""), ("cut", good[:len(good) // 2]), ("foreign", b"\x7fELF" + good),
                      ("changed", good[:-40] + bytes([good[-40] ^ 1]) + good[-39:]),
                      ("of another version", good[:8] + b"\x63" + good[9:]),
                      ("longer", good + b"x")]:
    with open(path, "wb") as file:
        file.write(content)
    open(scratch("hcctd.log"), "w").close()
    with daemon:
        log = open(scratch("hcctd.log")).read()
        check(daemon.processes() == [] and log.count("\n") == 1 and "profiles begin anew" in log,
              f"a file that is {name} costs what was in it: {log.strip()}")
with open(path, "wb") as file:
    file.write(good)
with daemon:
    check(len(daemon.processes()) == 2, "the right one is read")
os.unlink(path)
os.symlink("/etc/passwd", path)
with daemon:
    check(daemon.processes() == [], "a symbolic link is not followed")
result = run([HCCTD, "--socket", scratch("second.sock"), "--state-dir", "/proc/none"], timeout=20)
check(result.status == 1 and b"--state-dir" in result.err, "a directory that can't be is named")
finish()
