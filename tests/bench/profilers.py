# SPDX-License-Identifier: LGPL-3.0-or-later
"""profilers.py - one run of a program, with and without something in its process.

Each profiler here is a preloaded library, and does its work in the program's own CPU time: that is
what is compared. An empty signal handler at the same rate is the least that any of them can cost.
"""

import os
import shutil
import signal
import struct
import subprocess
import tempfile
import threading
import time

from support import BUILD, Daemon, scratch

RUN_SECONDS = 300
EMPTY_HANDLER = os.path.join(BUILD, "tests", "bench", "empty_handler.so")
GPERFTOOLS = "libprofiler.so.0"
CLOCK_MONOTONIC_COARSE = 6  # its resolution is the kernel's tick
HZ = round(1 / time.clock_getres(CLOCK_MONOTONIC_COARSE))


class Sample:
    """One run: CPU seconds of the program, walks or ticks delivered, CPU seconds of the daemon."""

    def __init__(self, cpu, walks=None, beside=None):
        self.cpu, self.walks, self.beside = cpu, walks, beside


class Run:
    """A command run to its end. CPU time as the kernel counts it for the command and for what it
    waited for; nothing of ours wakes up meanwhile."""

    def __init__(self, command, stdin=os.devnull, env=None):
        began = time.monotonic()
        with open(stdin) as given, tempfile.TemporaryFile() as err:
            process = subprocess.Popen(command, stdin=given, stdout=subprocess.DEVNULL, stderr=err,
                                       env={**os.environ, **(env or {})})
            killer = threading.Timer(RUN_SECONDS, process.kill)
            killer.start()
            _, status, usage = os.wait4(process.pid, 0)
            killer.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
            err.seek(0)
            self.err = err.read().decode(errors="replace")
        self.pid, self.seconds = process.pid, time.monotonic() - began
        self.cpu = usage.ru_utime + usage.ru_stime
        if process.returncode != 0:
            raise SystemExit(f"{command} ended with {process.returncode}: {self.err}")


def run(program, env=None):
    return Run(program.command, program.stdin, env)


def plain(program):
    return Sample(run(program).cpu)


class Nobody:
    """The agent, and no daemon to talk to."""

    name = "hcct, no daemon"

    def env(self):
        return Daemon(socket=scratch("nobody.sock")).env()

    def __call__(self, program):
        return Sample(run(program, self.env()).cpu)


class EmptyHandler:
    """A timer and a handler that counts."""

    name = "empty handler"

    def __init__(self, rate):
        self.rate = rate

    def env(self):
        with open(scratch("ticks"), "wb"):
            pass  # back to 0
        return {"LD_PRELOAD": EMPTY_HANDLER, "EMPTY_HANDLER_RATE": str(self.rate),
                "EMPTY_HANDLER_COUNT": scratch("ticks")}

    def __call__(self, program):
        cpu = run(program, self.env()).cpu
        with open(scratch("ticks"), "rb") as file:
            return Sample(cpu, struct.unpack("=Q", file.read(8))[0])


def cpu_of(pid):
    """CPU seconds of another process: the clock of clock_getcpuclockid, finer than /proc's."""
    return time.clock_gettime((~pid << 3) | 2)


class Hcct:
    """The agent, and a daemon that serves all runs, as on a machine where it is always there."""

    name = "hcct"

    def __init__(self, rate, daemon):
        self.rate, self.daemon = rate, daemon

    def env(self):
        return self.daemon.env(HCCT_RATE=str(self.rate))

    def __call__(self, program):
        before = cpu_of(self.daemon.process.pid)
        done = run(program, self.env())
        time.sleep(0.2)  # for what the daemon has yet to read; it is asked only afterwards
        beside = cpu_of(self.daemon.process.pid) - before
        known = self.daemon.wait_for(
            lambda p: p["pid"] == done.pid and p["state"] == "finished" and p["runs"] == 1)
        if known is None:
            raise SystemExit(f"hcctd does not know of {program.name}")
        return Sample(done.cpu, known["walks"], beside)


class Gperftools:
    """Up to the kernel's tick as it comes, by ITIMER_PROF. That delivers no more than HZ; above,
    its timers of real time for each thread do, by the same signal: SIGALRM, which they would take
    otherwise, is in use in some programs."""

    name = "gperftools"

    def __init__(self, rate):
        self.rate = rate

    def env(self):
        env = {"LD_PRELOAD": GPERFTOOLS, "CPUPROFILE": scratch("gperftools"),
               "CPUPROFILE_FREQUENCY": str(self.rate)}
        if self.rate > HZ:
            env |= {"CPUPROFILE_REALTIME": "1", "CPUPROFILE_PER_THREAD_TIMERS": "1",
                    "CPUPROFILE_TIMER_SIGNAL": str(int(signal.SIGPROF))}
        return env

    def __call__(self, program):
        cpu = run(program, self.env()).cpu
        return Sample(cpu, gperftools_samples(scratch("gperftools")))


def gperftools_samples(profile):
    """Its file: five words of header, then (count, depth, depth addresses)..., to a count of 0."""
    with open(profile, "rb") as file:
        data = file.read()
    at, samples = 5, 0
    while (record := struct.unpack_from("=QQ", data, 8 * at))[0] != 0:
        samples += record[0]
        at += 2 + record[1]
    return samples


def kinds(daemon):
    """Functions that make a profiler of a rate; says which are not there."""
    if os.path.exists(EMPTY_HANDLER):
        yield EmptyHandler
    else:
        print(f"left out: the empty handler, as there is no {EMPTY_HANDLER}")
    yield lambda rate: Hcct(rate, daemon)
    if Run([shutil.which("true")], env={"LD_PRELOAD": GPERFTOOLS}).err:
        print(f"left out: {GPERFTOOLS} of gperftools is not installed")
    else:
        yield Gperftools
