# SPDX-License-Identifier: LGPL-3.0-or-later
"""A program that runs already is attached to, sampled in all its threads, and left as it was."""

import ctypes
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

from support import AGENT, HCCT, Daemon, check, finish, folded, report, run, scratch, target

LIBRARY = target("attach_library.so")


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
    for call in ("epoll", "nanosleep", "poll", "sigwait", "read", "recv", "futex"):
        process = start(target("attach_quiet"), call)
        attached = 0
        for _ in range(6):
            attached += attach(daemon, process).status == 0
            detach(process)
        status, out = end(process)
        check(status == 0 and attached > 0,
              f"a program in {call} sees nothing of {attached} times: {out.decode().strip()}")


def signals(daemon):
    """The signal by which the agent says that it is done is none that the program has a handler for; those
    that nobody has are not seen when they come meanwhile."""
    every = [signal.SIGURG, signal.SIGWINCH, signal.SIGCHLD]
    for handled in [signal.SIGURG], every:
        process = start(target("attach_quiet"), "nanosleep", *(str(int(one)) for one in handled))
        attached = 0
        for _ in range(4):
            attached += attach(daemon, process).status == 0
            detach(process)
        status, out = end(process)
        check(status == 0 and attached == 4, f"handlers of {len(handled)} signals see none of {attached} times: "
              f"{out.decode().strip()}")
    for call in "sigwait", "epoll":
        process = start(target("attach_quiet"), call)
        flood = subprocess.Popen([sys.executable, "-c", "import os, sys, time\nwhile True: "
                                  "os.kill(int(sys.argv[1]), 28); time.sleep(0.0002)", str(process.pid)],
                                 stderr=subprocess.DEVNULL)
        attached = 0
        for _ in range(8):
            attached += attach(daemon, process).status == 0
            detach(process)
        flood.kill()
        flood.wait()
        status, out = end(process)
        check(status == 0 and attached > 0, f"{call}: nor does one see {attached} times where signals come that "
              f"nobody has: {out.decode().strip()}")


def named(daemon):
    """By the name of its command, where there is one."""
    path = scratch("uncommonly_named_program")
    shutil.copy(target("attach_shares"), path)
    one = start(path)
    name = os.path.basename(path)
    result = run([HCCT, "attach", "--socket", daemon.socket, "--wait", "60", name])
    check(result.status == 0 and f"process {one.pid}:".encode() in result.out, "a process is attached to by its name")
    result = run([HCCT, "detach", "--wait", "60", name])
    check(result.status == 0, "and left")
    result = run([HCCT, "record", "-p", name, "--duration", "1s", "-o", scratch("named.pb.gz")])
    check(result.status == 0, "and recorded")
    other = start(path)
    refused("two of that name", f"2 processes named '{name}': ({one.pid}, {other.pid}|{other.pid}, {one.pid});",
            "attach", "--socket", daemon.socket, name)
    refused("none of that name", "no process named 'nobody_has_this_name'", "record", "-p", "nobody_has_this_name")
    for process in one, other:
        check(end(process)[0] == 0, "it ends as it should")


def limits(daemon):
    """What is missing is said."""
    for what, limit, room, expected in (("timers", resource.RLIMIT_SIGPENDING, None, "RLIMIT_SIGPENDING"),
                                        ("room for the agent's library", resource.RLIMIT_AS, 400, "RLIMIT_AS"),
                                        ("room for its threads", resource.RLIMIT_AS, 1500, "RLIMIT_AS")):
        process = start(target("attach_quiet"), "epoll")
        used = int(re.search(r"VmSize:\s+(\d+)", text_of(process.pid, "status"))[1])
        most = (used + room) << 10 if room else 0
        resource.prlimit(process.pid, limit, (most, most))
        refused(f"no {what}", expected, "attach", "--socket", daemon.socket, str(process.pid))
        status, out = end(process)
        check(status == 0, f"and it goes on: {out.decode().strip()}")
    process = start(target("attach_quiet"), "spin")  # it looks for its session where it uses CPU time
    used = int(re.search(r"VmSize:\s+(\d+)", text_of(process.pid, "status"))[1])
    resource.prlimit(process.pid, resource.RLIMIT_AS, ((used + 4500) << 10,) * 2)
    refused("no room for the session", "RLIMIT_AS", "record", "-p", str(process.pid), "--duration", "300ms",
            "-o", scratch("limited.pb.gz"))
    status, out = end(process)
    check(status == 0, f"and it goes on: {out.decode().strip()}")


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


TOUCHES = """
import mmap
first = bytearray(64 << 20)  # before anybody is there
print(flush=True)
while True:
    pages = mmap.mmap(-1, 16 << 20)
    for i in range(0, len(pages), 4096):
        pages[i] = 1
    pages.close()
"""


def faults_of(pid):
    return int(text_of(pid, "stat").rsplit(")", 1)[1].split()[7])


def several_metrics(daemon):
    process = start(sys.executable, "-c", TOUCHES)
    process.stdout.readline()
    before, used, path = faults_of(process.pid), cpu_seconds(process.pid), scratch("faults.pb.gz")
    result = run([HCCT, "record", "-p", str(process.pid), "--metric", "cpu,faults", "--duration", "2s", "-o", path])
    there, used = faults_of(process.pid) - before, cpu_seconds(process.pid) - used
    check(result.status == 0, f"cpu and faults of a process that runs: {result.err.decode()}")
    seen = {}
    for metric, kind in (("cpu", "nanoseconds"), ("faults", "count")):
        shown = report(path, "--metric", metric)
        seen[metric] = shown["total"]
        check(shown["unit"] == kind and shown["total"] > 0, f"{metric} is in the profile")
    # on a busy machine hcct itself takes long, before it attaches and when it has left: that part has no CPU time either
    part = seen["cpu"] / 1e9 / used
    check(0.7 * part * there <= seen["faults"] <= 1.05 * there + 1000,
          f"{seen['faults']} faults seen, of {there} in a time of which {100 * part:.0f} % was sampled")
    result = attach(daemon, process, "--metric", "faults")
    check(result.status == 0, f"faults alone: {result.err.decode()}")
    wait_cpu(process.pid, 0.5)
    kinds = [p["kind"] for p in daemon.processes() if p["pid"] == process.pid]
    check(kinds == ["faults"], f"it counts {kinds}")
    check(detach(process).status == 0 and process.poll() is None, "it is detached from, and runs")
    process.kill()
    process.communicate()


def refused(what, expected, *words):
    result = run([HCCT, *words])
    said = result.err.decode().strip()
    check(result.status not in (0, -signal.SIGSEGV) and re.search(expected, said) is not None
          and said.count("\n") == 0, f"{what}: {said}")


FAMILY = """
import os, time
child = os.fork()
if child:
    print(child, flush=True)
until = time.monotonic() + 60
while time.monotonic() < until:
    pass
"""


def families(daemon):
    """A child of a process that is attached to can be attached to as well, and is not before."""
    parent = subprocess.Popen([sys.executable, "-c", FAMILY], stdout=subprocess.PIPE)
    child = int(parent.stdout.readline())
    check(attach(daemon, parent).status == 0 and daemon.wait_for(lambda p: p["pid"] == parent.pid) is not None,
          "a parent is attached to")
    check(all(p["pid"] != child for p in daemon.processes()), "its child is not")
    result = run([HCCT, "attach", "--socket", daemon.socket, "--wait", "60", str(child)])
    check(result.status == 0 and daemon.wait_for(lambda p: p["pid"] == child and p["walks"] > 0) is not None,
          "and its child is, when it is asked for")
    os.kill(child, signal.SIGKILL)
    parent.kill()
    parent.communicate()


def refusals(daemon):
    process = start(target("attach_shares"))
    pid = str(process.pid)
    attached = ["attach", "--socket", daemon.socket]
    refused("no such process", "there is no process", *attached, "4194303")
    refused("too often", "10000", *attached, "--rate", "10001", pid)
    refused("no such clock", "give cpu or wall", *attached, "--clock", "tea", pid)
    refused("a clock beside wait", "leave out --clock", *attached, "--clock", "wall", "--metric", "wait", pid)
    refused("lines of a heap", "name cpu beside", *attached, "--metric", "heap", "--lines", pid)
    refused("lines of faults", "name cpu beside", *attached, "--metric", "faults", "--lines", pid)
    refused("no metric", "give one or more of cpu", *attached, "--metric", "tea", pid)
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
    check(detach(process).status == 0, "it is detached from")
    check(detach(process).status == 4, "what has been detached from is not attached to: status 4")
    check(end(process)[0] == 0, "the program ends with status 0")
    preloaded = start(target("attach_shares"), env={**os.environ, **daemon.env()})
    refused("preloaded", "was preloaded", *attached, str(preloaded.pid))
    check(end(preloaded)[0] == 0, "and so does a preloaded one")
    traced(attached)
    static(attached)
    ended(attached)
    without_sockets()


def ended(attached):
    child = os.posix_spawn("/bin/true", ["true"], {})
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    refused("not waited for", "its parent has yet to wait", *attached, str(child))
    os.waitpid(child, 0)


# Its filter refuses socket() with EPERM, and lets all else pass.
NO_SOCKETS = """
import ctypes, platform, struct, time
number = 41 if platform.machine() == "x86_64" else 198
code = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7fff0000)]
text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code), ctypes.addressof(text)))
libc = ctypes.CDLL(None)
libc.prctl.argtypes = [ctypes.c_long] * 5
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, ctypes.addressof(program), 0, 0) == 0
print("ready", flush=True)
while True:
    time.process_time()
"""


# The main thread wants all of a message, of which it has nearly all; it gets the rest, and how long it was is
# printed, when a line is read.
ALL_OF_IT = """
import socket, sys, threading
one, other = socket.socketpair()
def send():
    for line in sys.stdin:
        other.sendall(b"x" * 1000)
threading.Thread(target=send, daemon=True).start()
other.sendall(b"x" * 990)
print("ready", flush=True)
while True:
    length = len(one.recv(1000, socket.MSG_WAITALL))
    print(length, flush=True)
"""


def waits_for_all(daemon):
    """The thread that waits for all bytes is not the one that is stopped."""
    process = subprocess.Popen([sys.executable, "-c", ALL_OF_IT], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    check(process.stdout.readline() == b"ready\n", "a thread receives whole messages")
    lengths = []
    for _ in range(8):
        time.sleep(0.2)  # it sleeps again
        attached = attach(daemon, process).status
        check(attached == 0 and detach(process).status == 0, "it is attached to, and detached from")
        process.stdin.write(b"\n")
        process.stdin.flush()
        lengths.append(int(process.stdout.readline()))
    check(lengths == [1000] * len(lengths), f"all messages are whole: {lengths}")
    process.kill()
    process.communicate()


def without_sockets():
    process = subprocess.Popen([sys.executable, "-c", NO_SOCKETS], stdout=subprocess.PIPE)
    check(process.stdout.readline() == b"ready\n", "a program has a filter of its own")
    result = run([HCCT, "record", "-p", str(process.pid), "--duration", "300ms", "-o", scratch("none.pb.gz")])
    check(b"seccomp" in result.err and b"clock tick" not in result.err,
          f"no sockets: {result.err.decode().strip()}")
    check(process.poll() is None, "and it runs on")
    process.kill()
    process.communicate()


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
    several_metrics(shared)
    quiet(shared)
    signals(shared)
    named(shared)
    families(shared)
    limits(shared)
    storms(shared, 15)
    killed_midway(shared)
    waits_for_all(shared)
    refusals(shared)
finish()
