"""hcctd without memory: a query costs its answer, never the daemon."""

import http.client
import json
import os
import random
import resource
import socket
import threading

from support import Daemon, check, finish, skip
from wire_support import Agent

if os.environ.get("HCCT_SANITIZERS", "no") != "no":
    skip("a sanitizer takes address space of its own, and ends the program when there is none")

CONTEXTS = 160000
STACKS = 40
FORMATS = ["text", "json", "pprof", "folded", "callgrind", "speedscope", "firefox", "html", "dot"]
STEPS = 3  # limits from what hcctd takes without questions to more than it takes with any of them
ROUNDS = 2
QUESTIONS = 20
ROOM = 64 << 20  # beyond that


class Client(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("hcct", timeout=60)
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


def fill(daemon):
    """A process with many contexts, of the few frames that need no module."""
    random.seed(1)
    agent = Agent(daemon.socket)
    for _ in range(CONTEXTS // STACKS // 20):
        words = []
        for _ in range(20):
            for place in [random.randrange(1, 6) for _ in range(STACKS)]:
                words += [2 << 60 | place, place]
            words += [3 << 60 | 1, 1 << 60 | STACKS]
        agent.put(words)
    return daemon.wait_for(lambda p: p["contexts"] > CONTEXTS // 2, 5), agent


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
