# SPDX-License-Identifier: LGPL-3.0-or-later
"""What the client's tests share: running hcct, a fake hcctd, a small profile."""
import gzip
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest

import fake_hcctd

# nohup's children, and those of shells' background jobs, begin with these ignored
for number in (signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)

BUILD = os.environ["HCCT_BUILDDIR"]
SOURCE = os.environ["HCCT_SRCDIR"]
HCCT = os.path.join(BUILD, "client/hcct")
FAKE_DAEMON = os.path.join(SOURCE, "tests/client/fake_hcctd.py")
EMPTY_AGENT = os.path.join(BUILD, "tests/client/empty_agent.so")
INSTRUMENTED = os.path.join(BUILD, "tests/client/instrumented_target")
LIBRARIES = os.path.join(BUILD, "tests/client")
LIBRARY_USER = os.path.join(LIBRARIES, "library_user")
STATIC_TARGET = os.path.join(BUILD, "tests/client/static_target")

# the thread sanitizer takes signals for itself, and passes them on late or never
needs_signals = unittest.skipIf("thread" in os.environ.get("HCCT_SANITIZERS", ""),
                                "signals are not themselves under the thread sanitizer")

LIVE = {"pid": 4711, "exe": "/opt/app/server", "command": "server", "state": "live",
        "since": 1700000000, "runs": 1, "threads": 3, "cpu_ns": 12_340_000_000,
        "total_ns": 12_300_000_000, "walks": 1234, "complete": 1230, "shipped": 2, "lost": 5,
        "contexts": 321, "monitored": 100, "bytes": 123456, "rate": 100,
        "collector": "walks", "kind": "walks"}
CALLING = {**LIVE, "collector": "calls", "kind": "calls", "calls": 262_143_112, "walks": 0}
del CALLING["total_ns"]
FINISHED = {**LIVE, "pid": 0, "exe": "/usr/bin/cc1", "command": "cc1", "state": "finished",
            "runs": 17}


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def small_profile():
    """main -> work, 3 s of CPU time, as another tool would write it, in the format of pprof."""
    strings = ["", "cpu", "nanoseconds", "main", "work", "app.c", "/opt/app/server"]
    data = block(1, number(1, 1) + number(2, 2))
    data += block(2, block(1, varint(2) + varint(1)) + block(2, varint(3_000_000_000)))
    data += block(3, number(1, 1) + number(2, 0x1000) + number(3, 0x9000) + number(5, 6))
    for i in (1, 2):
        line = number(1, i) + number(2, 10 * i)
        data += block(4, number(1, i) + number(2, 1) + number(3, 0x1000 + 16 * i) + block(4, line))
        data += block(5, number(1, i) + number(2, 2 + i) + number(3, 2 + i) + number(4, 5))
    for text in strings:
        data += block(6, text.encode())
    return gzip.compress(data, mtime=0)


class ClientTest(unittest.TestCase):
    """Each test has a directory of its own, where commands run and the runtime directory is."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="hcct-test-", dir="/tmp")
        self.addCleanup(holder.cleanup)
        self.directory = holder.name
        self.runtime = self.path("runtime")
        os.mkdir(self.runtime)
        with open(self.path("profile"), "wb") as file:
            file.write(small_profile())
        self.environment = {
            **{name: value for name, value in os.environ.items() if name != "COLUMNS"},
            "XDG_RUNTIME_DIR": self.runtime, "HCCT_DAEMON": FAKE_DAEMON,
            "XDG_CACHE_HOME": self.path("cache"),
            "HCCT_AGENT": EMPTY_AGENT, "FAKE_LOG": self.path("log"),
            "FAKE_PROFILE": self.path("profile"),
            "FAKE_PROCESSES": json.dumps([LIVE]),
        }

    def path(self, name):
        return os.path.join(self.directory, name)

    def start(self, *words, environment=None, **more):
        return subprocess.Popen([HCCT, *words], cwd=self.directory, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env={**self.environment, **(environment or {})}, **more)

    def hcct(self, *words, environment=None, **more):
        """Runs hcct; its exit status, stdout (bytes) and stderr (text)."""
        process = self.start(*words, environment=environment, **more)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err.decode()

    def log(self):
        with open(self.path("log"), encoding="ascii") as file:
            return file.read().splitlines()

    def serve(self, **environment):
        """A fake hcctd at the default socket path."""
        os.makedirs(os.path.join(self.runtime, "hcct"), mode=0o755)
        path = os.path.join(self.runtime, "hcct/hcctd.sock")
        read_end, write_end = os.pipe()
        daemon = os.fork()  # an interpreter that has all it needs: a new one takes a tenth of a second
        if daemon == 0:
            try:
                os.close(read_end)
                os.environ.update(self.environment, **environment)
                fake_hcctd.main(["--socket", path, "--ready-fd", str(write_end)])
            finally:
                os._exit(1)
        os.close(write_end)
        self.assertEqual(os.read(read_end, 1), b"\n")
        os.close(read_end)
        self.addCleanup(lambda: (os.kill(daemon, signal.SIGKILL), os.waitpid(daemon, 0)))
        return path

    def wait_for_file(self, name):
        for _ in range(12000):
            if os.path.exists(self.path(name)):
                return
            time.sleep(0.01)
        self.fail(f"{name} did not appear")
