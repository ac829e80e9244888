# SPDX-License-Identifier: LGPL-3.0-or-later
"""Namespaces of every kind, without a container engine: a program is recorded, profiled always on and
attached to there as elsewhere, or refused with the reason."""

import os
import platform
import re
import shutil
import signal
import struct
import subprocess
import time

from support import (AGENT, HCCT, Daemon, check, children, finish, folded, need, run, scratch, skip, target)

ATTACHES = platform.machine() == "x86_64"
LATE = os.path.join(os.path.dirname(AGENT), "libhcctattach.so")
NAMESPACES = ["--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
AS_USER = ["setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups"]
OTHER_USER = ["--uid", "1234", "--gid", "1234"]

need("unshare", "bwrap")
os.chmod(os.path.dirname(scratch("x")), 0o755)
if run(["bwrap", *NAMESPACES, "--ro-bind", "/", "/", "true"]).status != 0:
    skip("there can be no user namespace here")


def make_root():
    """A root directory that has a program of ours, its libraries, and nothing else."""
    root = scratch("root")
    for name in "dev", "proc", "tmp", "run/hcct", "opt":
        os.makedirs(os.path.join(root, name))
    program = os.path.join(root, "opt", "contained")
    shutil.copy(target("attach_shares"), program)
    shutil.copy(AGENT, os.path.join(root, "opt"))
    for library in re.findall(r"(/\S+) \(0x", run(["ldd", program]).out.decode()):
        os.makedirs(root + os.path.dirname(library), exist_ok=True)
        shutil.copy(os.path.realpath(library), root + library)
    return root


def named(name, above):
    """The descendant of that name."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        todo = [above]
        while todo:
            pid = todo.pop()
            try:
                with open(f"/proc/{pid}/comm") as file:
                    if file.read() == name + "\n":
                        return pid
            except OSError:
                continue
            todo += children(pid)
        time.sleep(0.05)
    raise SystemExit(f"there is no {name} below {above}")


class Contained:
    """The program in a container that bwrap makes, or what else the words before it make."""

    def __init__(self, *before, pass_fds=()):
        self.process = subprocess.Popen([*before, "/opt/contained"], stdout=subprocess.PIPE, pass_fds=pass_fds)
        self.pid = named("contained", self.process.pid)
        time.sleep(0.3)

    def end(self, what):
        os.kill(self.pid, signal.SIGTERM)
        out, _ = self.process.communicate(timeout=60)
        check(self.process.returncode == 0 and b"often " in out, f"{what}: it ends as it should")


def bwrap(root, *options, namespaces=NAMESPACES, proc=True):
    user = OTHER_USER if "--unshare-user" in namespaces else []
    return ["bwrap", *namespaces, *user, "--ro-bind", root, "/", "--dev", "/dev",
            *(["--proc", "/proc"] if proc else []), *options]


def has_samples(path, name="often"):
    return any(name in frames for frames, _ in folded(path))


# ---- hcct record inside ----

def recorded_inside():
    """As the first process of a container; with the kinds of namespaces that there are."""
    for what, words in (
            ("process 1", ["unshare", "--pid", "--fork", "--mount-proc"]),
            ("the same without a /proc of its own", ["unshare", "--pid", "--fork"]),
            ("in a user namespace", ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]),
            ("without a network", ["unshare", "--net"])):
        path = scratch("inside.pb.gz")
        result = run([*words, HCCT, "record", "-o", path, "--", target("orphans")])
        own = "--mount-proc" in words  # else it sees the zombies of all others
        check((result.status == 7 and result.out == b"0 zombies\n") if own else b" zombies" in result.out,
              f"{what}: status {result.status}, {result.out.decode().strip()}")
        check(has_samples(path, "main"), f"{what}: its profile has main")
        os.remove(path)


def signal_to_process_1():
    process = subprocess.Popen(["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", HCCT, "record", "-o",
                                scratch("signal.pb.gz"), "--", target("attach_shares")],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    named("attach_shares", process.pid)
    time.sleep(1)
    os.kill(named("hcct", process.pid), signal.SIGTERM)
    out, _ = process.communicate(timeout=60)
    check(process.returncode == 0 and b"often " in out, "process 1 passes SIGTERM on")
    check(has_samples(scratch("signal.pb.gz")), "and has the profile")


def nothing_writable():
    """A read-only root, another user, no /tmp: as strict as containers are."""
    os.makedirs(scratch("out"), exist_ok=True)
    os.chmod(scratch("out"), 0o777)
    words = ["bwrap", *NAMESPACES, *OTHER_USER, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
             "--tmpfs", os.path.dirname(scratch("x")), "--bind", scratch("out"), "/mnt", "--setenv", "TMPDIR",
             "/nonexistent", "--setenv", "HOME", "/nonexistent", "--unsetenv", "XDG_RUNTIME_DIR",
             "--unsetenv", "XDG_CACHE_HOME", "--remount-ro", os.path.dirname(scratch("x"))]
    command = [HCCT, "record", "-o", "/mnt/strict.pb.gz", "--", "/usr/bin/env", "sh", "-c",
               "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done"]
    result = run([*words, *command])
    check(result.status == 0 and os.path.exists(scratch("out/strict.pb.gz")),
          "a read-only root, another user: hcct record works: " + result.err.decode()[-200:].strip())
    result = run([*words, "--remount-ro", "/dev", *command])
    said = result.err.decode().strip()
    check(result.status == 125 and "no private directory" in said and said.count("\n") == 0,
          f"nowhere to write: {said}")


# ---- hcctd outside ----

def always_on(root):
    with Daemon(socket=os.path.join(scratch("run"), "hcctd.sock")) as daemon:
        os.chmod(daemon.socket, 0o666)
        inside = {"HCCT_SOCKET": "/run/hcct/hcctd.sock", "LD_PRELOAD": "/opt/libhcctagent.so"}
        environ = [word for name, value in inside.items() for word in ("--setenv", name, value)]
        mount = ["--bind", scratch("run"), "/run/hcct"]
        for what, words in (
                ("all namespaces", bwrap(root, *mount, *environ)),
                ("no /proc", bwrap(root, *mount, *environ, proc=False))):
            contained = Contained(*words)
            found = daemon.wait_for(lambda p: p["pid"] == contained.pid and p["walks"] > 20)
            check(found is not None, f"{what}: hcctd outside has samples")
            path = scratch("always.pb.gz")
            result = run([HCCT, "hot", "-p", str(contained.pid), "--socket", daemon.socket, "--format", "pprof",
                          "-o", path])
            check(result.status == 0 and has_samples(path), f"{what}: and names of functions")
            contained.end(what)
        if ATTACHES:
            attach_always_on(root, daemon, mount)
            out_of_sight(root, daemon)


def attach_always_on(root, daemon, mount):
    contained = Contained(*bwrap(root, *mount))
    result = run([HCCT, "attach", "--socket", daemon.socket, "--wait", "60", str(contained.pid)])
    check(result.status == 0, "attach to a container that has the socket: " +
          (result.out + result.err).decode().strip())
    found = daemon.wait_for(lambda p: p["pid"] == contained.pid and p["walks"] > 20)
    check(found is not None, "hcctd has its samples")
    result = run([HCCT, "detach", "--wait", "60", str(contained.pid)])
    check(result.status == 0, "it is detached from")
    contained.end("always on, attached to")


def out_of_sight(root, daemon):
    contained = Contained(*bwrap(root))
    refused("a container without the socket", contained, "hcctd's socket .* is not",
            "attach", "--socket", daemon.socket)
    contained.end("refused")


def refused(what, contained, expected, *words):
    result = run([HCCT, *words, str(contained.pid)])
    said = result.err.decode().strip()
    check(result.status == 1 and re.search(expected, said) and said.count("\n") == 0, f"{what}: {said}")


def blind_daemon(root):
    """hcctd in a PID namespace of its own can't see who asks it, and says so."""
    with Daemon(socket=os.path.join(scratch("run"), "blind.sock"),
                under=("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")) as daemon:
        contained = Contained(*bwrap(root, "--bind", scratch("run"), "/run/hcct", "--setenv", "HCCT_SOCKET",
                                     "/run/hcct/blind.sock", "--setenv", "LD_PRELOAD", "/opt/libhcctagent.so"))
        time.sleep(1)
        contained.end("an hcctd that does not see it")
        daemon.stop(signal.SIGKILL)
    with open(scratch("hcctd.log")) as file:
        check("another PID namespace" in file.read(), "hcctd says why there is no profile")


# ---- hcct record -p from outside ----

def in_directories(pid):
    return {place: sorted(os.listdir(f"/proc/{pid}/root/{place}")) for place in ("run", "dev/shm")}


def attach_from_outside(root):
    os.rmdir(os.path.join(root, "tmp"))
    for what, words in (
            ("all namespaces, /run", bwrap(root, "--tmpfs", "/run")),
            ("nothing but /dev/shm to write to", bwrap(root)),
            ("our user and PID namespace", bwrap(root, namespaces=["--unshare-net"])),
            *([("another user's, for root", [*AS_USER, *bwrap(root, "--tmpfs", "/run")])]
              if os.geteuid() == 0 and shutil.which("setpriv") else [])):
        contained = Contained(*words)
        before, made = sorted(os.listdir(f"/proc/{contained.pid}/fd")), in_directories(contained.pid)
        for time_of in "the first time", "again":
            path = scratch("outside.pb.gz")
            result = run([HCCT, "record", "-p", str(contained.pid), "--duration", "1s", "-o", path])
            check(result.status == 0 and has_samples(path),
                  f"{what}, {time_of}: hcct record -p has a profile" +
                  ("" if result.status == 0 else ": " + result.err.decode().strip()))
        check(sorted(os.listdir(f"/proc/{contained.pid}/fd")) == before, f"{what}: it has the same descriptors")
        check(in_directories(contained.pid) == made, f"{what}: nothing is left in its directories")
        with open(f"/proc/{contained.pid}/timers") as file:
            check(file.read() == "", f"{what}: it has no timer left")
        contained.end(what)
    ends_meanwhile(root)


def seccomp(root):
    """A filter that refuses calls, as containers' do, and one that kills for a call of the agent's. Only
    root of the machine may read them."""
    refusing = [(0x20, 0, 0, 0), (0x15, 0, 1, 248), (0x06, 0, 0, 0x50001), (0x06, 0, 0, 0x7FFF0000)]  # add_key
    killing = [(0x20, 0, 0, 0), (0x15, 0, 1, 222), (0x06, 0, 0, 0x80000000), (0x06, 0, 0, 0x7FFF0000)]  # timer_create
    with open("/proc/self/status") as file:
        may_read = "CapEff:\t000001ff" in file.read() and os.geteuid() == 0
    for what, code, works in ("a filter that refuses", refusing, may_read), ("a filter that kills", killing, False):
        reads, writes = os.pipe()
        os.write(writes, b"".join(struct.pack("HBBI", *instruction) for instruction in code))
        os.close(writes)
        contained = Contained(*bwrap(root, "--seccomp", str(reads)), pass_fds=[reads])
        os.close(reads)
        if works:
            path = scratch("filtered.pb.gz")
            result = run([HCCT, "record", "-p", str(contained.pid), "--duration", "1s", "-o", path])
            check(result.status == 0 and has_samples(path), f"{what}: hcct record -p has a profile " +
                  ("" if result.status == 0 else result.err.decode().strip()))
        else:
            refused(what, contained, "seccomp", "record", "-p")
        contained.end(what)


def ends_meanwhile(root):
    contained = Contained(*bwrap(root))
    tool = subprocess.Popen([HCCT, "record", "-p", str(contained.pid), "--duration", "60s", "-o",
                             scratch("ends.pb.gz")], stderr=subprocess.PIPE)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and b"memfd" not in open(f"/proc/{contained.pid}/maps", "rb").read():
        time.sleep(0.05)
    time.sleep(1)
    contained.end("it ends while it is recorded")
    _, said = tool.communicate(timeout=60)
    check(tool.returncode == 0 and has_samples(scratch("ends.pb.gz")), "and has a profile: " +
          ("" if tool.returncode == 0 else said.decode().strip()))


def chroot(root):
    """Without /proc, where nothing can be sent to."""
    if os.geteuid() != 0:
        return
    os.makedirs(os.path.join(root, "tmp"), exist_ok=True)
    contained = Contained("chroot", root)
    refused("chroot without /proc", contained, "neither a /proc nor the agent", "record", "-p")
    contained.end("refused")
    os.makedirs(root + os.path.dirname(LATE))
    shutil.copy(LATE, root + LATE)
    contained = Contained("chroot", root)
    path = scratch("chroot.pb.gz")
    result = run([HCCT, "record", "-p", str(contained.pid), "--duration", "1s", "-o", path])
    check(result.status == 0 and has_samples(path), "chroot without /proc, where the agent was copied to: " +
          result.err.decode()[-100:].strip())
    contained.end("chroot")


os.makedirs(scratch("run"))
ROOT = make_root()
recorded_inside()
signal_to_process_1()
nothing_writable()
always_on(ROOT)
blind_daemon(ROOT)
if ATTACHES:
    attach_from_outside(ROOT)
    seccomp(ROOT)
    chroot(ROOT)
else:
    print("attaching is for x86-64 only: left out")
finish()
