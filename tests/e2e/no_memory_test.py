"""hcctd without memory: a query costs its answer, never the daemon."""

import http.client
import json
import os
import random
import socket

from support import Daemon, check, finish, skip
from wire_support import Agent

if os.environ.get("HCCT_SANITIZERS", "no") != "no":
    skip("a sanitizer takes address space of its own, and ends the program when there is none")

CONTEXTS = 160000
STACKS = 40
FORMATS = ["text", "json", "pprof", "folded", "callgrind", "speedscope", "firefox", "html", "dot"]
STEPS = 3  # limits between what hcctd takes without questions and more than it takes with one
ROUNDS = 2
ROOM = 24 << 20  # beyond that, for answers that take more


class Client(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("hcct", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def ask(path, request):
    """Status and body; None: there was not even memory for a thread to say no."""
    client = Client(path)
    try:
        client.request("GET", request)
        answer = client.getresponse()
        return answer.status, answer.read()
    except (http.client.HTTPException, OSError):
        return None, b""
    finally:
        client.close()


def address_space(pid):
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("VmSize:"):
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
    most = address_space(daemon.process.pid)
print(f"        {least >> 20} MB of address space at first, {most >> 20} MB after a question")

counts = {200: 0, 500: 0, None: 0}
for step in range(STEPS):
    limit = least + (most + ROOM - least) * step // STEPS
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
        check(daemon.processes() != [], "and answers what takes little")
check(counts[500] > 0 and counts[200] > 0 and set(counts) == {200, 500, None},
      f"{counts[500]} questions were refused, {counts[200]} answered, {counts[None]} found no thread")
finish()
