# SPDX-License-Identifier: LGPL-3.0-or-later
"""What hcct push sends is what hcctd has: nothing twice and nothing lost, whatever happens between.

Servers are stubs on loopback; each checks what it gets by the definitions of the messages.
"""

import glob
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "e2e"), HERE]
import stub  # noqa: E402
from support import BUILD, HCCT, Daemon, check, finish, need, run, scratch, skip, target  # noqa: E402

if not os.path.exists(os.path.join(BUILD, "client", "remote", "hcct-remote")):
    skip("hcct-remote is not made: libcurl is missing")
need("protoc")


def push(kind, url, *options, spool=None, status=0, env=None):
    result = run([HCCT, "push", "--once", "--socket", daemon.socket, "--host", "h1", "--spool",
                  scratch(spool or kind), *options, kind, url], env=env)
    check(result.status == status, f"{kind}: exit status {result.status} is {status}: "
          f"{result.err.decode().strip()}")
    return result.err.decode()


def total():
    """N of all, from hcctd."""
    result = run([HCCT, "hot", "--socket", daemon.socket, "--format", "json"])
    profile = json.loads(result.out)
    return profile["total"], sum(process["walks"] for process in profile["processes"])


def start(seconds, **env):
    return subprocess.Popen([target("known_shares"), str(seconds)],
                            env=daemon.env(HCCT_RATE="250", **env), stdout=subprocess.DEVNULL)


def run_program(seconds=0.4, **env):
    check(start(seconds, **env).wait() == 0, "a program runs")
    check(daemon.wait_for(lambda p: p["state"] == "live", 0.1) is None or
          daemon.wait_for(lambda p: p["state"] == "finished"), "and has ended")


def waiting(spool):
    return sorted(glob.glob(os.path.join(scratch(spool), "push-*")))


def check_server(server, kind):
    check(not server.wrong, f"{kind}: all that came is as it should be {server.wrong[:3]}")
    check(not server.twice, f"{kind}: nothing came twice")
    check(server.sum("cpu") == total()[0], f"{kind}: {server.sum('cpu')} is N, {total()[0]}")


def test_kinds():
    """Three pushes while a program runs, one after it; the same to each target."""
    servers = {"pyroscope": stub.Pyroscope(), "parca": stub.Parca(), "otlp": stub.Otlp()}
    tags = {"HCCT_TAGS": "env=test,a.b-c=x"}
    app = start(2, **tags)
    pids = {str(app.pid)}
    check(daemon.wait_for(lambda p: p["walks"] > 20) is not None, "a program is seen")
    for _ in range(3):
        if app.poll() is not None:  # what is pushed takes a slow machine longer
            app = start(2, **tags)
            pids.add(str(app.pid))
        time.sleep(0.3)
        for kind, server in servers.items():
            push(kind, server.url)
    app.wait()
    daemon.wait_for(lambda p: p["pid"] == app.pid and p["state"] == "finished")
    for kind, server in servers.items():
        push(kind, server.url)
        requests = server.requests
        check("0 pushes sent" in push(kind, server.url) and server.requests == requests,
              f"{kind}: where nothing is new, nothing is sent")
        check(len(server.kept) >= 3 and not waiting(kind), f"{kind}: {len(server.kept)} came")
        check_server(server, kind)
        name = "service.name" if kind == "otlp" else "service_name"
        labels = list(server.kept.values())[0].labels
        got = {key: value.decode() if isinstance(value, bytes) else value
               for key, value in labels.items()}
        check(got[name] == "known_shares" and got["env"] == "test" and
              got["host.name" if kind == "otlp" else "host"] == "h1", f"{kind}: labels {got}")
        check(str(got["process.pid" if kind == "otlp" else "pid"]) in pids,
              f"{kind}: the process's number")
        server.close()


def test_target_down():
    """What can't be sent waits; a request that was taken without an answer comes again, the same."""
    server = stub.Pyroscope()
    for status in 503, 429, 401, 404:
        server.fail, server.status = 1, status
        run_program()
        said = push("pyroscope", server.url, spool="down", status=1)
        check(f"status {status}" in said and "not now" in said, f"it is said: {said.strip()}")
    check(len(waiting("down")) == 4, "four wait")
    server.fail, server.status, server.type = 1, 200, "text/html; charset=utf-8"
    said = push("pyroscope", server.url, spool="down", status=1)
    check("a page for people" in said and len(waiting("down")) == 4, f"a page is no success: {said.strip()}")
    server.type = "text/plain"
    server.cut = 1
    push("pyroscope", server.url, spool="down", status=1)
    taken = len(server.kept)
    check(taken > 0, f"{taken} profiles were taken, but no answer came")
    push("pyroscope", server.url, spool="down")
    check(len(server.twice) == taken and not server.wrong, "it came again, with its identifier")
    check(server.sum("cpu") == total()[0], "sums are equal")
    server.close()
    run_program()
    said = push("pyroscope", server.url, spool="down", status=1)
    check(f"{server.url}/push.v1.PusherService/Push can't be reached: Couldn't connect to server\n" in said,
          f"nobody listens, in the same words each time: {said.strip()}")
    again = stub.Pyroscope(server.port)
    push("pyroscope", again.url, spool="down")
    check(server.sum("cpu") + again.sum("cpu") == total()[0], "sums are equal")
    again.close()


def test_answers():
    """What answers as the target does has taken a push; what says something else has not, whatever its status."""
    for name, server in ("pyroscope", stub.Pyroscope()), ("parca", stub.Parca()), ("otlp", stub.Otlp()):
        server.fail, server.status, wait = 8, 200, 0
        for server.refusal in (b"not now\n", bytes(range(1, 255)) * 16, b"[]", b"Error", b"hi", b"{}x", b"{} {}",
                               b'{"code":3,"message":"no room"}'):
            run_program()
            said = push(name, server.url, spool=f"{name}-says", status=1)
            wait += 1
            check("is that the right address" in said and len(waiting(f"{name}-says")) == wait and
                  said.count("\n") == 2, f"{name}, {server.refusal[:9]!r}: {said.strip()}")
        for server.says, server.type in ((b" {}\n", "application/json"), (b"", "text/plain"),
                                         (b"\x9a\x06\x02hi", "application/x-protobuf")):  # a member that is not known
            if name == "parca" and "proto" in server.type:
                continue
            run_program()
            push(name, server.url, spool=f"{name}-says")
            check(waiting(f"{name}-says") == [] and not server.wrong, f"{name}: {server.says!r} is an answer")
        server.close()


def test_refused():
    """What a server never takes is given up, and said."""
    server = stub.Pyroscope()
    run_program()
    before = total()[0]
    server.fail, server.status = 1, 400
    said = push("pyroscope", server.url, spool="refused", status=1)
    check(f"given up: {before} nanoseconds of cpu" in said and not waiting("refused"),
          f"it is said: {said.strip()}")
    run_program()
    push("pyroscope", server.url, spool="refused")
    check(server.sum("cpu") == total()[0] - before, "the rest comes")
    server.close()


def test_full():
    """A spool that is full, or can't be written, takes nothing more; hcctd keeps it meanwhile."""
    server = stub.Pyroscope()
    server.fail = 3
    for _ in range(3):
        run_program(0.2)
        said = push("pyroscope", server.url, "--spool-size", "1K", spool="full", status=1)
    check("is full" in said and len(waiting("full")) == 1, f"it is said: {said.strip()}")
    push("pyroscope", server.url, "--spool-size", "1K", spool="full", status=4)
    push("pyroscope", server.url, "--spool-size", "1K", spool="full")
    check_server(server, "full")
    run_program(0.2)
    # no file can be longer than that: as a disk that is full
    result = run(["sh", "-c", 'trap "" XFSZ; ulimit -f 1; exec "$@"', "sh", HCCT, "push", "--once",
                  "--socket", daemon.socket, "--spool", scratch("full"), "pyroscope", server.url])
    check(result.status == 1 and b"nothing can be kept" in result.err,
          f"a disk is full: {result.err.decode().strip()}")
    push("pyroscope", server.url, spool="full")
    check_server(server, "full")
    server.close()


def test_killed():
    """SIGKILL at any moment."""
    server = stub.Pyroscope()
    app = start(3)
    daemon.wait_for(lambda p: p["pid"] == app.pid and p["walks"] > 10)
    for i in range(25):
        pusher = subprocess.Popen([HCCT, "push", "--once", "--socket", daemon.socket, "--spool",
                                   scratch("killed"), "pyroscope", server.url],
                                  stderr=subprocess.DEVNULL)
        time.sleep(0.005 * i)
        pusher.kill()
        pusher.wait()
    app.wait()
    daemon.wait_for(lambda p: p["pid"] == app.pid and p["state"] == "finished")
    push("pyroscope", server.url, spool="killed")
    check(not server.wrong, f"what comes twice is the same: {server.wrong[:3]}")
    check(server.sum("cpu") == total()[0],
          f"{server.sum('cpu')} is N, {total()[0]}, of {len(server.kept)} profiles, "
          f"{len(server.twice)} of them twice")
    server.close()


def test_always():
    """By itself, until it is told to end; two can't have one spool."""
    server = stub.Otlp()
    pusher = subprocess.Popen([HCCT, "push", "--every", "1s", "--socket", daemon.socket, "--spool",
                               scratch("always"), "otlp", server.url],
                              stderr=open(scratch("always.log"), "w"))
    app = start(3)
    app.wait()
    check("another hcct push" in push("otlp", server.url, spool="always", status=1),
          "another one is refused")
    daemon.wait_for(lambda p: p["pid"] == app.pid and p["state"] == "finished")
    pusher.send_signal(signal.SIGTERM)
    check(pusher.wait() == 0, "it ends with status 0")
    check(server.requests >= 3, f"it has sent {server.requests} times")
    check_server(server, "otlp")
    server.close()


def test_restarts():
    """hcctd goes on from its state, or begins anew."""
    global daemon
    server = stub.Pyroscope()
    push("pyroscope", server.url, spool="restarts")
    check(daemon.stop() == 0, "hcctd ends")
    said = push("pyroscope", server.url, spool="restarts", status=3)
    check("hcctd" in said, f"no hcctd is there: {said.strip()}")
    daemon.start()
    run_program()
    said = push("pyroscope", server.url, spool="restarts")
    check("was restarted" in said, f"it is said: {said.strip()}")
    check_server(server, "restarts")
    before = server.sum("cpu")
    daemon.stop()
    daemon = Daemon(socket=daemon.socket).start()
    run_program()
    said = push("pyroscope", server.url, spool="restarts")
    check("without its state" in said, f"it is said: {said.strip()}")
    check(server.sum("cpu") == before + total()[0], "nothing is subtracted from what is all new")
    server.close()


def test_credentials():
    server = stub.Pyroscope()
    run_program(0.2)
    with open(scratch("secret"), "w") as file:
        file.write("Bearer abc.def\n")
    push("pyroscope", server.url, "--credentials", scratch("secret"), "--tenant", "t1", spool="c1")
    check(server.headers[-1].get("Authorization") == "Bearer abc.def" and
          server.headers[-1].get("X-Scope-OrgID") == "t1", "a token, from a file; a tenant")
    push("pyroscope", server.url, "--service", "shop", spool="c2",
         env={"HCCT_PUSH_CREDENTIALS": "me:secret"})
    check(server.headers[-1].get("Authorization") == "Basic bWU6c2VjcmV0",
          "a password, from the environment")
    check(any(one.labels["service_name"] == "shop" for one in server.kept.values()),
          "--service is that of all")
    server.close()


def test_labels():
    """More tags than a server takes labels."""
    server, parca = stub.Pyroscope(), stub.Parca()
    run_program(0.2, HCCT_TAGS=",".join(f"k{chr(97 + i // 20)}{chr(97 + i % 20)}=1" for i in range(40)))
    push("pyroscope", server.url, spool="l1")
    push("parca", parca.url, spool="l2")
    check_server(server, "labels")
    check(any(one.labels.get("kab") == "1" for one in server.kept.values()), "the first of them are there")
    server.close()
    parca.close()


def serve_long_answers(listener):
    """To each request 200, and 64 MB after it; until the listener is closed."""
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            connection.recv(65536)
            try:
                connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + bytes(64 << 20))
            except OSError:
                pass


def test_long_answer():
    """Who takes a push says a word: a server that goes on and on is none, and costs no memory."""
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve_long_answers, args=(listener,), daemon=True).start()
    run_program(0.2)
    said = push("otlp", f"http://127.0.0.1:{listener.getsockname()[1]}", spool="long", status=1)
    check("answer is too large" in said and len(waiting("long")) == 1, f"it is said, and waits: {said.strip()}")
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def test_words():
    for words, sentence in (((), "name a target"), (("x", "http://y"), "there is no target 'x'"),
                            (("otlp", "ftp://y"), "is no URL"),
                            (("--every", "0", "otlp", "http://y"), "--every '0'"),
                            (("--create", "otlp", "http://y"), "--create is for clickhouse"),
                            (("--database", "a;b", "clickhouse", "http://y"), "--database 'a;b'"),
                            (("--database", "2_x", "clickhouse", "http://y"), "the first no digit"),
                            (("otlp", "http://me:SECRET@y/"), "has credentials"),
                            (("otlp", "HTTPS://y/?user=me&Password=SECRET"), "has credentials"),
                            (("--host", "", "otlp", "http://y"), "--host is empty"),
                            (("--service", "", "otlp", "http://y"), "--service is empty"),
                            (("--tenant", "a\r\nX-B: 1", "otlp", "http://y"), "of several lines")):
        result = run([HCCT, "push", *words])
        check("SECRET" not in result.err.decode(), f"{words}: it is not shown")
        check(result.status == 2 and sentence in result.err.decode() and
              result.err.count(b"\n") == 1, f"{words}: {result.err.decode().strip()}")
    result = run([HCCT, "help", "push"])
    check(result.status == 0 and b"usage: hcct push" in result.out, "it explains itself")
    linked = run(["ldd", HCCT]).out.decode()
    check(not re.search("curl|ssl", linked), "hcct itself does not load libcurl")


with Daemon("--state-dir", scratch("state")) as daemon:
    test_kinds()
    test_target_down()
    test_answers()
    test_refused()
    test_full()
    test_killed()
    test_always()
    test_credentials()
    test_labels()
    test_long_answer()
    test_words()
    test_restarts()
finish()
