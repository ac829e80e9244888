# SPDX-License-Identifier: LGPL-3.0-or-later
"""hcctd as its users meet it: queries, snapshots, and clear words for what can't be."""

import json
import os
import signal
import socket
import stat
import subprocess
import threading
import time

from support import AGENT, HCCTD, Daemon, check, finish, run, scratch, target


def http(path, request):
    """One request over the socket; (status, body)."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(60)
        connection.connect(path)
        connection.sendall((request + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").encode())
        answer = b""
        while block := connection.recv(65536):
            answer += block
    head, body = answer.split(b"\r\n\r\n", 1)
    return int(head.split()[1]), body.decode()


def fails(arguments, status, words, env=None):
    result = run([HCCTD, *arguments], env=env, timeout=20)
    text = result.err.decode()
    check(result.status == status and words in text and text.count("\n") == 1,
          f"hcctd {' '.join(arguments)[:60]}: {text.strip()}")


with Daemon() as daemon:
    apps = [subprocess.Popen([target("known_shares"), "6"], env=daemon.env(HCCT_RATE="250"),
                             stdout=subprocess.DEVNULL) for _ in range(2)]
    for app in apps:
        check(daemon.wait_for(lambda p: p["pid"] == app.pid and p["walks"] > 20), "it is profiled")

    status, body = http(daemon.socket, f"GET /v1/hot?pid={apps[0].pid}&format=text")
    check(status == 200 and "burn" in body and "samples" in body, "GET /v1/hot answers with a tree")
    status, body = http(daemon.socket, f"GET /v1/hot?pid={apps[0].pid}&format=json&by=line&n=3")
    check(status == 200 and json.loads(body)["format"] == "hcct-profile", "in JSON, too")
    status, body = http(daemon.socket, "GET /v1/hot?exe=known_shares&format=folded")
    check(status == 200 and "burn" in body, "and by executable")
    for request, want in [("GET /v1/hot?pid=1", 404), ("GET /v1/hot?pid=x", 400),
                          ("GET /v1/hot?format=tabular", 400), ("GET /v1/hot?phi=2", 400),
                          ("GET /v1/hot?wibble=1", 400), ("GET /v1/nothing", 404),
                          ("GET /v1/snapshot", 405), ("POST /v1/snapshot?pid=1", 404)]:
        status, body = http(daemon.socket, request)
        check(status == want and body.count("\n") == 1, f"{request}: {status} {body.strip()}")

    # a reader that looks all the time never sees half a report
    seen, halves, stop = set(), [], threading.Event()

    def watch():
        while not stop.is_set():
            for name in os.listdir(daemon.reports) if os.path.isdir(daemon.reports) else []:
                if name.endswith(".txt"):
                    seen.add(name)
                    text = open(os.path.join(daemon.reports, name)).read()
                    if not text.rstrip().split("\n")[-1].startswith("cost"):
                        halves.append(name)

    watcher = threading.Thread(target=watch)
    watcher.start()
    for expected in (2, 4, 6):
        daemon.process.send_signal(signal.SIGUSR1)
        deadline = time.monotonic() + 30
        while len(seen) < expected and time.monotonic() < deadline:
            time.sleep(0.05)
        check(len(seen) == expected, f"SIGUSR1 leaves one report for each live process: {len(seen)}")
    status, body = http(daemon.socket, f"POST /v1/snapshot?pid={apps[0].pid}&format=pprof")
    paths = json.loads(body)["paths"]
    check(status == 200 and len(paths) == 1 and paths[0].endswith(".pb.gz"), "POST /v1/snapshot of one")
    os.unlink(paths[0])
    stop.set()
    watcher.join()
    check(not halves, "never a half-written report")

    fails(["--socket", daemon.socket], 1, "another hcctd")
    mode = stat.S_IMODE(os.stat(daemon.socket).st_mode)
    check(mode == 0o600, "the socket is its owner's alone")
    # neither garbage nor a foreign version brings it down
    for junk in (b"\0" * 64, b"HCCTAGNT" + b"\xff" * 56, b"HCCTAGNT", b"GET /" + b"a" * 100000):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(daemon.socket)
            try:
                connection.sendall(junk)
            except BrokenPipeError:
                pass
    check(http(daemon.socket, "GET /v1/processes")[0] == 200, "garbage on the socket does no harm")
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(daemon.socket)
        connection.sendall(b"HCCTAGNT" + (99).to_bytes(4, "little") + bytes(52))
        answer = connection.recv(64)
    check(int.from_bytes(answer[12:16], "little") == 1, "an agent of another version is refused")
    check("another version" in open(scratch("hcctd.log")).read(), "and the log says so")
    for app in apps:
        app.kill()
        app.wait()

fails(["--socket", "/tmp/" + "x" * 120], 1, "at most 107")
fails(["--socket", "/nonexistent/dir/sock"], 1, "--socket")
fails(["--phi", "0"], 2, "--phi")
fails(["--phi", "1.5"], 2, "--phi")
fails(["--phi", "0.01", "--epsilon", "0.02"], 2, "epsilon must be below phi")
fails(["--summary", "none"], 2, "--summary")
fails(["--wibble"], 2, "wibble")
open(scratch("file"), "w").write("not a socket")
fails(["--socket", scratch("file")], 1, "is no socket")
result = run(["true"], env={"LD_PRELOAD": AGENT, "HCCT_RATE": "fast", "HCCT_SOCKET": scratch("none")})
check(result.status == 0 and b"HCCT_RATE" in result.err, "a bad agent setting is named, the program runs")
finish()
