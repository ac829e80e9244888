# SPDX-License-Identifier: LGPL-3.0-or-later
"""hcctd without memory: a query costs its answer, never the daemon."""

import http.client
import json
import os
import random
import resource
import signal
import socket
import threading
import time

from support import Daemon, check, finish, scratch, skip
from wire_support import Agent

if os.environ.get("HCCT_SANITIZERS", "no") != "no":
    skip("a sanitizer takes address space of its own, and ends the program when there is none")

CONTEXTS = 160000
MILLION = 1200000  # so many stacks have a million contexts
STACKS = 40
FORMATS = ["text", "json", "pprof", "folded", "callgrind", "speedscope", "firefox", "html", "dot"]
STEPS = 3  # limits from what hcctd takes without questions to more than it takes with any of them
ROUNDS = 2
QUESTIONS = 20
ROOM = 64 << 20  # beyond that


class Client(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("hcct", timeout=3000)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def ask(path, request):
    """Status and body; None: there was no answer."""
    client = Client(path)
    try:
        client.request("GET", request)
        answer = client.getresponse()
        return answer.status, answer.read()
    except (http.client.HTTPException, OSError):
        return None, b""
    finally:
        client.close()


def take_all_room(pid):
    """From now on the process gets not one page of address space more."""
    resource.prlimit(pid, resource.RLIMIT_AS, (4096, resource.RLIM_INFINITY))


def address_space(pid, what="VmSize"):
    for line in open(f"/proc/{pid}/status"):
        if line.startswith(what + ":"):
            return int(line.split()[1]) << 10
    return 0


def fill(daemon, contexts=CONTEXTS, seconds=5):
    """A process with many contexts, of the few frames that need no module."""
    random.seed(1)
    agent = Agent(daemon.socket)
    for _ in range(contexts // STACKS // 20):
        words = []
        for _ in range(20):
            for place in [random.randrange(1, 6) for _ in range(STACKS)]:
                words += [2 << 60 | place, place]
            words += [3 << 60 | 1, 1 << 60 | STACKS]
        agent.put(words)
    return daemon.wait_for(lambda p: p["contexts"] > contexts // 2, seconds), agent


def limited(bytes_):
    limit = [] if bytes_ == 0 else ["sh", "-c", f"ulimit -v {bytes_ >> 10}; exec \"$@\"", "sh"]
    return Daemon("--summary", "exact", "--memory-limit", "256M", under=limit)


with limited(0) as daemon:
    listed, agent = fill(daemon)
    check(listed, f"a process has many contexts: {listed and listed['contexts']}")
    least = address_space(daemon.process.pid)
    status, body = ask(daemon.socket, "/v1/hot?format=json&phi=1e-12")
    check(status == 200 and json.loads(body)["format"] == "hcct-profile", "with memory, all is answered")
    check({ask(daemon.socket, f"/v1/hot?format={form}&phi=1e-12")[0] for form in FORMATS} == {200},
          "in all formats")
    most = address_space(daemon.process.pid, "VmPeak")
print(f"        {least >> 20} MB of address space at first, {most >> 20} MB at most")

counts = {200: 0, 500: 0}
for step in range(STEPS):
    limit = least + (most + ROOM - least) * step // (STEPS - 1)
    with limited(limit) as daemon:
        try:
            listed, agent = fill(daemon)
        except (TypeError, SystemExit):  # not even memory for a session
            listed = None
        for form in FORMATS * ROUNDS:
            status, body = ask(daemon.socket, f"/v1/hot?format={form}&phi=1e-12")
            counts[status] = counts.get(status, 0) + 1
            if status == 500 and b"no memory" not in body:
                check(False, f"{form} is refused for want of memory: {body[:200]!r}")
            if daemon.process.poll() is not None:
                break
        check(daemon.process.poll() is None, f"hcctd lives with {limit >> 20} MB, {listed and listed['contexts']} contexts: {counts}")
        check(ask(daemon.socket, "/v1/processes")[0] == 200, "and answers what takes little")
check(counts[500] > 0 and counts[200] > 0 and set(counts) == {200, 500},
      f"{counts[500]} questions were refused, {counts[200]} answered: {counts}")

def snapshot(daemon, seconds=120):
    """What hcctd says of a report that is asked for by SIGUSR1."""
    end, said = time.monotonic() + seconds, ""
    log = open(scratch("hcctd.log"))
    log.seek(0, os.SEEK_END)
    daemon.process.send_signal(signal.SIGUSR1)
    while time.monotonic() < end and not said.endswith("\n"):
        said += log.read()
        time.sleep(0.1)
    return said.strip()


# a million contexts, and hardly any room
with Daemon("--summary", "exact", "--memory-limit", "2G", "--render-time", "1000") as daemon:
    listed, agent = fill(daemon, MILLION, 120)
    pid = daemon.process.pid
    check(listed and listed["contexts"] > 900000, f"a process has a million contexts: {listed and listed['contexts']}")
    resource.prlimit(pid, resource.RLIMIT_AS, (address_space(pid) + (80 << 20), resource.RLIM_INFINITY))
    answers = {form: ask(daemon.socket, f"/v1/hot?format={form}") for form in FORMATS}
    check(all(status == 200 or (status == 500 and body.count(b"\n") == 1) for status, body in answers.values()),
          f"with 80 MB more each format is answered, or refused by a sentence: "
          f"{ {form: (status, len(body)) for form, (status, body) in answers.items()} }")
    check(all(status == 200 for form, (status, _) in answers.items() if form not in ("json", "pprof")),
          "what is rendered elsewhere is answered")
    said = snapshot(daemon)
    check("wrote" in said or "no memory" in said, f"SIGUSR1 writes a report, or says why not: {said}")
    check(daemon.process.poll() is None and ask(daemon.socket, "/v1/processes")[0] == 200, "hcctd lives, and answers")
    resource.prlimit(pid, resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    status, body = ask(daemon.socket, "/v1/hot?n=5")
    check(status == 200 and b"Hottest functions" in body, f"with memory, the next answer is right: {status}")
    check("wrote" in snapshot(daemon), "and SIGUSR1 writes the report")

# before the first question, so that no thread has been made for one
with Daemon("--report-dir", "none") as daemon:
    take_all_room(daemon.process.pid)
    answers = {ask(daemon.socket, "/v1/processes")[0] for _ in range(QUESTIONS)}
    check(answers == {200}, f"without room for a thread, the list is answered {QUESTIONS} times: {answers}")
    status, body = ask(daemon.socket, "/debug/pprof/cmdline")
    check(status == 200 and b"hcctd" in body, "and so is what it was started with")
    answers = set()
    askers = [threading.Thread(target=lambda: answers.add(ask(daemon.socket, "/metrics")[0]))
              for _ in range(QUESTIONS)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    check(answers == {200}, f"also when all ask at once: {answers}")
finish()
