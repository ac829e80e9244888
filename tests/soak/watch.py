# SPDX-License-Identifier: LGPL-3.0-or-later
"""watch.py - what a soak knows of its daemon: questions over HTTP, memory and CPU time."""

import http.client
import json
import os
import socket
import time
import urllib.parse

TICKS = os.sysconf("SC_CLK_TCK")


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("hcct", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def ask(path, target, timeout=120):
    """(status, body)"""
    connection = UnixConnection(path, timeout)
    try:
        connection.request("GET", target)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def memory(pid):
    """(resident, largest ever) in bytes"""
    with open(f"/proc/{pid}/status") as file:
        fields = dict(line.split(":", 1) for line in file if ":" in line)
    return int(fields["VmRSS"].split()[0]) * 1024, int(fields["VmHWM"].split()[0]) * 1024


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


# Of each executable in turn: {exe}.
QUESTIONS = ["/v1/processes", "/metrics", "/v1/hot?exe={exe}&format=json",
             "/v1/hot?exe={exe}&format=text&by=line", "/v1/hot?exe={exe}&format=pprof",
             "/v1/hot?exe={exe}&format=html", "/v1/hot?exe={exe}&format=folded&by=module",
             "/v1/hot?exe={exe}&format=speedscope&phi=0.01"]


class Questions:
    """Asks in turn all that can be asked, and keeps what went wrong."""

    def __init__(self, path):
        self.path, self.asked, self.slowest, self.slowest_of = path, 0, 0.0, ""
        self.errors, self.executables, self.last = [], [], ""

    def ask_next(self):
        """404 is an answer, too: the daemon may have forgotten an executable meanwhile."""
        n = len(self.executables)
        exe = urllib.parse.quote(self.executables[self.asked % n]) if n > 0 else "none"
        target = QUESTIONS[self.asked % len(QUESTIONS)].format(exe=exe)
        self.asked += 1
        began = time.monotonic()
        try:
            status, body = ask(self.path, target)
        except (OSError, http.client.HTTPException) as reason:
            self.errors.append(f"{target}: {reason!r}")
            return
        took = time.monotonic() - began
        if took > self.slowest:
            self.slowest, self.slowest_of = took, target
        self.last = target
        if status != 200 and status != 404:
            self.errors.append(f"{target}: {status} {body[:200]!r}")

    def gauge(self, name):
        """A figure of /metrics, of all processes together."""
        status, body = ask(self.path, "/metrics")
        if status != 200:
            raise OSError(f"/metrics: {status}")
        return sum(float(line.rsplit(" ", 1)[1]) for line in body.decode().splitlines()
                   if line.startswith((f"hcct_process_{name}{{", f"hcct_finished_{name} ")))

    def totals(self):
        """Sums over all processes that the daemon knows."""
        status, body = ask(self.path, "/v1/processes")
        if status != 200:
            raise OSError(f"/v1/processes: {status}")
        processes = json.loads(body)["processes"]
        self.executables = sorted({p["exe"] for p in processes})
        fields = ("runs", "walks", "lost", "bytes", "broken_rings", "refused")
        totals = {field: sum(p.get(field, 0) for p in processes) for field in fields}
        totals["windows"] = self.gauge("window_bytes")
        totals["live"] = sum(p["state"] == "live" for p in processes)
        totals["profiles"] = len(processes)
        return totals
