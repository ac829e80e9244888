"""Two users on one hcctd: what one of them makes up changes nothing for the other."""

import http.client
import os
import re
import socket
import subprocess

from support import Daemon, check, finish, scratch, skip, target
from users_support import OTHER, Other
from wire_support import Agent

if os.geteuid() != 0:
    skip("other users can be played by root only")

PAIRS = 1_500_000  # of (routine, site), more than one user may have
AT_ONCE = 500


def get(path, request):
    """Status and body."""
    client = http.client.HTTPConnection("hcct", timeout=60)
    client.sock = socket.socket(socket.AF_UNIX)
    client.sock.settimeout(60)
    client.sock.connect(path)
    client.request("GET", request)
    answer = client.getresponse()
    status, body = answer.status, answer.read()
    client.close()
    return status, body


def metric(daemon, name, uid=None):
    label = f'{{uid="{uid}"}}' if uid is not None else ""
    text = get(daemon.socket, "/metrics")[1].decode()
    found = re.search(rf"^{name}{re.escape(label)} (\S+)$", text, re.M)
    return float(found.group(1)) if found else None


def folded(daemon, pid):
    return get(daemon.socket, f"/v1/hot?pid={pid}&format=folded")[1].decode()


def flood(say, wait, path):
    """One pair after the other, each a context of its own."""
    agent = Agent(path)
    agent.module(0, 0x10000, 1 << 40, path="/nowhere/code")
    for begin in range(0, PAIRS, AT_ONCE):
        words = []
        for pair in range(begin, begin + AT_ONCE):
            words += [2 << 60 | 0x10000 + pair, 0x20000000 + pair, 3 << 60 | 1, 1 << 60 | 1]
        agent.put(words)
    say("done")
    wait()


def check_frames(daemon, app):
    other = Other(flood, daemon.socket)
    check(other.line() == "done", f"another user's program makes {PAIRS} pairs up")
    listed = daemon.wait_for(lambda p: p["pid"] == other.pid and p["total_ns"] == PAIRS)
    check(listed, "all of them are counted")
    limit, used = metric(daemon, "hcct_frames_limit"), metric(daemon, "hcct_frames", OTHER)
    check(0 < used <= limit < PAIRS and metric(daemon, "hcct_frame_sweeps_total") > 0,
          f"that user has {used:.0f} of {limit:.0f} frames: sweeps give back what is in no tree")
    check(metric(daemon, "hcct_frames_refused_total", 0) == 0, "this user has lacked none")
    late = subprocess.Popen([target("known_shares"), "600"], env=daemon.env(HCCT_RATE="250"),
                            stdout=subprocess.DEVNULL)
    check(daemon.wait_for(lambda p: p["pid"] == late.pid and p["walks"] > 20),
          "a program that comes now is profiled")
    for pid in (app.pid, late.pid):
        text = folded(daemon, pid)
        check("burn" in text and "[too many frames]" not in text, "all of its frames are known")
    late.kill()
    late.wait()
    other.go_on()
    check(other.end() == 0, "the other one ends")


with Daemon("--report-dir", "none") as daemon:
    os.chmod(scratch(""), 0o755)
    os.chmod(daemon.socket, 0o666)
    app = subprocess.Popen([target("known_shares"), "600"], env=daemon.env(HCCT_RATE="250"),
                           stdout=subprocess.DEVNULL)
    check(daemon.wait_for(lambda p: p["pid"] == app.pid and p["walks"] > 20), "a program is profiled")
    check_frames(daemon, app)
    app.kill()
    app.wait()
finish()
