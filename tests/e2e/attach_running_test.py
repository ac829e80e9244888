# SPDX-License-Identifier: LGPL-3.0-or-later
"""A program that runs already is attached to, sampled in all its threads, and left as it was."""

import ctypes
import os
import re
import shutil
import signal
import subprocess
import time

from support import AGENT, HCCT, Daemon, check, finish, folded, run, scratch, target

LIBRARY = os.path.join(os.path.dirname(target("x")), ".libs", "attach_library.so")
HZ = round(1 / time.clock_getres(6))  # CLOCK_MONOTONIC_COARSE


def start(*command, **kwargs):
    process = subprocess.Popen(command, stdout=subprocess.PIPE, **kwargs)
    time.sleep(0.3)
    return process


def end(process):
    process.send_signal(signal.SIGTERM)
    try:
        out, _ = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        return "hangs", b""
    return process.returncode, out


def attach(daemon, process, *options):
    return run([HCCT, "attach", "--socket", daemon.socket, "--wait", "60", *options,
                str(process.pid)])


def detach(process):
    return run([HCCT, "detach", "--wait", "60", str(process.pid)])


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        words = file.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def wait_cpu(pid, seconds):
    until, deadline = cpu_seconds(pid) + seconds, time.monotonic() + 120
    while cpu_seconds(pid) < until and time.monotonic() < deadline:
        time.sleep(0.05)


def text_of(pid, name):
    with open(f"/proc/{pid}/{name}") as file:
        return file.read()


def shares_of(found):
    total = sum(found.values())
    return {name: 100 * weight / total for name, weight in found.items()}


def known_shares(daemon):
    process = start(target("attach_shares"))
    result = attach(daemon, process)
    check(result.status == 0, "a program is attached to: " + (result.out + result.err).decode().strip())
    check("of 3 threads" in result.out.decode(), "three threads are there")
    process.send_signal(signal.SIGUSR2)
    wait_cpu(process.pid, 0.5)
    process.send_signal(signal.SIGUSR1)
    before = run([HCCT, "hot", "-p", str(process.pid), "--socket", daemon.socket, "--format",
                  "pprof", "-o", scratch("before.pb.gz")])
    wait_cpu(process.pid, 8)
    after = run([HCCT, "hot", "-p", str(process.pid), "--socket", daemon.socket, "--format",
                 "pprof", "-o", scratch("after.pb.gz")])
    check(before.status == 0 and after.status == 0, "its profile can be had, twice")
    result = detach(process)
    check(result.status == 0, "it is detached from: " + (result.out + result.err).decode().strip())
    check(text_of(process.pid, "timers") == "", "it has no timer left")
    check("TracerPid:\t0\n" in text_of(process.pid, "status"), "nobody traces it")
    status, out = end(process)
    check(status == 0, "it ends with status 0")
    truth = {name: int(ns) for name, ns in (line.split() for line in out.decode().splitlines())}
    seen = dict.fromkeys(truth, 0)
    for path, sign in (("before", -1), ("after", 1)):
        for frames, weight in folded(scratch(path + ".pb.gz")):
            for name in truth:
                if name in frames:
                    seen[name] += sign * weight
    true_shares, shares = shares_of(truth), shares_of(seen)
    # some 1,000 samples: a share of a half is good to 4.7 points in 997 of 1,000 cases
    for name in truth:
        check(abs(shares[name] - true_shares[name]) <= 5.5,
              f"{name}: {shares[name]:.2f} % of the time, {true_shares[name]:.2f} % is true")
    check(shares["later"] > 0, "a thread that began later is in it")


def recording():
    process = start(target("attach_shares"))
    descriptors = len(os.listdir(f"/proc/{process.pid}/fd"))
    for time_of in "the first time", "again":
        path = scratch("recorded.pb.gz")
        result = run([HCCT, "record", "-p", str(process.pid), "--duration", "2s", "-o", path])
        check(result.status == 0, f"hcct record -p ends with status 0, {time_of}")
        check(any("often" in frames for frames, _ in folded(path)), "its profile has the function")
        check(text_of(process.pid, "timers") == "", "the program has no timer left")
        os.remove(path)
    check(len(os.listdir(f"/proc/{process.pid}/fd")) == descriptors, "and as many descriptors")
    check(end(process)[0] == 0, "and goes on, to its end")


def storms(daemon, times):
    for kind in ("loader", "threads", "fork"):
        process = start(target("attach_storm"), kind, LIBRARY)
        attached = 0
        for _ in range(times):
            attached += attach(daemon, process, "--wait", "5").status == 0
            detach(process)
        status, out = end(process)
        check(status == 0 and b" rounds" in out,
              f"{kind}: {attached} of {times} times attached, status {status}")


def quiet(daemon):
    for call in ("epoll", "nanosleep", "poll", "sigwait", "read", "futex"):
        process = start(target("attach_quiet"), call)
        attached = 0
        for _ in range(6):
            attached += attach(daemon, process).status == 0
            detach(process)
        status, out = end(process)
        check(status == 0 and attached > 0,
              f"a program in {call} sees nothing of {attached} times: {out.decode().strip()}")


def killed_midway(daemon):
    """Whenever hcct is killed the program goes on."""
    process = start(target("attach_storm"), "alloc", LIBRARY)
    for i in range(20):
        tool = subprocess.Popen([HCCT, "attach", "--socket", daemon.socket, str(process.pid)],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                start_new_session=True)
        time.sleep(0.001 * i)
        os.killpg(tool.pid, signal.SIGKILL)
        tool.wait()
    check(process.poll() is None, "hcct was killed 20 times while it attached, the program runs")
    check("SigBlk:\t0000000000000000\n" in text_of(process.pid, "status"), "and blocks no signal")
    attach(daemon, process)
    status, _ = end(process)
    check(status == 0, f"and ends with status {status}")


def refused(what, expected, *words):
    result = run([HCCT, *words])
    said = result.err.decode().strip()
    check(result.status not in (0, -signal.SIGSEGV) and re.search(expected, said) is not None
          and said.count("\n") == 0, f"{what}: {said}")


def refusals(daemon):
    process = start(target("attach_shares"))
    pid = str(process.pid)
    attached = ["attach", "--socket", daemon.socket]
    refused("no such process", "there is no process", *attached, "4194303")
    refused("no number", "is no PID", *attached, "myserver")
    refused("too often", "more than an attached agent can", *attached, "--rate", str(HZ + 1), pid)
    refused("wall clock", "hcct record --", "record", "-p", pid, "--clock", "wall")
    refused("allocations", "hcct record --", "record", "-p", pid, "--metric", "heap")
    refused("calls", "hcct record --", "record", "-p", pid, "--collector", "calls")
    refused("both", "not both", "record", "-p", pid, "--", "true")
    refused("no duration", "is no time", "record", "-p", pid, "--duration", "soon")
    refused("duration of a command", "--duration is for -p", "record", "--duration", "1s", "true")
    refused("not attached to", "is not attached to", "detach", pid)
    process.send_signal(signal.SIGSTOP)
    time.sleep(0.1)
    refused("stopped", "kill -CONT", *attached, pid)
    process.send_signal(signal.SIGCONT)
    check(attach(daemon, process).status == 0, "it is attached to")
    refused("twice", "attached to already", *attached, pid)
    check(end(process)[0] == 0, "the program ends with status 0")
    preloaded = start(target("attach_shares"), env={**os.environ, **daemon.env()})
    refused("preloaded", "was preloaded", *attached, str(preloaded.pid))
    check(end(preloaded)[0] == 0, "and so does a preloaded one")
    traced(attached)
    static(attached)


def traced(attached):
    process = start(target("attach_shares"))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long] * 4
    if libc.ptrace(0x4206, process.pid, 0, 0) == 0:  # PTRACE_SEIZE
        refused("traced", "traces it", *attached, str(process.pid))
    process.kill()
    process.wait()


def static(attached):
    source, path = scratch("static.c"), scratch("static")
    with open(source, "w") as file:
        file.write("#include <unistd.h>\nint main(void) { for (;;) pause(); }\n")
    if shutil.which("cc") is None or run(["cc", "-static", source, "-o", path]).status != 0:
        return
    process = start(path)
    refused("static", "statically linked", *attached, str(process.pid))
    doctor = run([HCCT, "doctor", "-p", str(process.pid)])
    check(doctor.status == 1 and b"statically linked" in doctor.out, "hcct doctor -p says so, too")
    process.kill()
    process.wait()


assert AGENT
with Daemon() as shared:
    known_shares(shared)
    recording()
    quiet(shared)
    storms(shared, 15)
    killed_midway(shared)
    refusals(shared)
finish()
