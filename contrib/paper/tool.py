# SPDX-License-Identifier: LGPL-3.0-or-later
"""tool.py - hcct's commands, as the measurements use them."""

import json
import os
import signal
import subprocess
import tempfile
import threading
import time

import pprof

RUN_SECONDS = 3600
MEMORY = "4G"  # for one tree: exact ones are large
REPLAY = ["--memory-limit", MEMORY, "--no-report"]
ALL = ["--phi", "1e-9", "--epsilon", "1e-10"]  # nothing is pruned from what is written
# Of an exact tree of millions of contexts: all that can matter at the phis that are compared.
MOST = ["--phi", "2e-7", "--epsilon", "1e-10"]


class Failed(Exception):
    """A command did not do what it should; says which and why."""


class Run:
    """A command run to its end: CPU seconds of it and of what it has waited for, seconds by the
    clock. Its output is nobody's."""

    def __init__(self, command, stdin=None, env=None, cwd=None):
        began = time.monotonic()
        with open(stdin or os.devnull) as given, tempfile.TemporaryFile() as err:
            process = subprocess.Popen(command, stdin=given, stdout=subprocess.DEVNULL, stderr=err,
                                       cwd=cwd, env={**os.environ, **(env or {})})
            killer = threading.Timer(RUN_SECONDS, process.kill)
            killer.start()
            _, status, usage = os.wait4(process.pid, 0)
            killer.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
            err.seek(0)
            self.said = err.read()[-500:].decode(errors="replace").strip()
        self.pid, self.elapsed = process.pid, time.monotonic() - began
        self.cpu = usage.ru_utime + usage.ru_stime
        if process.returncode != 0:
            raise Failed(f"{' '.join(command)} ended with {process.returncode}: {self.said}")


class Task:
    """A program with something to do: built, and its arguments and input."""

    def __init__(self, built, units, directory):
        self.built, self.units = built, units
        self.arguments, self.stdin = built.program.work(directory, units)
        self.directory = directory  # where it runs: it may leave files there

    def command(self, flavour):
        return [self.built.path(flavour), *self.arguments]

    def run(self, flavour, env=None):
        return Run(self.command(flavour), self.stdin, env, self.directory)


class Tool:
    def __init__(self, build, directory):
        self.hcct = os.path.join(build, "client", "hcct")
        self.hcctd = os.path.join(build, "daemon", "hcctd")
        self.agent = os.path.join(build, "preload", "libhcctagent.so")
        self.directory = directory

    def path(self, name):
        return os.path.join(self.directory, name)

    def summaries(self):
        """Names of the kinds that hcct knows, the exact one not among them."""
        done = subprocess.run([self.hcct, "record", "--summary", "?", "--", "true"],
                              capture_output=True, text=True)
        known = done.stderr.partition("there are:")[2].replace(",", " ").split()
        if not known:
            raise Failed(f"hcct does not tell its summaries: {done.stderr.strip()}")
        return [name for name in known if name != "exact"]

    def record(self, task, output, *options, flavour="hooks"):
        """A run under hcct record that counts calls; gives the profile."""
        command = [self.hcct, "record", "--collector", "calls", *options, "--no-report",
                   "-o", output, "--", *task.command(flavour)]
        if os.path.exists(output):
            os.unlink(output)
        run = Run(command, task.stdin, cwd=task.directory)
        if not os.path.exists(output):
            raise Failed(run.said)
        return pprof.Profile(output)

    def replay(self, trace, output, summary, phi, epsilon):
        Run([self.hcct, "replay", trace, "--summary", summary, "--phi", f"{phi:.9g}",
             "--epsilon", f"{epsilon:.9g}", *REPLAY, "-o", output])
        return pprof.Profile(output)

    def replay_exact(self, trace, output):
        Run([self.hcct, "replay", trace, "--summary", "exact", *MOST, *REPLAY, "-o", output])
        return pprof.Profile(output)

    def merge(self, profiles, output):
        Run([self.hcct, "merge", "-o", output, *profiles])

    def evaluate(self, exact, approx, phi, taus=()):
        """The answer of hcct eval, JSON."""
        command = [self.hcct, "eval", "--exact", exact, "--approx", approx, "--phi", f"{phi:.9g}",
                   "--format", "json"]
        if taus:
            command += ["--tau", ",".join(f"{tau:.9g}" for tau in taus)]
        done = subprocess.run(command, capture_output=True, timeout=RUN_SECONDS)
        if done.returncode != 0:
            raise Failed(f"hcct eval: {done.stderr.decode(errors='replace').strip()}")
        return json.loads(done.stdout)


class Daemon:
    """A hcctd of our own with the given options, for one run of a program. A daemon serves programs
    without being waited for by them, so that their CPU time is theirs alone."""

    def __init__(self, tool, *options):
        self.tool, self.options = tool, options
        self.place = tempfile.TemporaryDirectory(prefix="hcct-")  # paths of sockets must be short
        self.socket = os.path.join(self.place.name, "hcctd.sock")

    def __enter__(self):
        ready, ready_end = os.pipe()
        os.set_inheritable(ready_end, True)
        with open(self.tool.path("hcctd.log"), "w") as log:
            self.process = subprocess.Popen(
                [self.tool.hcctd, "--socket", self.socket, "--report-dir", "none",
                 "--memory-limit", MEMORY, "--ready-fd", str(ready_end), *self.options],
                close_fds=False, stderr=log)
        os.close(ready_end)
        byte = os.read(ready, 1)
        os.close(ready)
        if byte != b"\n":
            self.process.wait()
            self.place.cleanup()
            with open(self.tool.path("hcctd.log")) as log:
                raise Failed("hcctd did not start: " + log.read().strip())
        return self

    def __exit__(self, *unused):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        self.place.cleanup()

    def env(self, **more):
        return {"LD_PRELOAD": self.tool.agent, "HCCT_SOCKET": self.socket,
                "HCCT_COLLECTOR": "calls", **more}

    def cpu(self):
        """CPU seconds so far: the clock of clock_getcpuclockid."""
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def finished(self, pid, seconds=60):
        """Waits until the daemon has read all of a process that has ended."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            done = subprocess.run([self.tool.hcct, "list", "--socket", self.socket, "--format",
                                   "json"], capture_output=True)
            processes = json.loads(done.stdout)["processes"] if done.returncode == 0 else []
            for process in processes:
                if process["pid"] == pid and process["state"] == "finished":
                    return
            time.sleep(0.05)
        raise Failed("hcctd does not know of the program's end")
