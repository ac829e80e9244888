# SPDX-License-Identifier: LGPL-3.0-or-later
"""hcctd under a service manager, which this test plays: a socket that was opened for it, a datagram
when it is ready and when it ends. And the units themselves."""

import os
import re
import shutil
import signal
import socket
import subprocess

from support import AGENT, BUILD, HCCT, HCCTD, Daemon, check, finish, run, scratch, target

SOURCE = os.environ.get("HCCT_SRCDIR", os.path.join(os.path.dirname(__file__), "..", ".."))


def manager(name):
    notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notify.bind(name)
    notify.settimeout(30)
    return notify


def listening(kind=socket.SOCK_STREAM):
    path = scratch(f"activated{kind}")
    server = socket.socket(socket.AF_UNIX, kind)
    server.bind(path)
    if kind == socket.SOCK_STREAM:
        server.listen()
    return server, path


def launch(sockets, options=(), environment=None, pid=None, stderr=None):
    """What systemd does between fork and exec: descriptors from 3 on, their number, whose they are."""
    child = os.fork()
    if child == 0:
        held = [os.dup(s.fileno()) for s in sockets]
        held = [os.dup2(fd, 100 + i) for i, fd in enumerate(held)]
        for i, fd in enumerate(held):
            os.dup2(fd, 3 + i, inheritable=True)
        if stderr is not None:
            os.dup2(os.open(stderr, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        env = {**os.environ, "LISTEN_FDS": str(len(held)), "LISTEN_PID": str(pid or os.getpid()),
               **(environment or {})}
        os.closerange(3 + len(held), 200)
        os.execve(HCCTD, [HCCTD, "--report-dir", "none", *options], env)
    return child


def ended(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


for name in (scratch("notify"), "\0hcct-test-" + str(os.getpid())):
    kind = "abstract" if name[0] == "\0" else "file"
    server, path = listening()
    notify = manager(name)
    child = launch([server], environment={"NOTIFY_SOCKET": name.replace("\0", "@")})
    server.close()  # the daemon's copy is the one that counts
    message = notify.recv(4096).decode()
    check("READY=1" in message.splitlines() and any(l.startswith("STATUS=") for l in message.splitlines()),
          f"READY=1 over a {kind} socket")
    app = run([target("known_shares"), "1"], env={"HCCT_SOCKET": path, "LD_PRELOAD": AGENT})
    seen = run([HCCT, "hot", "--socket", path])
    check(app.status == 0 and seen.status == 0 and b"burn" in seen.out,
          "agents and clients find it at the manager's socket, names of functions and all")
    check(not os.path.exists(path + ".lock"), "it makes no lock beside that")
    environment = open(f"/proc/{child}/environ").read()
    check(f"LISTEN_PID={child}" in environment, "it was told that the socket is its own")
    os.kill(child, signal.SIGTERM)
    check(notify.recv(4096) == b"STOPPING=1", "STOPPING=1 when it ends")
    check(ended(child) == 0 and os.path.exists(path), "and the socket stays: it is the manager's")
    os.unlink(path)
    notify.close()

# what is meant for somebody else, or is no socket of ours
server, path = listening()
own = scratch("own.sock")
notify = manager(scratch("notify2"))
child = launch([server], ["--socket", own], {"NOTIFY_SOCKET": scratch("notify2")}, pid=1)
notify.recv(4096)
check(run([HCCT, "list", "--socket", own]).status == 0, "another process's LISTEN_PID: it opens its own socket")
os.kill(child, signal.SIGTERM)
check(ended(child) == 0, "and ends as ever")
datagram = listening(socket.SOCK_DGRAM)[0]
for sockets, what in (([datagram], "a datagram socket"), ([server, server], "two sockets"),
                      ([socket.socket()], "a TCP socket")):
    status = ended(launch(sockets, stderr=scratch("words")))
    words = open(scratch("words")).read()
    check(status == 1 and words.count("\n") == 1 and "ListenStream=" in words, f"{what}: {words.strip()}")
with Daemon() as daemon:  # nobody is there to be notified
    pass
result = run([HCCTD, "--socket", scratch("x" * 120)], env={"NOTIFY_SOCKET": "nonsense"})
check(result.status == 1, "a NOTIFY_SOCKET that is none does no harm")

units = [os.path.join(SOURCE, "contrib/systemd/system/hcctd.socket"),
         os.path.join(SOURCE, "contrib/systemd/user/hcctd.socket"),
         os.path.join(BUILD, "contrib/systemd/system/hcctd.service"),
         os.path.join(BUILD, "contrib/systemd/system/hcct-push@.service"),
         os.path.join(BUILD, "contrib/systemd/user/hcctd.service")]
if shutil.which("systemd-analyze") is None or not all(map(os.path.exists, units)):
    print("skipped: systemd-analyze or the units are missing")
    finish()
for user in (False, True):
    place = scratch("units-user" if user else "units")
    os.mkdir(place)
    for unit in units:
        if ("/user/" in unit) == user:
            text = open(unit).read()
            for name, path in ("hcctd", HCCTD), ("hcct", HCCT):
                text = re.sub(rf"^ExecStart=\S*/{name} ", f"ExecStart={path} ", text, flags=re.M)
            lines = text.splitlines()
            open(os.path.join(place, os.path.basename(unit)), "w").write("\n".join(lines) + "\n")
    command = ["systemd-analyze", "verify", "--man=no"] + (["--user"] if user else [])
    names = ["hcctd.service", "hcctd.socket"] + ([] if user else ["hcct-push@.service"])
    result = run(command + [os.path.join(place, name) for name in names],
                 env={"XDG_RUNTIME_DIR": scratch("")})
    said = [l for l in (result.out + result.err).decode().splitlines() if "hcct" in l]
    check(result.status == 0 and not said, f"systemd-analyze verify{' --user' if user else ''}: {said}")
finish()
