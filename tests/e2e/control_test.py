# SPDX-License-Identifier: LGPL-3.0-or-later
"""A running program is stopped, started and set otherwise: each takes effect on its threads, none is
noticed by the program, and what can't be is refused with a sentence."""

import json
import os
import subprocess
import threading
import time

from support import HCCT, Daemon, check, finish, run, scratch, target


def hcct(daemon, *words):
    return run([HCCT, *words, "--socket", daemon.socket])


def listed(daemon, pid):
    return next(p for p in daemon.processes() if p["pid"] == pid)


def cpu_s(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def burn(pid, seconds):
    """Waits until the process has used so much CPU time, however busy the machine is."""
    end, deadline = cpu_s(pid) + seconds, time.monotonic() + 120
    while cpu_s(pid) < end and time.monotonic() < deadline:
        time.sleep(0.02)


def walks_in(daemon, pid, seconds):
    """Walks per second of the CPU time that the next `seconds` of it bring."""
    burn(pid, 0.5)  # the change reaches each thread at its next tick
    before, cpu = listed(daemon, pid)["walks"], cpu_s(pid)
    burn(pid, seconds)
    after, used = listed(daemon, pid)["walks"], cpu_s(pid) - cpu
    return (after - before) / used


def follows(rate, seen):
    """On a busy machine the kernel lets expiries of a coarse timer coincide: fewer walks, of more
    weight each. Never more."""
    return 0.45 * rate - 5 < seen < 1.15 * rate + 10


def start(daemon, **settings):
    app = subprocess.Popen([target("known_shares"), "300"], env=daemon.env(**settings),
                           stdout=subprocess.DEVNULL)
    check(daemon.wait_for(lambda p: p["pid"] == app.pid and p["walks"] > 20), "it is profiled")
    return app


def end(app):
    app.kill()
    app.wait()


def check_effects(daemon):
    app = start(daemon, HCCT_RATE="100")
    pid = str(app.pid)
    check(listed(daemon, app.pid)["sampling"] == "on", "and listed as being sampled")
    for rate in (1000, 250, 50, 2000, 500, 100):  # with and without a second timer, both ways
        result = hcct(daemon, "set", "-p", pid, "--rate", str(rate))
        seen = walks_in(daemon, app.pid, 1.5)
        check(result.status == 0 and f"{rate} samples" in result.out.decode() and follows(rate, seen),
              f"--rate {rate}: {seen:.0f} walks per CPU second")
    result = hcct(daemon, "set", "-p", "known_shares", "--rate", "5000", "--burst", "2ms/20ms")
    seen = walks_in(daemon, app.pid, 1.5)
    check(result.status == 0 and b"within bursts of 2000us in 20000us" in result.out and 150 < seen < 900,
          f"--burst: {seen:.0f} walks per CPU second, of 5000 in the tenth part of the time")
    hcct(daemon, "set", "-p", pid, "--burst", "none", "--rate", "250")
    text = hcct(daemon, "hot", "-p", pid, "--format", "text").out.decode()
    check("on the whole: it was changed while this ran" in text and "were asked for" not in text,
          "a report of all this tells no rate that was asked for")
    seen = walks_in(daemon, app.pid, 1)
    check(follows(250, seen), f"--burst none: {seen:.0f}")

    for rate in ("250", "2000"):
        hcct(daemon, "start", "-p", pid, "--rate", rate)
        burn(app.pid, 0.5)
        result = hcct(daemon, "stop", "-p", pid)
        check(result.status == 0 and b"off" in result.out, f"stop at {rate} walks: {result.out.decode().strip()}")
        burn(app.pid, 0.5)
        before = listed(daemon, app.pid)
        burn(app.pid, 2)
        after = listed(daemon, app.pid)
        check(after["walks"] == before["walks"] and after["total_ns"] == before["total_ns"] and
              after["lost"] == before["lost"] and after["sampling"] == "off", "and nothing is counted")
        check(b"stopped" in hcct(daemon, "list").out, "the list says so")
        result = hcct(daemon, "start", "-p", pid)
        seen = walks_in(daemon, app.pid, 1.5)
        check(result.status == 0 and follows(int(rate), seen),
              f"started again, at the same rate: {seen:.0f}")
    # time that was off belongs to nobody
    process = listed(daemon, app.pid)
    check(process["total_ns"] < process["cpu_ns"], "what was not sampled is not credited")
    end(app)


def check_wall(daemon):
    app = subprocess.Popen([target("known_shares"), "300"],
                           env=daemon.env(HCCT_CLOCK="wall", HCCT_RATE="100"), stdout=subprocess.DEVNULL)
    daemon.wait_for(lambda p: p["pid"] == app.pid and p["walks"] > 20)
    pid = str(app.pid)
    hcct(daemon, "set", "-p", pid, "--rate", "1000")
    seen = walks_in(daemon, app.pid, 1)
    # CPU time is sampled by the kernel's tick there, and there may be no other
    check(seen > 140, f"wall clock: --rate 1000: {seen:.0f} walks per CPU second")
    hcct(daemon, "stop", "-p", pid)
    burn(app.pid, 0.5)
    before = listed(daemon, app.pid)
    time.sleep(3)
    after = listed(daemon, app.pid)
    check(after["total_ns"] == before["total_ns"], "wall clock: stopped")
    hcct(daemon, "start", "-p", pid)
    began = time.monotonic()
    burn(app.pid, 1)
    passed = (time.monotonic() - began + 0.5) * 1e9
    again = listed(daemon, app.pid)
    threads = again["threads"]
    check(0 < again["total_ns"] - after["total_ns"] < threads * passed,
          "wall clock: on again, and the time between is nobody's")
    result = hcct(daemon, "set", "-p", pid, "--burst", "2ms/20ms")
    check(result.status == 2 and b"wall clock" in result.err, result.err.decode().strip())
    end(app)


def check_refusals(daemon):
    app = start(daemon, HCCT_RATE="250")
    pid = str(app.pid)
    for words, status in ((["set", "-p", pid], 2), (["set", "-p", pid, "--rate", "0"], 2),
                          (["set", "-p", pid, "--rate", "10001"], 2), (["set", "-p", pid, "--rate", "x"], 2),
                          (["set", "-p", pid, "--burst", "20ms/2ms"], 2), (["set", "-p", pid, "--burst", "1"], 2),
                          (["stop"], 2), (["stop", "-p", "1"], 4), (["start", "-p", "nobody"], 4),
                          (["stop", "-p", pid, "--rate", "1"], 2), (["stop", "-p", pid, "more"], 2)):
        result = hcct(daemon, *words)
        check(result.status == status and result.err.count(b"\n") == 1 and result.out == b"",
              f"hcct {' '.join(words)}: {result.status} {result.err.decode().strip()}")
    check(run([HCCT, "stop", "-p", pid, "--socket", scratch("nowhere")]).status == 3, "no daemon: 3")
    for query, status in (("", 400), (f"pid={pid}", 400), (f"pid={pid}&state=maybe", 400),
                          (f"pid={pid}&rate=-1", 400), (f"pid={pid}&rate=1e3", 400),
                          (f"pid={pid}&burst=", 400), (f"pid={pid}&state", 400), ("pid=1&state=off", 404),
                          (f"pid={pid}&wibble=1", 400), (f"pid={pid}&rate=99999999999999999999", 400)):
        result = run(["curl", "-s", "-w", "%{http_code}", "-X", "POST", "--unix-socket", daemon.socket,
                      f"http://localhost/v1/control?{query}"])
        sentence, code = result.out.decode().rsplit("\n", 1)
        check(int(code) == status and "\n" not in sentence, f"POST ?{query}: {code} {sentence}")
    process = listed(daemon, app.pid)
    check(process["rate"] == 250 and process["sampling"] == "on", "and nothing has changed")
    end(app)
    until = time.monotonic() + 30
    while listed(daemon, app.pid)["state"] == "live" and time.monotonic() < until:
        time.sleep(0.05)  # hcctd may be busy
    check(hcct(daemon, "stop", "-p", pid).status == 4, "a process that has ended can't be stopped")
    check_of_calls(daemon)


def check_of_calls(daemon):
    """Calls are not counted at a rate. The program goes on until it is killed."""
    calls = subprocess.Popen([target("calls_recursive"), "1000000000"],
                             env=daemon.env(HCCT_COLLECTOR="calls"),
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    check(daemon.wait_for(lambda p: p["pid"] == calls.pid and p["state"] == "live", 60), "calls are counted")
    result = hcct(daemon, "set", "-p", str(calls.pid), "--rate", "100")
    check(result.status == 2 and b"calls" in result.err, result.err.decode().strip())
    end(calls)


def check_undisturbed(daemon):
    """The program can't tell that it is stopped, started and set fifty times in a row."""
    application = [target("self_view")]
    plain = run(application)
    ended, changes = threading.Event(), [0]
    words = [["stop"], ["start"], ["set", "--rate", "5000"], ["set", "--rate", "250"],
             ["set", "--burst", "2ms/20ms"], ["stop"], ["set", "--burst", "none"], ["start", "--rate", "1000"]]

    def change():
        while not ended.is_set():
            for process in daemon.processes():
                if process["state"] == "live":
                    word = words[changes[0] % len(words)]
                    changes[0] += hcct(daemon, word[0], "-p", str(process["pid"]), *word[1:]).status == 0

    changer = threading.Thread(target=change)
    changer.start()
    runs = 0
    deadline = time.monotonic() + 120
    while changes[0] < 50 and time.monotonic() < deadline:
        result = run(application, env=daemon.env(HCCT_RATE="1000"))
        runs += 1
        if (result.status, result.out, result.err) != (plain.status, plain.out, plain.err):
            check(False, f"run {runs}: other output: {result.out[-300:]} {result.err[-300:]}")
            break
    ended.set()
    changer.join()
    check(changes[0] >= 50, f"{changes[0]} changes in {runs} runs of a program that looks at itself: same output")
    busy = subprocess.Popen([target("equal_threads"), "8", "1"], env=daemon.env(HCCT_RATE="1000"),
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for i in range(50):
        if busy.poll() is not None:
            break
        word = words[i % len(words)]
        hcct(daemon, word[0], "-p", str(busy.pid), *word[1:])
    out, err = busy.communicate()
    check(busy.returncode == 0 and err == b"" and out.count(b"\n") == 8, f"{i + 1} changes under eight threads")


def check_names(daemon):
    link = scratch("other_name")
    os.symlink(target("known_shares"), link)
    app = subprocess.Popen([link, "100"], env=daemon.env(), stdout=subprocess.DEVNULL)
    daemon.wait_for(lambda p: p["pid"] == app.pid and p["walks"] > 0)
    result = hcct(daemon, "set", "-p", "other_name", "--rate", "200")
    check(result.status == 0, "a program is found by the name that ps has for it")
    end(app)


with Daemon() as daemon:
    check_effects(daemon)
    check_names(daemon)
    check_wall(daemon)
    check_refusals(daemon)
    check_undisturbed(daemon)
finish()
