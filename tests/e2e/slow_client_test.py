# SPDX-License-Identifier: LGPL-3.0-or-later
"""Clients that hold on, and two users on one hcctd: others are served, and see their own."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time

from support import AGENT, Daemon, check, finish, scratch, target

OTHER = 65534


def connect(path):
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(60)
    connection.connect(path)
    return connection


def get(path, request):
    with connect(path) as connection:
        connection.sendall(f"GET {request} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while block := connection.recv(65536):
            answer += block
    return answer.split(b"\r\n\r\n", 1)[1]


def as_other(*command, **more):
    """A command with the rights of another user."""
    script = (f"import os, sys\nos.setgroups([])\nos.setgid({OTHER})\nos.setuid({OTHER})\n"
              "os.execvp(sys.argv[1], sys.argv[1:])\n")
    return subprocess.Popen([sys.executable, "-c", script, *command], stdout=subprocess.PIPE, **more)


ASK = """
import socket, sys
kind, address, request = sys.argv[1:]
if kind == "unix":
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(address)
else:
    connection = socket.create_connection(("127.0.0.1", int(address)))
connection.sendall(f"GET {request} HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n".encode())
while block := connection.recv(65536):
    sys.stdout.buffer.write(block)
"""


def for_everybody(path):
    """A copy that another user can read, wherever this was built."""
    copy = shutil.copy(path, scratch(""))
    os.chmod(copy, 0o755)
    return copy


def ask_as_other(kind, address, request):
    out = as_other(sys.executable, "-c", ASK, kind, str(address), request,
                   cwd="/").communicate(timeout=60)[0]
    head, _, body = out.partition(b"\r\n\r\n")
    return int(head.split()[1]), body


with Daemon("--listen", "127.0.0.1:0") as daemon:
    app = subprocess.Popen([target("known_shares"), "600"], env=daemon.env(HCCT_RATE="250"),
                           stdout=subprocess.DEVNULL)
    check(daemon.wait_for(lambda p: p["pid"] == app.pid and p["walks"] > 20), "a program runs")
    before = daemon.wait_for(lambda p: p["pid"] == app.pid)

    held = []
    for n in range(20):
        half, idle, deaf = connect(daemon.socket), connect(daemon.socket), connect(daemon.socket)
        half.sendall(b"GET /v1/hot?format=js")
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.sendall(b"GET /v1/hot?format=html HTTP/1.1\r\nHost: x\r\n\r\n" * 3)
        held += [half, idle, deaf]
    began = time.monotonic()
    check(b"burn" in get(daemon.socket, f"/v1/hot?pid={app.pid}&format=folded"),
          f"{len(held)} clients that do not go on: another is answered, "
          f"in {time.monotonic() - began:.2f} s")
    time.sleep(2)
    after = daemon.wait_for(lambda p: p["pid"] == app.pid)
    check(after["walks"] > before["walks"] and after["lost"] == before["lost"],
          "and no walk is lost meanwhile")
    late = subprocess.Popen([target("known_shares"), "60"], env=daemon.env(HCCT_RATE="250"),
                            stdout=subprocess.DEVNULL)
    check(daemon.wait_for(lambda p: p["pid"] == late.pid and p["walks"] > 0, 30),
          "a program that comes now is profiled")
    late.kill()
    late.wait()
    # and so many that there is no room for others
    for n in range(200):
        held.append(connect(daemon.socket))
        try:
            held[-1].sendall(b"GET /v1/hot?format=js")
        except BrokenPipeError:
            pass
    port = int(re.search(r"127\.0\.0\.1:(\d+)", open(scratch("hcctd.log")).read()).group(1))
    for n in range(100):
        held.append(socket.create_connection(("127.0.0.1", port), timeout=30))
        held[-1].sendall(b"GET /v1/hot?format=js")
    for connection in held:
        connection.close()
    deadline = time.monotonic() + 60
    while not daemon.processes() and time.monotonic() < deadline:
        time.sleep(0.2)
    check(daemon.processes() != [], "when they are gone, clients are answered")
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(b"GET /v1/processes HTTP/1.1\r\nHost: localhost\r\n\r\n")
        check(b" 200 " in connection.recv(100), "on the loopback listener, too")

    if os.geteuid() == 0:
        os.chmod(scratch(""), 0o755)
        os.chmod(daemon.socket, 0o666)
        other = as_other(for_everybody(target("known_shares")), "600", cwd="/",
                         env={**os.environ, **daemon.env(HCCT_RATE="250"),
                              "LD_PRELOAD": for_everybody(AGENT)})
        check(daemon.wait_for(lambda p: p["pid"] == other.pid and p["walks"] > 0, 30),
              "another user's program is profiled by the same hcctd")
        for kind, address in (("unix", daemon.socket), ("tcp", port)):
            status, body = ask_as_other(kind, address, "/v1/processes")
            pids = [p["pid"] for p in json.loads(body)["processes"]] if status == 200 else None
            check(pids == [other.pid], f"over {kind} that user sees their own: {status} {pids}")
            status, body = ask_as_other(kind, address, f"/v1/hot?pid={app.pid}&format=text")
            check(status == 404, f"and nothing of the other's: {status}")
            status, body = ask_as_other(kind, address, f"/v1/hot?pid={other.pid}&format=folded")
            check(status == 200 and b"burn" in body, "but all of their own")
            status, body = ask_as_other(kind, address, "/v1/hot?format=json")
            seen = [p["pid"] for p in json.loads(body)["processes"]] if status == 200 else None
            check(seen == [other.pid], f"also when they ask for everything: {seen}")
        everybody = {p["pid"] for p in json.loads(get(daemon.socket, "/v1/processes"))["processes"]}
        check({app.pid, other.pid} <= everybody, "root sees both")
        other.kill()
        other.wait()
    app.kill()
    app.wait()
    check(daemon.stop() == 0, "hcctd ends with status 0")

def cpu_seconds(path):
    with open(path, encoding="ascii") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def by_thread(pid):
    """CPU seconds of each thread, and how often it has slept: one that spins does not sleep."""
    found = {}
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/status", encoding="ascii") as status:
            slept = re.search(r"^voluntary_ctxt_switches:\s+(\d+)", status.read(), re.M).group(1)
        found[tid] = (cpu_seconds(f"/proc/{pid}/task/{tid}/stat"), int(slept))
    return found


def used_in_two_seconds(pid):
    """CPU seconds, from one reading of its clock to another, and the time between the two. A virtual
    machine that stood still meanwhile may have charged whom it ran: that is no measurement."""
    for _ in range(5):
        before, began = cpu_seconds(f"/proc/{pid}/stat"), time.monotonic()
        time.sleep(2)
        used, elapsed = cpu_seconds(f"/proc/{pid}/stat") - before, time.monotonic() - began
        if elapsed < 4:
            break
    return used, elapsed


with Daemon() as daemon:
    half = connect(daemon.socket)
    half.sendall(b"HCCTAGNT and no more")
    used, elapsed = used_in_two_seconds(daemon.process.pid)
    if not check(used < 0.5, f"half a hello keeps hcctd from nothing: {used:.2f} s of CPU time in "
                 f"{elapsed:.2f} s"):
        print("by thread:", by_thread(daemon.process.pid))
    half.close()
finish()
