# SPDX-License-Identifier: LGPL-3.0-or-later
"""Two users on one hcctd: what one of them makes up changes nothing for the other."""

import http.client
import mmap
import os
import re
import signal
import socket
import subprocess
import threading
import time

from support import Daemon, check, children, finish, scratch, skip, target, wait_for_checkpoints
from users_support import OTHER, Other
from wire_support import Agent

if os.geteuid() != 0:
    skip("other users can be played by root only")

PAIRS = 1_500_000  # of (routine, site), more than one user may have
AT_ONCE = 500
HALVES = 300  # on each of two listeners
ASKERS, STORM_PAIRS = 20, 20_000


def get(path, request):
    """Status and body."""
    client = http.client.HTTPConnection("hcct", timeout=60)
    client.sock = socket.socket(socket.AF_UNIX)
    client.sock.settimeout(60)
    client.sock.connect(path)
    client.request("GET", request)
    answer = client.getresponse()
    status, body = answer.status, answer.read()
    client.close()
    return status, body


def metric(daemon, name, uid=None):
    label = f'{{uid="{uid}"}}' if uid is not None else ""
    text = get(daemon.socket, "/metrics")[1].decode()
    found = re.search(rf"^{name}{re.escape(label)} (\S+)$", text, re.M)
    return float(found.group(1)) if found else None


def folded(daemon, pid):
    return get(daemon.socket, f"/v1/hot?pid={pid}&format=folded")[1].decode()


def flood(say, wait, path):
    """One pair after the other, each a context of its own."""
    agent = Agent(path)
    agent.module(0, 0x10000, 1 << 40, path="/nowhere/code")
    for begin in range(0, PAIRS, AT_ONCE):
        words = []
        for pair in range(begin, begin + AT_ONCE):
            words += [2 << 60 | 0x10000 + pair, 0x20000000 + pair, 3 << 60 | 1, 1 << 60 | 1]
        agent.put(words)
    say("done")
    wait()


def check_frames(daemon, app):
    other = Other(flood, daemon.socket)
    check(other.line() == "done", f"another user's program makes {PAIRS} pairs up")
    listed = daemon.wait_for(lambda p: p["pid"] == other.pid and p["total_ns"] == PAIRS)
    check(listed, "all of them are counted")
    limit, used = metric(daemon, "hcct_frames_limit"), metric(daemon, "hcct_frames", OTHER)
    check(0 < used <= limit < PAIRS and metric(daemon, "hcct_frame_sweeps_total") > 0,
          f"that user has {used:.0f} of {limit:.0f} frames: sweeps give back what is in no tree")
    check(metric(daemon, "hcct_frames_refused_total", 0) == 0, "this user has lacked none")
    late = subprocess.Popen([target("known_shares"), "600"], env=daemon.env(HCCT_RATE="250"),
                            stdout=subprocess.DEVNULL)
    check(daemon.wait_for(lambda p: p["pid"] == late.pid and p["walks"] > 20),
          "a program that comes now is profiled")
    for pid in (app.pid, late.pid):
        text = folded(daemon, pid)
        check("burn" in text and "[too many frames]" not in text, "all of its frames are known")
    late.kill()
    late.wait()
    other.go_on()
    check(other.end() == 0, "the other one ends")


# ---- forged build-ids ----


def build_id_at(content):
    """Where a build-id of 20 bytes begins in a file; -1: there is none."""
    note = content.find(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0")
    return note + 16 if note >= 0 else -1


def libc_path():
    for line in open("/proc/self/maps"):
        if "/libc.so.6" in line or "/libc-2" in line:
            return line.split()[-1]
    return None


def forge(path):
    """A file of the other user's with libc's build-id and other code. That build-id, or None."""
    libc = open(libc_path(), "rb").read()
    content = bytearray(open(target("known_shares"), "rb").read())
    true, own = build_id_at(libc), build_id_at(content)
    if true < 0 or own < 0:
        return None
    content[own:own + 20] = libc[true:true + 20]
    open(path, "wb").write(content)
    os.chown(path, OTHER, OTHER)
    return libc[true:true + 20]


def use(say, wait, path, forged, build_id):
    """As a process that has mapped the forged file and runs in it."""
    with open(forged, "rb") as file:
        memory = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    begin = next(int(line.split("-")[0], 16) for line in open("/proc/self/maps") if forged in line)
    agent = Agent(path)
    agent.module(0, begin, begin + len(memory), begin, forged, build_id)
    agent.put([2 << 60 | begin + 0x1100, 0, 3 << 60 | 1000, 1 << 60 | 1])
    say("done")
    wait()


def profile_of_libc(daemon):
    """Of a program that is in libc most of the time."""
    app = subprocess.Popen(["od", "-v", "/dev/zero"], env=daemon.env(HCCT_RATE="500"),
                           stdout=subprocess.DEVNULL)
    check(daemon.wait_for(lambda p: p["pid"] == app.pid and p["walks"] > 200), "a program that calls libc is profiled")
    text = folded(daemon, app.pid)
    app.kill()
    app.wait()
    return text


def check_forged():
    os.makedirs(scratch("open"), exist_ok=True)
    os.chmod(scratch(""), 0o755)
    forged = scratch("open/libc.so.6")
    build_id = forge(forged)
    if build_id is None:
        print("libc or our program has no build-id: none is forged")
        return
    cache = ["--report-dir", "none", "--state-dir", scratch("state"), "--checkpoint", "1"]
    os.makedirs(scratch("state"), 0o700)
    with Daemon(*cache) as daemon:
        os.chmod(daemon.socket, 0o666)
        other = Other(use, daemon.socket, forged, build_id)
        check(other.line() == "done" and
              daemon.wait_for(lambda p: p["pid"] == other.pid and p["total_ns"] == 1000),
              "another user's program has a library with libc's build-id")
        check(re.search("printf|fwrite|fputs", profile_of_libc(daemon)),
              "in this user's profile libc has the names that it has")
        check(wait_for_checkpoints(scratch("state")), "a checkpoint is written")
        other.go_on()
        check(other.end() == 0 and daemon.stop() == 0, "all end")
    with Daemon(*cache) as daemon:
        os.chmod(daemon.socket, 0o666)
        check(re.search("printf|fwrite|fputs", profile_of_libc(daemon)), "and so after a restart")


# ---- a file that takes long ----


def map_copy(agent, index, path):
    with open(path, "rb") as file:
        memory = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    begin = next(int(line.split("-")[0], 16) for line in open("/proc/self/maps") if path in line)
    agent.module(index, begin, begin + len(memory), begin, path)
    agent.put([2 << 60 | begin + 0x1100, 0, 3 << 60 | 1000, 1 << 60 | 1])
    return memory


def ask_for_tables(say, wait, socket_path, first, second):
    agent = Agent(socket_path)
    kept = [map_copy(agent, 0, first)]
    say("first")
    wait()
    kept.append(map_copy(agent, 1, second))
    say("second")
    wait()


def workers(daemon):
    """Children that parse files."""
    return [pid for pid in children(daemon.process.pid)
            if b"--elf-worker" in open(f"/proc/{pid}/cmdline", "rb").read()]


def wait_until(holds, seconds=20):
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)
    return holds()


def needs_no_copies(daemon, app):
    """A program's stacks are walked by tables: of some ten, none comes as a copy any more. On a busy
    machine a second goes by for that, and there are 30."""
    before = daemon.wait_for(lambda p: p["pid"] == app.pid and p["walks"] > 20)
    after = daemon.wait_for(lambda p: p["pid"] == app.pid and p["walks"] > before["walks"] + 40)
    return before["shipped"] == after["shipped"]


def check_tables():
    """The file of another user keeps its worker for as long as that may take: 30 s."""
    files = [scratch("open/first"), scratch("open/second")]
    for path in files:
        content = bytearray(open(target("known_shares"), "rb").read())
        at = build_id_at(content)
        if at >= 0:
            content[at:at + 20] = os.urandom(20)
        open(path, "wb").write(content)
        os.chown(path, OTHER, OTHER)
    with Daemon("--report-dir", "none") as daemon:
        os.chmod(daemon.socket, 0o666)
        other = Other(ask_for_tables, daemon.socket, *files)
        check(other.line() == "first" and wait_until(lambda: workers(daemon)), "another user's tables are made")
        stopped = workers(daemon)
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        other.go_on()
        # read by hcctd, and so before anything that this user's program asks for
        check(other.line() == "second" and
              daemon.wait_for(lambda p: p["pid"] == other.pid and p["total_ns"] == 2000),
              "then comes a file that takes long")
        app = subprocess.Popen([target("known_shares"), "600"], env=daemon.env(HCCT_RATE="250"),
                               stdout=subprocess.DEVNULL)
        check(wait_until(lambda: needs_no_copies(daemon, app)), "this user's program has its tables meanwhile")
        app.kill()
        app.wait()
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
        other.end(kill=True)


# ---- half requests and storms of questions ----


def hold_on(say, wait, path, port):
    """All the connections that this user can get, and halves of requests on them."""
    held = []
    for kind in (socket.AF_UNIX, socket.AF_INET):
        for _ in range(HALVES):
            half = socket.socket(kind)
            half.settimeout(30)
            try:
                half.connect(path if kind == socket.AF_UNIX else ("127.0.0.1", port))
                half.sendall(b"GET /v1/hot?format=js")
                held.append(half)
            except OSError:  # one too many
                half.close()
    say("done")
    wait()


def ask_for_ever(say, wait, path):
    """Many questions at once, over and over, of a process with many contexts."""
    def ask():
        while not enough.is_set():
            try:
                get(path, "/v1/hot?format=json&phi=1e-9")
            except (OSError, http.client.HTTPException):
                pass
            asked.release()
    agent = Agent(path)
    for begin in range(0, STORM_PAIRS, AT_ONCE):
        agent.put([word for pair in range(begin, begin + AT_ONCE)
                   for word in (2 << 60 | 1 + pair % 5, pair, 3 << 60 | 1)])
        agent.put([1 << 60 | AT_ONCE])
    enough, asked = threading.Event(), threading.Semaphore(0)
    askers = [threading.Thread(target=ask) for _ in range(ASKERS)]
    for asker in askers:
        asker.start()
    for _ in range(ASKERS):
        asked.acquire()
    say("done")
    wait()
    enough.set()
    for asker in askers:
        asker.join()


def timed(what):
    begun = time.monotonic()
    result = what()
    return result, (time.monotonic() - begun) * 1000


def check_answers(daemon, app, port, what):
    """Answered at all: how soon is for people to judge, as it is the machine's as well."""
    times = []
    for _ in range(10):
        (status, body), ms = timed(lambda: get(daemon.socket, f"/v1/hot?pid={app.pid}&format=folded"))
        times.append(ms)
        if status != 200 or b"burn" not in body:
            check(False, f"{what}: {status}")
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(b"GET /v1/processes HTTP/1.1\r\nHost: localhost\r\n\r\n")
        check(b" 200 " in connection.recv(100), f"{what}, the loopback listener answers")
    check(len(times) == 10, f"{what}, this user's questions are answered, after {sorted(times)[5]:.0f} ms, "
                            f"{max(times):.0f} at most")


def check_clients(daemon, app):
    port = int(re.search(r"127\.0\.0\.1:(\d+)", open(scratch("hcctd.log")).read()).group(1))
    check_answers(daemon, app, port, "when nobody else asks")
    for work, what in ((hold_on, f"beside {HALVES} half requests of another user"),
                       (ask_for_ever, f"beside {ASKERS} of another user who ask without end")):
        other = Other(work, daemon.socket, *([port] if work is hold_on else []))
        check(other.line() == "done", f"another user's client: {work.__name__}")
        check_answers(daemon, app, port, what)
        other.end(kill=True)


check_forged()
check_tables()
with Daemon("--report-dir", "none", "--listen", "127.0.0.1:0") as daemon:
    os.chmod(scratch(""), 0o755)
    os.chmod(daemon.socket, 0o666)
    app = subprocess.Popen([target("known_shares"), "600"], env=daemon.env(HCCT_RATE="250"),
                           stdout=subprocess.DEVNULL)
    check(daemon.wait_for(lambda p: p["pid"] == app.pid and p["walks"] > 20), "a program is profiled")
    check_clients(daemon, app)
    check_frames(daemon, app)
    app.kill()
    app.wait()
finish()
