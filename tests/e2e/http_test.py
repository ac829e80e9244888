# SPDX-License-Identifier: LGPL-3.0-or-later
"""hcctd's outer face: the loopback listener and who may use it, metrics, Go's profile requests, and
what a client must not be able to do to the daemon."""

import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import threading
import time

from support import AGENT, HCCTD, Daemon, check, finish, report, run, scratch, target


def ask(where, request, headers=None, timeout=60):
    """One request: to a Unix socket (a path) or to (host, port); (status, headers, body)."""
    if isinstance(where, str):
        connection = http.client.HTTPConnection("localhost", timeout=timeout)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(timeout)
        connection.sock.connect(where)
    else:
        connection = http.client.HTTPConnection(*where, timeout=timeout)
    method, url = request.split(" ", 1)
    connection.putrequest(method, url, skip_host="Host" in (headers or {}))
    for name, value in (headers or {}).items():
        if value is not None:
            connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    result = answer.status, dict(answer.getheaders()), answer.read()
    connection.close()
    return result


def is_sentence(body):
    return body.count(b"\n") == 1 and body.endswith(b"\n") and len(body) > 20


def address(daemon_log):
    """Where the newest daemon answers, by its own word."""
    url = re.findall(r"answers on http://(\S+):(\d+)/", open(daemon_log).read())[-1]
    return url[0].strip("[]"), int(url[1])


def cpu_ns(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * (10**9 // os.sysconf("SC_CLK_TCK"))


def start_app(daemon, seconds="60", **settings):
    app = subprocess.Popen([target("known_shares"), seconds],
                           env=daemon.env(HCCT_RATE="250", **settings), stdout=subprocess.DEVNULL)
    check(daemon.wait_for(lambda p: p["pid"] == app.pid and p["walks"] > 20), "a program is profiled")
    return app


def check_access(daemon, tcp):
    status, headers, body = ask(tcp, "GET /v1/processes")
    check(status == 200 and json.loads(body)["processes"], "the listener answers GET")
    check(headers.get("X-Content-Type-Options") == "nosniff" and
          "frame-ancestors 'none'" in headers.get("Content-Security-Policy", "") and
          not any(name.lower().startswith("access-control") for name in headers),
          "no sniffing, no frames, no other origin")
    status, headers, body = ask(tcp, "GET /")
    check(status == 200 and headers["Content-Type"].startswith("text/html") and
          b"default-src 'none'" in body, "/ is a page that forbids what it does not need")
    for request in ("POST /v1/snapshot", "POST /v1/control?state=off", "PUT /v1/processes",
                    "DELETE /"):
        status, headers, body = ask(tcp, request)
        check(status == 405 and is_sentence(body), f"{request}: {status} {body.decode().strip()}")
    for host, want in (("localhost", 200), ("LOCALHOST:80", 200), ("127.0.0.1:1", 200),
                       ("[::1]:9", 200), ("evil.example", 403), ("127.0.0.1.evil.example", 403),
                       ("localhost:80:80", 403), ("127.0.0.1:", 403), ("", 403), (None, 403)):
        status, headers, body = ask(tcp, "GET /v1/processes", {"Host": host})
        check(status == want, f"Host: {host}: {status}")


def check_users(daemon, tcp, app):
    """Who asks is found by the owner of the socket at the other end."""
    if os.geteuid() != 0:
        print("skipped: other users can be played by root only")
        return
    script = ("import os, sys, http.client\nos.setgid(65534); os.setuid(65534)\n"
              "c = http.client.HTTPConnection(sys.argv[1], int(sys.argv[2]))\n"
              "c.request('GET', sys.argv[3]); print(c.getresponse().read().decode())\n")

    def as_nobody(url):
        return run(["/usr/bin/python3", "-c", script, *map(str, tcp), url]).out.decode()

    check(json.loads(as_nobody("/v1/processes"))["processes"] == [], "a stranger sees no process of ours")
    check("has no agent" in as_nobody(f"/v1/hot?pid={app.pid}"), "nor its profile")
    check("pid=" not in as_nobody("/metrics"), "nor its metrics")
    check("has no agent" in as_nobody(f"/debug/pprof/cmdline?pid={app.pid}"), "nor its command line")
    check("nothing is profiled" in as_nobody("/debug/pprof/profile?seconds=1"), "nor what it does now")


def check_metrics(daemon, tcp, app):
    status, headers, body = ask(tcp, "GET /metrics")
    text = body.decode()
    check(status == 200 and headers["Content-Type"].startswith("text/plain; version=0.0.4"),
          "GET /metrics")
    labels = f'{{pid="{app.pid}",command="known_shares"}} '
    for name in ("walks_total", "complete_walks_total", "cpu_seconds_total", "contexts",
                 "profiled_seconds_total", "tree_bytes", "sampling"):
        line = [l for l in text.splitlines() if l.startswith(f"hcct_process_{name}{labels}")]
        check(len(line) == 1 and float(line[0].rsplit(" ", 1)[1]) > 0, f"a live process's {name}")
    resident = float(re.search(r"^process_resident_memory_bytes (\S+)$", text, re.M).group(1))
    check(resident > 1 << 20, f"the daemon's memory: {resident:.0f} bytes")
    began = float(re.search(r"^process_start_time_seconds (\S+)$", text, re.M).group(1))
    check(0 <= time.time() - began < 3600, "and when it began")
    if shutil.which("promtool") is None:
        print("skipped: promtool is not installed")
        return
    open(scratch("metrics"), "w").write(text)
    result = run(["promtool", "check", "metrics"], stdin=open(scratch("metrics")))
    check(result.status == 0 and result.out + result.err == b"", "promtool finds nothing to say")
    # a name that would break a line
    odd = scratch('odd "name\\\n')
    os.symlink("/bin/sleep", scratch("x"))
    shutil.copy("/bin/sleep", odd)
    other = subprocess.Popen([odd, "60"], env=daemon.env())
    daemon.wait_for(lambda p: p["pid"] == other.pid)
    text = ask(tcp, "GET /metrics")[2].decode()
    open(scratch("metrics"), "w").write(text)
    result = run(["promtool", "check", "metrics"], stdin=open(scratch("metrics")))
    check(f'pid="{other.pid}",command="odd \\"name\\\\ "' in text and result.status == 0,
          "a command's odd name is escaped")
    other.kill()
    other.wait()


def check_seconds(daemon, where, app, name):
    """A profile of so many seconds has the CPU time of these seconds, and nothing from before."""
    before, began = cpu_ns(app.pid), time.monotonic()
    status, headers, body = ask(where, f"GET /debug/pprof/profile?seconds=2&pid={app.pid}")
    used, took = cpu_ns(app.pid) - before, time.monotonic() - began
    if not check(status == 200 and took >= 2, f"{name}: an answer after {took:.1f} s"):
        return
    open(scratch("seconds.pb.gz"), "wb").write(body)
    profile = report(scratch("seconds.pb.gz"))
    # what the daemon read of the kernel at its two moments; a thread's time is in 4 ms walks
    process = profile["processes"][0]
    slack = 0.1 * process["cpu_ns"] + 1e8
    check(abs(profile["total"] - process["cpu_ns"]) < slack and profile["total"] < used + slack,
          f"{name}: {profile['total'] / 1e9:.2f} s of {process['cpu_ns'] / 1e9:.2f} s CPU time, "
          f"{used / 1e9:.2f} s seen from outside")
    check(process["walks"] * 4e6 < profile["total"] * 1.5 + 1e8,
          f"{name}: with the walks of that time alone: {process['walks']}")


def check_pprof(daemon, tcp, app):
    check_seconds(daemon, tcp, app, "/debug/pprof/profile over TCP")
    check_seconds(daemon, daemon.socket, app, "/debug/pprof/profile on the socket")
    for request in ("seconds=0", "seconds=3601", "seconds=x", "seconds=", "seconds=1&wibble=1"):
        status, headers, body = ask(tcp, f"GET /debug/pprof/profile?{request}")
        check(status == 400 and is_sentence(body), f"{request}: {status} {body.decode().strip()}")
    status, headers, body = ask(tcp, "GET /debug/pprof/profile?seconds=1&pid=1")
    check(status == 404 and is_sentence(body), "no such process is said at once")
    check(b"profile?seconds" in ask(tcp, "GET /debug/pprof/")[2], "/debug/pprof/ says what there is")
    check(ask(tcp, f"GET /debug/pprof/cmdline?pid={app.pid}")[2].split(b"\0")[1] == b"60",
          "/debug/pprof/cmdline")
    check(HCCTD.encode() in ask(tcp, "GET /debug/pprof/cmdline")[2], "of hcctd itself, too")
    check(ask(tcp, "GET /debug/pprof/symbol")[2] == b"num_symbols: 0\n", "/debug/pprof/symbol")
    # a process that begins while one waits counts as a whole, one that ends keeps its share
    answer = []
    waiter = threading.Thread(target=lambda: answer.append(
        ask(tcp, "GET /debug/pprof/profile?seconds=4&exe=equal_threads")))
    gone = subprocess.Popen([target("equal_threads"), "2", "60"], env=daemon.env(HCCT_RATE="250"))
    daemon.wait_for(lambda p: p["pid"] == gone.pid and p["walks"] > 20)
    waiter.start()
    time.sleep(0.3)
    came = run([target("equal_threads"), "1", "0.4"], env=daemon.env(HCCT_RATE="250"))
    gone.kill()
    gone.wait()
    waiter.join()
    processes = [] if answer[0][0] != 200 else None
    if processes is None:
        open(scratch("both.pb.gz"), "wb").write(answer[0][2])
        processes = report(scratch("both.pb.gz"))["processes"]
    totals = sorted(p["total"] for p in processes)
    check(len(totals) == 2 and all(t > 1e8 for t in totals),
          f"one that came and one that went are both in it: {totals}")
    if shutil.which("go"):
        env = {"PPROF_TMPDIR": scratch("pprof"), "HOME": scratch("home")}
        url = f"http://{tcp[0]}:{tcp[1]}/debug/pprof/profile?seconds=2"
        result = run(["go", "tool", "pprof", "-top", url], env=env)
        check(result.status == 0 and b"burn" in result.out, "go tool pprof fetches and reads it")


def threads_of(pid):
    return len(os.listdir(f"/proc/{pid}/task"))


def files_of(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def soon(what, seconds=10):
    deadline = time.monotonic() + seconds
    while not what() and time.monotonic() < deadline:
        time.sleep(0.05)
    return what()


def check_gone_clients(daemon, tcp):
    pid = daemon.process.pid
    ask(tcp, "GET /v1/processes")
    threads, files = threads_of(pid), files_of(pid)
    clients = []
    for _ in range(20):
        client = socket.create_connection(tcp)
        client.sendall(b"GET /debug/pprof/profile?seconds=3600 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        clients.append(client)
    check(soon(lambda: threads_of(pid) >= threads + 15), "twenty clients wait for an hour")
    for client in clients:
        client.close()
    check(soon(lambda: threads_of(pid) <= threads and files_of(pid) <= files),
          "when they hang up nothing of them is left")


def throw(where, data, patience=0.05):
    """Sends anything, takes any answer or none."""
    family = socket.AF_UNIX if isinstance(where, str) else socket.AF_INET
    with socket.socket(family) as connection:
        connection.settimeout(patience)
        try:
            connection.connect(where)
            connection.sendall(data)
            connection.recv(65536)
        except OSError:
            pass


def check_robust(daemon, tcp):
    dice = random.Random(20)
    paths = ["/", "/v1/hot", "/v1/processes", "/metrics", "/debug/pprof/profile", "/v1/control",
             "/v1/%00", "/../../etc/passwd", "//", "*", "/v1/hot?" + "a=b&" * 3000, "/" + "x" * 60000]
    methods = ["GET", "POST", "BREW", "get", "", "G" * 5000, "OPTIONS", "HEAD", "CONNECT", "TRACE"]
    tails = [" HTTP/1.1\r\nHost: localhost\r\n\r\n", " HTTP/1.1\r\n\r\n", " HTTP/9.9\r\n\r\n", "\r\n\r\n",
             " HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", "",
             " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
             " HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
             " HTTP/1.1\r\n" + "X: y\r\n" * 5000 + "\r\n", " HTTP/1.1\r\nHost: a\0b\r\n\r\n"]
    for where in (tcp, daemon.socket):
        for method in methods:
            for path in paths:
                throw(where, (method + " " + path + dice.choice(tails)).encode(), 0.01)
        for _ in range(60):
            throw(where, dice.randbytes(dice.randrange(1, 3000)), 0.01)
        good = b"GET /v1/processes HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for end in range(1, len(good), 3):
            throw(where, good[:end], 0.005)
        for _ in range(60):
            at = dice.randrange(len(good))
            throw(where, good[:at] + dice.randbytes(3) + good[at + 1:], 0.01)
    check(daemon.process.poll() is None, "the daemon outlives garbage")
    check(ask(tcp, "GET /v1/processes")[0] == 200, "and answers over TCP")
    check(ask(daemon.socket, "GET /v1/processes")[0] == 200, "and on the socket")


with Daemon("--listen", "127.0.0.1:0") as daemon:
    tcp = address(scratch("hcctd.log"))
    app = start_app(daemon)
    check_access(daemon, tcp)
    check_users(daemon, tcp, app)
    check_metrics(daemon, tcp, app)
    check_pprof(daemon, tcp, app)
    check_gone_clients(daemon, tcp)
    check_robust(daemon, tcp)

    # the end of the daemon waits for nobody
    answers = []
    waiters = [threading.Thread(target=lambda w=where: answers.append(
        ask(w, "GET /debug/pprof/profile?seconds=600"))) for where in (tcp, daemon.socket)]
    threads = threads_of(daemon.process.pid)
    for waiter in waiters:
        waiter.start()
    soon(lambda: threads_of(daemon.process.pid) >= threads + 2)
    time.sleep(0.5)
    began = time.monotonic()
    status = daemon.stop()
    for waiter in waiters:
        waiter.join()
    check(status == 0 and time.monotonic() - began < 20, "SIGTERM ends a daemon that clients wait for")
    check(sorted(a[0] for a in answers) == [503, 503] and all(is_sentence(a[2]) for a in answers),
          "and they are reported")
    app.kill()
    app.wait()

try:
    with socket.socket(socket.AF_INET6) as probe:
        probe.bind(("::1", 0))
    with Daemon("--listen", "[::1]:0") as daemon:
        app = start_app(daemon)
        status, headers, body = ask(address(scratch("hcctd.log")), "GET /v1/processes")
        check(status == 200 and json.loads(body)["processes"], "[::1] is loopback, too")
        app.kill()
        app.wait()
except OSError:
    print("skipped: there is no IPv6 here")

for bad in ("0.0.0.0:4040", "192.168.1.1:80", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:70000", "[::]:1",
            "example.org:80", ":80", "127.0.0.1:-1"):
    result = run([HCCTD, "--listen", bad, "--socket", scratch("never")], timeout=20)
    check(result.status == 2 and is_sentence(result.err), f"--listen {bad}: {result.err.decode().strip()}")
with socket.socket() as taken:
    taken.bind(("127.0.0.1", 0))
    taken.listen()
    result = run([HCCTD, "--listen", f"127.0.0.1:{taken.getsockname()[1]}", "--socket", scratch("never")],
                 timeout=20)
    check(result.status == 1 and is_sentence(result.err) and not os.path.exists(scratch("never")),
          f"a port that is taken: {result.err.decode().strip()}")
finish()
