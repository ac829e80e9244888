# SPDX-License-Identifier: LGPL-3.0-or-later
"""What hcctd has rendered by processes of their own: whatever becomes of these, it costs one answer. Killed,
stopped, out of memory or time, their server too; nothing of the daemon's is in them, nothing of them is left."""

import glob
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time

import support
from support import HCCT, Daemon, check, children, finish, run, scratch
from wire_support import Agent

FORMATS = ["text", "folded", "callgrind", "speedscope", "firefox", "html", "dot", "page-data"]
SLOW = "a" + "%2B" * 30  # a++++...: the C library needs gigabytes for it, and some time to see that
ANSWERS = 1000
SLOTS = 4  # RENDER_SLOTS_USER


class Answer(threading.Thread):
    """One question, asked in a thread: status and body."""

    def __init__(self, path, request, method="GET"):
        super().__init__()
        self.path, self.request, self.method = path, request, method
        self.status, self.body = None, b""
        self.start()

    def run(self):
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(300)
            s.connect(self.path)
            s.sendall(f"{self.method} {self.request} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
                      f"Content-Length: 0\r\n\r\n".encode())
            parts = []
            while part := s.recv(1 << 20):
                parts.append(part)
            whole = b"".join(parts)
        head, _, self.body = whole.partition(b"\r\n\r\n")
        self.status = int(head.split()[1]) if head else None

    def done(self):
        self.join()
        return self


def ask(daemon, request, method="GET"):
    return Answer(daemon.socket, request, method).done()


def name(pid):
    try:
        return open(f"/proc/{pid}/comm").read().strip()
    except OSError:
        return None


def state(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return None


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    return condition()


def server(daemon):
    return next((p for p in children(daemon.process.pid) if name(p) == "hcctd-render"), None)


def renderer(daemon):
    """That of the slow answer."""
    def find():
        of = server(daemon)
        return next((p for p in children(of) if name(p) == "hcctd-renderer"), None) if of else None
    return wait_until(find)


def descriptors(pid):
    return {os.readlink(f"/proc/{pid}/fd/{fd}").split(":")[0] for fd in os.listdir(f"/proc/{pid}/fd")}


def fill(daemon):
    agent = Agent(daemon.socket)
    for n in range(50):
        agent.put([word for place in (1, 2 + n % 3, 5) for word in (2 << 60 | place, place)] + [3 << 60 | 1, 1 << 60 | 3])
    daemon.wait_for(lambda p: p["contexts"] > 2)
    return agent


def kill_server(daemon):
    pid = server(daemon)
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: state(pid) in (None, "Z"))


def quiet(daemon):
    """No renderer is there, and none that is about to end."""
    return wait_until(lambda: server(daemon) is None or not children(server(daemon)))


def slow(daemon):
    quiet(daemon)
    return Answer(daemon.socket, "/v1/hot?focus=" + SLOW)


def works(daemon, what):
    answers = [ask(daemon, f"/v1/hot?format={form}") for form in FORMATS]
    check({a.status for a in answers} == {200} and all(a.body for a in answers),
          f"{what}, all formats are answered: {[a.status for a in answers]}")


def lives_beside(daemon, asked):
    """While a slow answer is rendered, others are given."""
    others = [ask(daemon, r) for r in ("/v1/processes", "/metrics", "/v1/hot?format=json", "/v1/hot?format=text")]
    check(asked.is_alive() and {o.status for o in others} == {200},
          f"beside an answer that takes long, others are given: {[o.status for o in others]}")


def test_formats(daemon):
    works(daemon, "to begin with")
    answer = ask(daemon, "/v1/hot?format=json&focus=%5Enothing%24")
    check(answer.status == 200 and b"not in focus" in answer.body, "filters of plain formats are rendered, too")
    for wrong in ("focus=a(b", "ignore=%5B"):
        answer = ask(daemon, f"/v1/hot?format=json&{wrong}")
        check(answer.status == 400 and b"is no regular expression" in answer.body,
              f"{wrong} is refused: {answer.status} {answer.body[:80]}")


def test_confined(daemon):
    asked = slow(daemon)
    pid = renderer(daemon)
    for _ in range(500):  # as it begins it has its parent's
        if len(os.listdir(f"/proc/{pid}/fd")) == 6:
            break
        time.sleep(0.01)
    os.kill(pid, signal.SIGSTOP)
    check(descriptors(pid) <= {"/dev/null", "/memfd", "socket"} and len(os.listdir(f"/proc/{pid}/fd")) == 6,
          f"a renderer has order, answer and a socket: {descriptors(pid)}")
    check(wait_until(lambda: descriptors(server(daemon)) <= {"/dev/null", "socket", "anon_inode"}),
          f"the process that forks it has none of the daemon's: {descriptors(server(daemon))}")
    for of in (pid, server(daemon)):
        check(b"HCCT_TEST_SECRET" not in open(f"/proc/{of}/environ", "rb").read(), "nor has it the environment")
    status = dict(line.split(":", 1) for line in open(f"/proc/{pid}/status") if ":" in line)
    check(int(status["CapEff"], 16) == 0 and status["NoNewPrivs"].strip() == "1" and
          (os.geteuid() != 0 or status["Uid"].split()[0] != "0"), f"nor rights: {status['CapEff'].strip()}")
    lives_beside(daemon, asked)
    os.kill(pid, signal.SIGKILL)
    asked.done()
    check(asked.status == 500 and b"signal 9" in asked.body, f"one that is killed says so: {asked.status} {asked.body}")
    works(daemon, "after one was killed")


def test_stopped(daemon):
    asked = slow(daemon)
    pid = renderer(daemon)
    os.kill(pid, signal.SIGSTOP)
    asked.done()
    check(asked.status == 503 and b"took more than" in asked.body,
          f"one that hangs has a deadline: {asked.status} {asked.body}")
    check(wait_until(lambda: state(pid) in (None, "Z", "X")), "and is ended")
    works(daemon, "after one has hung")


def test_endless(daemon):
    asked = slow(daemon).done()
    check((asked.status == 503 and b"took more than" in asked.body) or
          (asked.status == 400 and b"Memory exhausted" in asked.body),
          f"one that takes all time or memory has its limits: {asked.status} {asked.body}")
    works(daemon, "after that one")


def test_crashed(daemon):
    asked = slow(daemon)
    os.kill(renderer(daemon), signal.SIGABRT)  # as abort() does
    asked.done()
    check(asked.status == 500 and b"signal 6" in asked.body, f"one that crashes costs its answer: {asked.body}")
    works(daemon, "after a crash")


def signal_all(daemon, number):
    """To all renderers: how many there are."""
    pids = children(server(daemon))
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass
    return len(pids)


def test_slots(daemon):
    quiet(daemon)
    asked = [Answer(daemon.socket, "/v1/hot?focus=" + SLOW) for _ in range(SLOTS + 2)]
    check(wait_until(lambda: signal_all(daemon, signal.SIGSTOP) == SLOTS), f"{SLOTS} answers of a user are rendered at once")
    time.sleep(0.2)
    check(len(children(server(daemon))) == SLOTS, "and no more")
    others = [ask(daemon, r).status for r in ("/v1/processes", "/v1/hot?format=json")]
    check(others == [200, 200] and all(a.is_alive() for a in asked), f"while what needs no renderer is answered: {others}")
    while any(a.is_alive() for a in asked):
        signal_all(daemon, signal.SIGKILL)
        time.sleep(0.01)
    check({a.status for a in asked} == {500}, "the others have their turn")


def test_gone(daemon):
    """The client does not wait: nor does the renderer, stopped or not."""
    quiet(daemon)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(daemon.socket)
        client.sendall(f"GET /v1/hot?focus={SLOW} HTTP/1.1\r\nHost: h\r\n\r\n".encode())
        pid = renderer(daemon)
        os.kill(pid, signal.SIGSTOP)
    check(wait_until(lambda: state(pid) in (None, "Z", "X"), 60), "a renderer ends when the client has gone")


def test_server_ended(daemon):
    old = server(daemon)
    asked = slow(daemon)
    pid = renderer(daemon)
    os.kill(old, signal.SIGKILL)
    asked.done()
    check(asked.status == 503 and b"ask again" in asked.body, f"their server's end costs what was under way: {asked.body}")
    check(wait_until(lambda: state(pid) in (None, "Z", "X")), "whose renderers end with it")
    works(daemon, "after that")
    check(server(daemon) not in (None, old), "by a new one")
    kill_server(daemon)
    works(daemon, "after its end while nobody asked")


def test_server_stopped(daemon):
    stopped = server(daemon)
    os.kill(stopped, signal.SIGSTOP)
    result = run([HCCT, "hot", "--socket", daemon.socket])
    check(result.status == 1 and result.err.startswith(b"hcct: rendering took more than ") and
          result.err.count(b"\n") == 1, f"hcct says why there is no answer: {result.status} {result.err}")
    daemon.process.send_signal(signal.SIGUSR1)
    # who comes is this process again, with nothing to report
    wait_until(lambda: glob.glob(daemon.reports + "/.hcct-*"), 5)
    agent = Agent(daemon.socket)
    check(ask(daemon, "/v1/processes").status == 200, "reports that hang keep nobody from asking, nor from coming")
    check(wait_until(lambda: b"rendering took" in open(scratch("hcctd.log"), "rb").read(), 60), "and have a deadline, too")
    os.kill(stopped, signal.SIGCONT)
    works(daemon, "when it goes on")
    del agent


def test_counted(daemon, *ends):
    counts = dict(re.findall(r'hcct_renderings_total\{end="(\w+)"\} (\d+)', ask(daemon, "/metrics").body.decode()))
    check(set(counts) == {"whole", "refused", "late", "killed"} and all(int(counts[end]) > 0 for end in ends),
          f"all that is counted: {counts}")


def test_snapshots(daemon):
    for _ in range(3):
        before = len(os.listdir(daemon.reports)) if os.path.isdir(daemon.reports) else 0
        daemon.process.send_signal(signal.SIGUSR1)
        check(wait_until(lambda: os.path.isdir(daemon.reports) and len(os.listdir(daemon.reports)) > before),
              "SIGUSR1 writes reports")
    answer = ask(daemon, "/v1/snapshot", "POST")
    check(answer.status == 200 and b".txt" in answer.body, f"so does a question: {answer.body[:80]}")
    wait_until(lambda: not glob.glob(daemon.reports + "/.hcct-*"))
    texts = [open(p).read() for p in glob.glob(daemon.reports + "/*.txt")]
    whole = [t for t in texts if "Hottest functions" in t and t.rstrip("\n").rsplit("\n", 1)[-1].startswith("cost ")]
    check(len(whole) >= 3, f"whole reports: {len(whole)} of {len(texts)}")


def test_nothing_left(daemon):
    def count():
        return [len(os.listdir(f"/proc/{p}/fd")) for p in (daemon.process.pid, server(daemon))]
    ask(daemon, "/v1/hot")
    time.sleep(0.1)
    before = count()
    wrong = [s for n in range(ANSWERS)
             if (s := ask(daemon, "/v1/hot?" + ("format=folded" if n % 3 else "focus=a(b")).status) not in (200, 400)]
    check(not wrong, f"{ANSWERS} answers: {wrong[:5]}")
    check(wait_until(lambda: sum(count()) <= sum(before) + 2, 10), f"no descriptor is left: {before}, {count()}")
    check(quiet(daemon), "no renderer, no zombie is left")
    check(all(state(p) != "Z" for p in children(daemon.process.pid)), "nor any of hcctd's own")


def test_end(daemon):
    asked = slow(daemon)
    pid, of = renderer(daemon), server(daemon)
    check(daemon.stop() == 0, "hcctd ends while an answer is rendered")
    asked.done()
    check(asked.status in (400, 503, None), f"which says so, if there is time: {asked.status} {asked.body[:80]}")
    check(wait_until(lambda: {state(pid), state(of)} <= {None, "Z", "X"}), "renderers and their server end with it")
    daemon.start()
    agent = fill(daemon)
    asked = slow(daemon)
    pid, of = renderer(daemon), server(daemon)
    daemon.process.kill()
    daemon.process.wait()
    check(wait_until(lambda: {state(pid), state(of)} <= {None, "Z", "X"}), "also when it is killed")
    asked.join()
    del agent


def test_replaced():
    """An upgrade has put another program in hcctd's place: none that could render."""
    program = scratch("hcctd")
    shutil.copy(support.HCCTD, program)
    kept, support.HCCTD = support.HCCTD, program
    with Daemon("--socket", scratch("replaced.sock"), socket=scratch("replaced.sock")) as daemon:
        agent = fill(daemon)
        os.unlink(program)
        shutil.copy("/bin/false", program)
        works(daemon, "when hcctd's file is another one")
        kill_server(daemon)
        works(daemon, "also by a new server")
        del agent
    support.HCCTD = kept


def test_without_proc():
    """Nor is /proc needed to render, but for a new server."""
    hidden = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs none /proc && exec \"$@\"", "sh"]
    if os.environ.get("HCCT_SANITIZERS", "no") != "no":
        print("        (a sanitizer needs /proc)")
        return
    if os.geteuid() != 0 or subprocess.run([*hidden, "true"], stderr=subprocess.DEVNULL).returncode != 0:
        print("        (no namespace of mounts can be had)")
        return
    with Daemon(socket=scratch("hidden.sock"), under=hidden) as daemon:
        agent = fill(daemon)
        works(daemon, "without /proc")
        kill_server(daemon)
        answer = ask(daemon, "/v1/hot")
        check(answer.status == 503 and b"/proc/self/exe" in answer.body, f"a new server needs it: {answer.body}")
        check(ask(daemon, "/v1/hot?format=json").status == 200, "plain formats do not")
        del agent


os.environ["HCCT_TEST_SECRET"] = "x" * 20
# A machine that is busy is given time: what is ended for its deadline is the second one's.
with Daemon("--render-time", "600") as main:
    main_agent = fill(main)
    for test in (test_formats, test_confined, test_crashed, test_slots, test_gone, test_server_ended,
                 lambda daemon: test_counted(daemon, "whole", "refused", "killed"), test_snapshots, test_nothing_left, test_end):
        test(main)
    main.start()
with Daemon("--render-time", "6") as hasty:
    hasty_agent = fill(hasty)
    for test in (test_formats, test_stopped, test_endless, test_server_stopped,
                 lambda daemon: test_counted(daemon, "whole", "late")):
        test(hasty)
test_replaced()
test_without_proc()
finish()
