# SPDX-License-Identifier: LGPL-3.0-or-later
"""Between hcct push and a real ClickHouse connections end in the middle of an insert, the server is
killed under it, somebody else answers in its place, and the host's clock is set back: afterwards the tables
have each push once, with all of its weight."""

import http.server
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "e2e"), HERE]
import clickhouse  # noqa: E402
from stub_hcctd import StubDaemon  # noqa: E402
from support import BUILD, HCCT, check, finish, run, scratch, skip  # noqa: E402

if not os.path.exists(os.path.join(BUILD, "client", "remote", "hcct-remote")):
    skip("hcct-remote is not made: libcurl is missing")
if not clickhouse.found():
    skip("clickhouse-server is not installed")

HOST_TREES = os.path.join(BUILD, "tests", "remote", "host_trees")
PUSHES = 6
HOUR = 3600


class Proxy:
    """Passes on what comes to the server, and in each connection no more than `most` bytes of it; then
    `at_end` is called and both ends are closed. Answers come back whole, where there is one."""

    def __init__(self, port, most, at_end=lambda: None):
        self.port, self.most, self.at_end, self.cut, self.passed = port, most, at_end, 0, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        left = self.most
        with client, socket.create_connection(("127.0.0.1", self.port)) as server:
            threading.Thread(target=self.answer, args=(server, client), daemon=True).start()
            while data := client.recv(min(65536, left)):
                server.sendall(data)
                left -= len(data)
                self.passed += len(data)
                if left == 0:
                    self.cut += 1
                    self.close()    # libcurl would try again
                    self.at_end()
                    break

    def answer(self, server, client):
        try:
            while data := server.recv(65536):
                client.sendall(data)
        except OSError:
            pass    # cut

    def close(self):
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass    # closed before
        self.listener.close()


def make(name, seed, *more, algorithm="space-saving"):
    directory = scratch(name)
    os.makedirs(directory)
    result = run([HOST_TREES, "make", directory, str(seed), algorithm, "0.02", "0", "1", str(PUSHES), *more])
    check(result.status == 0, f"trees are made {result.err.decode()}")
    return directory


def have(directory, moment):
    daemon.path = os.path.join(directory, f"0-{moment}.pb.gz")


def push(url, host, status=0):
    result = run([HCCT, "push", "--once", "--socket", daemon.socket, "--host", host, "--spool", scratch(host), "clickhouse",
                  url])
    said = result.err.decode()
    check(result.status == status, f"{host}: status {result.status} is {status}: {said.strip()[:300]}")


def check_host(directory, host, moment, since="1h"):
    """What the tables have, by themselves and by hcct fleet, is what was counted."""
    fleet = os.path.join(directory, "fleet.pb.gz")
    result = run([HCCT, "fleet", "hot", "--url", server.url, "--host", host, "--since", since, "-o", fleet])
    check(result.status == 0, f"hcct fleet hot: {result.err.decode().strip()}")
    truth = [os.path.join(directory, f"truth-0-{number}.pb.gz") for number in range(moment + 1)]
    result = run([HOST_TREES, "check", fleet, *truth])
    check(result.status == 0, f"{host}: {result.out.decode().strip()} {result.err.decode()[:300]}")
    counted = json.loads(run([HCCT, "report", "--format", "json", os.path.join(directory, f"0-{moment}.pb.gz")]).out)
    rows = server.ask(f"SELECT count(), sum(arraySum(weights)) FROM hcct.deltas FINAL WHERE host = '{host}'")
    check(rows == [[str(moment + 1), str(counted["total"])]], f"{host}: {rows} is {moment + 1} pushes of {counted['total']}")
    rows = server.ask(f"SELECT count(), sum(total), sum(walks) FROM hcct.totals FINAL WHERE host = '{host}'")
    walks = sum(one["walks"] for one in counted["processes"])
    check(rows == [[str(moment + 1), str(counted["total"]), str(walks)]], f"{host}: {rows} are totals of {walks} samples")


def push_cut(most):
    proxy = Proxy(server.port, most)
    result = run([HCCT, "push", "--once", "--socket", daemon.socket, "--host", "cut", "--spool", scratch("cut"), "clickhouse",
                  proxy.url])
    check((result.status == 1) == (proxy.cut > 0), f"{proxy.passed} bytes of at most {most} in a connection, {proxy.cut} cut: "
          f"status {result.status}, {result.err.decode().strip()[:200]}")
    proxy.close()
    return proxy


def test_cut():
    """A connection ends after so many bytes, wherever that is: in stacks, in deltas, in totals. What was
    taken already comes again, whole or in part."""
    directory, where = make("cut", 11), (50, 30000, 0.5, -12000, -3000, -150)
    for moment, most in enumerate(where):
        have(directory, moment)
        push("http://127.0.0.1:1", "cut", status=1)     # so that it waits
        shutil.copytree(scratch("cut"), scratch("cut-before"))
        size = push_cut(10**9).passed
        shutil.rmtree(scratch("cut"))
        shutil.move(scratch("cut-before"), scratch("cut"))
        check(push_cut(most if most > 1 else int(size * most) if most > 0 else size + most).cut == 1, "it was cut")
        push(server.url, "cut")
    check_host(directory, "cut", len(where) - 1)


def test_killed():
    """The server is killed when it has a part of the rows."""
    directory = make("killed", 12)
    for moment, most in enumerate((3000, 30000, 100000, 200000)):
        have(directory, moment)
        proxy = Proxy(server.port, most, server.kill)
        push(proxy.url, "killed", status=1)
        check(proxy.cut > 0, f"killed after {most} bytes of a request")
        proxy.close()
        server.start()
        push(server.url, "killed")
    check_host(directory, "killed", moment)


class Talker(http.server.BaseHTTPRequestHandler):
    """Says that all is well, and something beside it."""

    said = b""

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(self.said)))
        self.end_headers()
        self.wfile.write(self.said)

    def log_message(self, *unused):
        pass


def test_answers():
    """An insert has no answer: who has one is another server, or could not do it after its status was sent."""
    directory = make("answers", 14)
    other = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Talker)
    threading.Thread(target=other.serve_forever, args=(0.05,), daemon=True).start()
    url = f"http://127.0.0.1:{other.server_port}"
    for moment, said in enumerate((b"Code: 241. DB::Exception: Memory limit\nexceeded", b"Please log in", b"\x1bc")):
        have(directory, moment)
        Talker.said = said
        push(url, "answers", status=1)
        check(len([name for name in os.listdir(scratch("answers")) if name.startswith("push-")]) == moment + 1, "it waits")
        result = run([HCCT, "push", "--create", "clickhouse", url])
        check(result.status == 1 and result.err.count(b"\n") == 1 and b"does not answer as ClickHouse does" in result.err and
              b"\x1b" not in result.err, f"no tables are made: {result.err.decode().strip()}")
    other.shutdown()
    push(server.url, "answers")
    check_host(directory, "answers", moment)


def test_lost_stacks():
    """The table of frames is emptied, and a part of it is lost: hcct fleet says why it shows [~], and who goes on
    pushing sends what is not there any more."""
    directory = make("stacks", 15, algorithm="exact")   # gives up none
    have(directory, 0)
    pusher = subprocess.Popen([HCCT, "push", "--every", "1s", "--socket", daemon.socket, "--host", "stacks", "--spool",
                               scratch("stacks-spool"), "clickhouse", server.url], stderr=subprocess.PIPE)
    ask = [HCCT, "fleet", "hot", "--url", server.url, "--host", "stacks"]
    check(wait_for(lambda: run(ask).status == 0), "a push")
    check(run(ask).err == b"", "has all of its frames")
    for number, statement in enumerate(("TRUNCATE TABLE hcct.stacks", "TRUNCATE TABLE hcct.stacks")):
        server.ask(statement)
        said = run(ask)
        check(said.status == 0 and b"has no frames in the table stacks" in said.err and said.err.count(b"\n") == 1,
              f"{statement}: {said.err.decode().strip()}")
        have(directory, number + 1)     # the same contexts gain, and others
        check(wait_for(lambda: (number + 2, b"") == (pushes_of("stacks"), run(ask).err)), f"it heals with the next push: {run(ask).err}")
    pusher.terminate()
    said = pusher.communicate()[1].decode()
    check(said.count("has lost contexts") == 2 and said.count("\n") == 2, f"the pusher says it: {said.strip()}")
    check_host(directory, "stacks", number + 1)


def pushes_of(host):
    return int(server.ask(f"SELECT uniqExact(push) FROM hcct.totals WHERE host = '{host}'")[0][0])


def wait_for(condition):
    for _ in range(150):
        if condition():
            return True
        time.sleep(0.1)
    return False


def test_clock():
    """The clock goes back by an hour, and more, from push to push."""
    directory = make("clock", 13, str(HOUR))
    for moment in range(PUSHES):
        have(directory, moment)
        push(server.url, "clock")
    times = server.ask("SELECT toUInt32(time), span FROM hcct.totals FINAL WHERE host = 'clock' ORDER BY time")
    check(int(times[-1][0]) - int(times[0][0]) > (PUSHES - 2) * HOUR and all(int(span) < HOUR * 10**9 for _, span in times),
          f"the pushes are of times before each other, and of no long span: {times}")
    check_host(directory, "clock", PUSHES - 1, since="10h")


server = clickhouse.ClickHouse(scratch("clickhouse"))
daemon = StubDaemon(scratch("hcctd.sock"), "calls")
try:
    check(run([HCCT, "push", "--create", "clickhouse", server.url]).status == 0, "tables are made")
    test_cut()
    test_killed()
    test_answers()
    test_lost_stacks()
    test_clock()
finally:
    daemon.close()
    server.kill()
finish()
