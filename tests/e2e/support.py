# SPDX-License-Identifier: LGPL-3.0-or-later
"""support.py - what the end-to-end tests share: run a program under `hcct record`, read the profile.

Each test is a script of its own: exit 0 when all checks held, 77 to skip, 1 otherwise. A check
prints one line, so that a failing log reads like its result.
"""

import atexit
import glob
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

BUILD = os.environ.get("HCCT_BUILDDIR", os.getcwd())
HCCT = os.path.join(BUILD, "client", "hcct")
HCCTD = os.path.join(BUILD, "daemon", "hcctd")
AGENT = os.path.join(BUILD, "preload", "libhcctagent.so")
TARGETS = os.path.join(BUILD, "tests", "targets")

os.environ.pop("COLUMNS", None)  # reports are as wide as they are
# nohup's children, and those of shells' background jobs, begin with these ignored
for _number in (signal.SIGHUP, signal.SIGQUIT):
    signal.signal(_number, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)

_failed = 0
_scratch = tempfile.mkdtemp(prefix="hcct-test-")
os.environ["XDG_CACHE_HOME"] = os.path.join(_scratch, "cache")  # daemons keep unwind tables there


@atexit.register
def end_all():
    """A test that was given up leaves no process behind: what it has started has its cache directory."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as environ:
                ours = _scratch.encode() + b"/cache" in environ.read()
            if ours and int(pid) != os.getpid():
                os.kill(int(pid), signal.SIGKILL)
        except OSError:
            pass  # it has ended, or is somebody else's


def scratch(name):
    """A path in this test's own directory, which is removed at the end."""
    return os.path.join(_scratch, name)


def children(pid):
    """Of all threads of a process; one may end while this looks."""
    found = []
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        try:
            with open(path) as file:
                found += map(int, file.read().split())
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found


def check(condition, what):
    global _failed
    print("NOT SO  " + what if not condition else "ok      " + what.split("\n", 1)[0], flush=True)
    if not condition:
        _failed += 1
    return condition


def skip(why):
    print("skipped: " + why)
    shutil.rmtree(_scratch, ignore_errors=True)
    sys.exit(77)


def need(*programs):
    for program in programs:
        if shutil.which(program) is None:
            skip(f"{program} is not installed")


def finish():
    shutil.rmtree(_scratch, ignore_errors=True)
    sys.exit(1 if _failed else 0)


def target(name):
    return os.path.join(TARGETS, name)


class Result:
    """One run: status, outputs, and the CPU time that the kernel counted for it and its children."""

    def __init__(self, status, out, err, cpu):
        self.status, self.out, self.err, self.cpu = status, out, err, cpu


def run(command, env=None, stdin=None, timeout=300):
    """Runs a command to its end. CPU time is that of the command and all it has waited for."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            command, stdin=stdin or subprocess.DEVNULL, stdout=out, stderr=err,
            env={**os.environ, **(env or {})})
        deadline = time.monotonic() + timeout
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid != 0:
                break
            if time.monotonic() > deadline:
                process.kill()
                os.waitpid(process.pid, 0)
                raise SystemExit(f"timed out: {command}")
            time.sleep(0.01)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return Result(process.returncode, out.read(), err.read(), usage.ru_utime + usage.ru_stime)


def record(command, output, *options, **kwargs):
    """Runs a command under `hcct record`, the profile goes to the file `output`."""
    return run([HCCT, "record", "-o", output, *options, "--", *command], **kwargs)


def report(path, *options, form="json"):
    """A profile file through `hcct report`; JSON comes parsed, anything else as text."""
    result = run([HCCT, "report", path, "--format", form, *options])
    if result.status != 0:
        raise SystemExit(f"hcct report failed: {result.err.decode()}")
    return json.loads(result.out) if form == "json" else result.out.decode()


def folded(path, *options):
    """[(frames, weight)], outermost frame first; frames[0] is the process."""
    lines = report(path, *options, form="folded").splitlines()
    return [(line.rsplit(" ", 1)[0].split(";"), int(line.rsplit(" ", 1)[1])) for line in lines]


def weights(path, names):
    """{name: weight of all contexts with a frame of that name} of a profile."""
    sums = dict.fromkeys(names, 0)
    for frames, weight in folded(path):
        for name in names:
            if name in frames:
                sums[name] += weight
    return sums


def wait_for_checkpoints(directory, seconds=60):
    """Until hcctd has written a checkpoint that began after this call: the second one from now on."""
    path = os.path.join(directory, "hcctd.state")
    deadline, seen = time.monotonic() + seconds, set()
    while time.monotonic() < deadline and len(seen) < 3:
        seen.add(os.stat(path).st_mtime_ns if os.path.exists(path) else None)
        time.sleep(0.05)
    return len(seen) == 3


class Daemon:
    """A private hcctd; `with` it, or start and stop it by hand."""

    def __init__(self, *options, socket=None, under=()):
        """`under`: the words of a command line that runs hcctd."""
        self.under = under
        self.socket = socket or scratch("hcctd.sock")
        self.reports = scratch("reports")
        self.options = options
        self.process = None

    def start(self):
        ready_read, ready_write = os.pipe()
        os.set_inheritable(ready_write, True)
        self.process = subprocess.Popen(
            [*self.under, HCCTD, "--socket", self.socket, "--report-dir", self.reports,
             "--ready-fd", str(ready_write), *self.options],
            close_fds=False, stderr=open(scratch("hcctd.log"), "a"))
        os.close(ready_write)
        ready = os.read(ready_read, 1)
        os.close(ready_read)
        if ready != b"\n":
            raise SystemExit("hcctd did not start: " + open(scratch("hcctd.log")).read())
        return self

    def stop(self, how=signal.SIGTERM):
        """Its exit status; its last words are printed where that is not as expected."""
        self.process.send_signal(how)
        status = self.process.wait(180)  # the machine may have other work
        if status not in (0, -how):
            print(open(scratch("hcctd.log")).read()[-8000:], flush=True)
        return status

    def __enter__(self):
        return self.start()

    def __exit__(self, *unused):
        if self.process.poll() is None:
            check(self.stop() == 0, "hcctd ends with status 0")

    def env(self, **more):
        return {"HCCT_SOCKET": self.socket, "LD_PRELOAD": AGENT, **more}

    def processes(self):
        """What `hcct list --format json` says: it is asked for ten times a second, too often for a process."""
        connection = http.client.HTTPConnection("hcct")
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(300)
        try:
            connection.sock.connect(self.socket)
            connection.request("GET", "/v1/processes")
            answer = connection.getresponse()
            said = answer.read()
            return json.loads(said)["processes"] if answer.status == 200 else []
        except TimeoutError:
            raise SystemExit("timed out: the list of processes") from None
        except (OSError, http.client.HTTPException):
            return []  # there is no hcctd
        finally:
            connection.close()

    def wait_for(self, want, seconds=60):
        """The first process of which `want` says yes, or None when none comes in time."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for process in self.processes():
                if want(process):
                    return process
            time.sleep(0.1)
        return None
