# SPDX-License-Identifier: LGPL-3.0-or-later
"""attach_runs.py - attaches to programs under load and detaches from them, as often as is asked for.

A program that ends, hangs or goes wrong is a failure; one that could not be attached to in time is
counted, and none. Prints for each: attached, refused, for how long a thread was held, and by what
memory and descriptors have grown since the first tenth of the runs.

    attach_runs.py [--runs N] [--work SECONDS] [--only NAME,NAME] [--ways WAY,WAY]

Each run attaches in another way than the one before it: usual, fine (1,000 samples a second), wall, wait, heap,
and events (time, allocations, alive memory and locks).
"""
import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BUILD = os.environ.get("HCCT_BUILDDIR", os.getcwd())
HCCT = os.path.join(BUILD, "client", "hcct")
HCCTD = os.path.join(BUILD, "daemon", "hcctd")
STORM = os.path.join(BUILD, "tests", "targets", "attach_storm")
LIBRARY = os.path.join(BUILD, "tests", "targets", "attach_library.so")

PYTHON = """
import json, signal, sys
over = []
signal.signal(signal.SIGTERM, lambda *_: over.append(1))
while not over:
    if json.loads(json.dumps({"a": list(range(300))}))["a"][299] != 299: sys.exit(1)
"""
NODE = """
let over = false; process.on('SIGTERM', () => { over = true; });
function f() { const a = []; for (let i = 0; i < 20000; i++) a.push({n: i, s: String(i)});
  if (a[777].s !== '777') process.exit(1);
  if (over) process.exit(0); setImmediate(f); }
f();
"""
BASH = """
over=0; trap over=1 TERM
while [ $over = 0 ]; do [ "$(echo 7 | tr 7 8)" = 8 ] || exit 1; x=$((x + 1)); done; exit 0
"""
SQL = """
CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 100000)
  INSERT INTO t SELECT x, hex(x) FROM c;
"""
GETS = """
import http.client, sys
server = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=30)
first = None
while True:
    server.request("GET", sys.argv[2], headers={"Accept-Encoding": "gzip"})
    answer = server.getresponse()
    body = answer.read()
    first = first or body
    if answer.status != 200 or body != first: sys.exit(1)
"""
NGINX = """
daemon off; user root; worker_processes 1; pid {0}/nginx.pid; error_log {0}/error.log;
events {{ worker_connections 512; }}
http {{
    access_log off; client_body_temp_path {0}/body; proxy_temp_path {0}/proxy; fastcgi_temp_path {0}/fastcgi;
    uwsgi_temp_path {0}/uwsgi; scgi_temp_path {0}/scgi; gzip on; gzip_types text/plain; gzip_proxied any;
    server {{ listen 127.0.0.1:{1}; root {0}; keepalive_requests 100000; default_type text/plain; }}
}}
"""
WAYS = {"usual": [], "fine": ["--rate", "1000"], "wall": ["--rate", "1000", "--clock", "wall"],
        "wait": ["--metric", "wait", "--rate", "1000"],
        "heap": ["--metric", "heap"], "events": ["--metric", "cpu,alloc,heap,lock"]}
JAVA = """
import java.util.*;
public class Work {
    static int round(int seed) {
        List<String> words = new ArrayList<>();
        for (int i = 0; i < 3000; i++) words.add(Integer.toHexString(i * 31 + seed));
        Collections.sort(words);
        Map<String, Integer> count = new HashMap<>();
        for (String word : words) count.merge(word.substring(0, 1), 1, Integer::sum);
        return count.values().stream().mapToInt(Integer::intValue).sum();
    }
    public static void main(String[] arguments) throws Exception {
        Runnable work = () -> { for (int i = 0; ; i++) if (round(i) != 3000) Runtime.getRuntime().halt(1); };
        new Thread(work).start();
        new Thread(work).start();
        while (true) { Thread.sleep(5); System.gc(); }
    }
}
"""
QUERY = "SELECT sum(length(x.b) * y.a) FROM t x, t y WHERE x.a % 1000 = y.a % 1000 AND y.a < 9000;\n"


class Program:
    """Something that runs until it is asked to end, and then says whether all was well."""

    def __init__(self, name, command, ends=signal.SIGTERM, status=0, load=None, text="", child=False):
        self.name, self.command, self.ends, self.status = name, command, ends, status
        self.load, self.text, self.child = load, text, child
        self.helpers = []

    def start(self):
        with tempfile.TemporaryFile() as text:
            text.write(self.text.encode())
            text.seek(0)
            self.process = subprocess.Popen(self.command, stdin=text, stdout=subprocess.DEVNULL,
                                            stderr=subprocess.PIPE)
        time.sleep(1.5)
        if self.load:
            self.helpers = [subprocess.Popen(one, stdout=subprocess.DEVNULL) for one in self.load]
            time.sleep(0.3)

    def pid(self):
        """Of the process that works: a server's, its first child."""
        if not self.child:
            return self.process.pid
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as file:
            return int(file.read().split()[0])

    def alive(self):
        return self.process.poll() is None and all(one.poll() in (None, 0) for one in self.helpers)

    def end(self):
        """None: all was well; else what was not."""
        bad = [one.args[0] for one in self.helpers if one.poll() not in (None, 0)]
        for one in self.helpers:
            one.kill()
            one.wait()
        if self.process.poll() is not None:
            return f"it had ended with {self.process.returncode}"
        self.process.send_signal(self.ends)
        try:
            _, said = self.process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "it hangs"
        if self.process.returncode not in (self.status, -self.ends):
            return f"it ended with {self.process.returncode}: {said[-200:]!r}"
        return f"{bad[0]} went wrong" if bad else None


def write(path, text):
    with open(path, "w") as file:
        file.write(text)
    return path


def programs(scratch):
    port = str(20000 + os.getpid() % 20000)
    storms = [Program("storm: " + kind, [STORM, kind, LIBRARY])
              for kind in ("alloc", "loader", "fork", "threads")]
    found = [one for one in storms if os.path.exists(STORM)]
    redis = [["redis-benchmark", "-p", port, "-q", "-l", "-c", "20", "-t", "set,get,lpush,lrange_100"]]
    others = [
        ("python3", Program("python3", ["/usr/bin/python3", "-c", PYTHON])),
        ("redis-server", Program("redis-server", ["redis-server", "--port", port, "--save", "",
                                                  "--dir", scratch], load=redis)),
        ("node", Program("node", ["node", "-e", NODE])),
        ("sqlite3", Program("sqlite3", ["sqlite3"], ends=signal.SIGINT, status=1,
                            text=SQL + QUERY * 4000)),
        ("bash", Program("bash", ["bash", "-c", BASH])),
        ("nginx", Program("nginx", ["nginx", "-c", write(os.path.join(scratch, "nginx.conf"),
                                                         NGINX.format(scratch, int(port) + 1))],
                          load=[[sys.executable, "-c", GETS, str(int(port) + 1), "/nginx.conf"]] * 3, child=True)),
        ("java", Program("java", ["java", write(os.path.join(scratch, "Work.java"), JAVA)], status=143)),
    ]
    return found + [program for command, program in others if shutil.which(command)]


def hcct(*words):
    done = subprocess.run([HCCT, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=120)
    return done.returncode, done.stdout.decode(errors="replace")


def size(pid):
    """Bytes that are mapped and private, and descriptors."""
    try:
        with open(f"/proc/{pid}/statm") as file:
            pages = int(file.read().split()[0])
        return pages * 4096, len(os.listdir(f"/proc/{pid}/fd"))
    except (OSError, IndexError):
        return 0, 0


def share(values, part):
    values = sorted(values)
    return values[min(len(values) - 1, int(part * len(values)))] if values else float("nan")


def run(program, runs, work, socket, ways):
    program.start()
    pid, held, refused, reasons, early = program.pid(), [], 0, {}, None
    for i in range(runs):
        if not program.alive():
            break
        status, said = hcct("attach", "--socket", socket, *WAYS[ways[i % len(ways)]], str(pid))
        found = re.search(r"held for ([0-9.]+) ms", said)
        if found:
            held.append(float(found[1]))
        else:
            refused += 1
            reason = said.strip().split(": ")[-1][:70] or str(status)
            reasons[reason] = reasons.get(reason, 0) + 1
        if work:
            time.sleep(work)
        if found:
            status, said = hcct("detach", str(pid))
            if status != 0:
                reason = "detach: " + said.strip().split(": ")[-1][:60]
                reasons[reason] = reasons.get(reason, 0) + 1
        if i == runs // 10:
            early = size(pid)
    late = size(pid)
    grown = (late[0] - early[0], late[1] - early[1]) if early else (0, 0)
    wrong = program.end()
    print(f"{program.name:<16} runs {len(held) + refused:<5} attached {len(held):<5} refused {refused:<4} "
          f"held ms: median {share(held, 0.5):5.1f}, 99 % {share(held, 0.99):5.1f}, most "
          f"{share(held, 1):5.1f}; grown {grown[0] >> 10} KB, {grown[1]} descriptors; "
          f"{'FAILED: ' + wrong if wrong else 'fine'}", flush=True)
    for reason, times in sorted(reasons.items(), key=lambda one: -one[1])[:4]:
        print(f"    {times} times: {reason}", flush=True)
    return not wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--work", type=float, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--ways", default="usual,fine,wall,wait,heap,events")
    options = parser.parse_args()
    scratch = tempfile.mkdtemp(prefix="hcct-attach-")
    os.environ["XDG_CACHE_HOME"] = os.path.join(scratch, "cache")
    socket = os.path.join(scratch, "hcctd.sock")
    daemon = subprocess.Popen([HCCTD, "--socket", socket, "--report-dir", "none"])
    time.sleep(1)
    only = [one for one in options.only.split(",") if one]
    good = True
    try:
        for program in programs(scratch):
            if not only or any(one in program.name for one in only):
                good &= run(program, options.runs, options.work, socket, options.ways.split(","))
    finally:
        daemon.terminate()
        daemon.wait()
        shutil.rmtree(scratch, ignore_errors=True)
    sys.exit(0 if good else 1)


main()
