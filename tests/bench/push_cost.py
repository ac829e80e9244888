# SPDX-License-Identifier: LGPL-3.0-or-later
"""What hcct push costs on a host with a hundred processes, which work now and then: CPU time of hcct push and of
hcctd for a push, memory, bytes that are sent; to each target. And what hcctd takes in all, in turns without
pushes and with those to one target: the difference is what pushes cost it, beside its work for the processes.

    tests/bench/push_cost.py

HCCT_BENCH_PROCESSES (100), HCCT_BENCH_PUSHES (4), HCCT_BENCH_EVERY (15): seconds from one push to the next;
HCCT_BENCH_TURNS (4)."""

import http.server
import os
import statistics
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "e2e")]
from support import HCCT, Daemon, children, scratch, skip  # noqa: E402

PROCESSES = int(os.environ.get("HCCT_BENCH_PROCESSES", "100"))
PUSHES = int(os.environ.get("HCCT_BENCH_PUSHES", "4"))
EVERY = float(os.environ.get("HCCT_BENCH_EVERY", "15"))
TURNS = int(os.environ.get("HCCT_BENCH_TURNS", "4"))
TARGETS = ("clickhouse", "pyroscope", "parca", "otlp")
PROGRAM = """import time
def parse(text): return text.split(",")
def search(text): return text.find("no such text")
def pack(text): return text.encode().hex()
def order(text): return sorted(text.split(","), key=lambda one: one[::-1])
text = ",".join(str(i * i) for i in range(300))
while True:
    for work in (parse, search, pack, order):
        end = time.process_time() + 0.001
        while time.process_time() < end:
            work(text)
    time.sleep(1)
"""


class Sink(http.server.BaseHTTPRequestHandler):
    """Takes all."""

    bytes = 0

    def do_POST(self):
        Sink.bytes += len(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *unused):
        pass


def descendants(pid):
    found = [pid]
    for child in children(pid):
        found += descendants(child)
    return found


def processor_seconds(pid):
    """Of a process, its children that are there and those that it has waited for."""
    total = 0
    for one in descendants(pid):
        try:
            with open(f"/proc/{one}/stat") as file:
                words = file.read().rsplit(")", 1)[1].split()
        except FileNotFoundError:
            continue    # its parent has what it took
        total += sum(map(int, words[11:15] if one == pid else words[11:13]))
    return total / os.sysconf("SC_CLK_TCK")


def memory(pid):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS"))


def push(daemon, target, url):
    """CPU seconds of hcct push, of hcctd meanwhile; bytes; MB."""
    before, Sink.bytes = processor_seconds(daemon.process.pid), 0
    process = subprocess.Popen([HCCT, "push", "--once", "--socket", daemon.socket, "--spool", scratch(target), target, url],
                               stderr=subprocess.PIPE)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"hcct push {target}: {process.stderr.read().decode()}")
    return (usage.ru_utime + usage.ru_stime, processor_seconds(daemon.process.pid) - before, Sink.bytes,
            usage.ru_maxrss / 1024)


def turns(daemon, url):
    """Of a core: hcctd without pushes and with them, in turns, beside each other."""
    shares = ([], [])
    for turn in range(2 * TURNS):
        before, since = processor_seconds(daemon.process.pid), time.monotonic()
        for _ in range(2):
            time.sleep(EVERY)
            if turn % 2 == 1:
                push(daemon, TARGETS[0], url)
        shares[turn % 2].append((processor_seconds(daemon.process.pid) - before) / (time.monotonic() - since))
    without, with_them = (statistics.mean(part) for part in shares)
    print(f"hcctd in all, in {TURNS} turns of {2 * EVERY:.0f} s: {100 * without:.2f} % of a core without pushes "
          f"({' '.join(f'{100 * one:.2f}' for one in shares[0])}), {100 * with_them:.2f} with ({' '.join(f'{100 * one:.2f}' for one in shares[1])})", flush=True)


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Sink)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    with Daemon() as daemon:
        env = {**os.environ, **daemon.env()}
        apps = [subprocess.Popen(["/usr/bin/python3", "-S", "-E", "-c", PROGRAM], env=env) for _ in range(PROCESSES)]
        try:
            while sum(one["walks"] > 0 for one in daemon.processes()) < PROCESSES:
                time.sleep(1)
            began, since = processor_seconds(daemon.process.pid), time.monotonic()
            costs = {target: [] for target in TARGETS}
            for target in TARGETS:
                push(daemon, target, url)
            for _ in range(PUSHES):
                time.sleep(EVERY)
                for target in TARGETS:
                    costs[target].append(push(daemon, target, url))
            listed = daemon.processes()
            spent = processor_seconds(daemon.process.pid) - began
            print(f"{len(listed)} processes, {sum(one['contexts'] for one in listed)} contexts; hcctd: "
                  f"{memory(daemon.process.pid):.0f} MB, {spent:.2f} s of CPU time in {time.monotonic() - since:.0f} s in all")
            print(f"a push, every {EVERY:.0f} s   hcct push     hcctd   of a core        bytes    MB   (medians)")
            for target in TARGETS:
                own, its, size, most = (statistics.median(column) for column in zip(*costs[target]))
                print(f"{target:20} {own:8.3f} s {its:8.3f} s {100 * own / EVERY:5.2f} + {100 * its / EVERY:4.2f} % {size:12,.0f} "
                      f"{most:5.0f}")
            turns(daemon, url)
        finally:
            for app in apps:
                app.kill()
                app.wait()


if sys.platform != "linux":
    skip("this is for Linux")
main()
