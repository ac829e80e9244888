# SPDX-License-Identifier: LGPL-3.0-or-later
"""A process that has changed its user, as daemons do that root has started, may not ask the kernel where its
own threads sleep: who attaches tells it. They are seen by the wall clock as those of any other process, and
see nothing of it."""

import os
import shutil
import signal
import socket
import stat
import time

from attach_support import asleep, attach, detach, end, lost_ns, record, start, text_of
from support import BUILD, Daemon, check, finish, folded, scratch, skip, target

NOBODY = 65534
WALL = ["--rate", "1000", "--clock", "wall"]
if os.geteuid() != 0:
    skip("only root can change its user")


def may_not_ask(pid):
    """The kernel's file of where its main thread sleeps is root's, and the process is not."""
    status = os.stat(f"/proc/{pid}/task/{pid}/syscall")
    user = text_of(pid, "status").split("Uid:")[1].split()[1]
    return status.st_uid == 0 and stat.S_IMODE(status.st_mode) == 0o400 and int(user) == NOBODY


def open_to_all(daemon):
    """Others than root reach it by its socket, as the system's is."""
    os.chmod(daemon.socket, 0o666)


def quiet(daemon):
    """What must not be woken is not, and what is woken sees nothing."""
    for call in "epoll", "nanosleep", "poll", "sigwait", "read", "recv", "futex":
        process, attached, left = start(target("attach_quiet"), call, env={**os.environ, "AS_USER": str(NOBODY)}), 0, 0
        hidden = may_not_ask(process.pid)
        for _ in range(4):
            attached += attach(daemon, process, *WALL)
            time.sleep(0.15)
            left += detach(process)
        status, out = end(process)
        check(hidden and status == 0 and attached == left == 4, f"{call} sees nothing of {attached} times: {out}")


def transfers(daemon):
    process = start(target("attach_sleepers"), str(NOBODY))
    check(may_not_ask(process.pid), "it may not ask the kernel")
    check(attach(daemon, process, *WALL), "attached")
    time.sleep(0.7)
    process.send_signal(signal.SIGUSR1)
    time.sleep(2)
    status, out = end(process)
    check(status == 0 and int(out.split()[-1]) > 20, f"no transfer and no nap ended short: {out}")


# ---- memcached ----

def ask(connection, text, end_of):
    connection.sendall(text)
    got = b""
    while not got.endswith(end_of):
        part = connection.recv(65536)
        if not part:
            break
        got += part
    return got


def talk(port, rounds):
    """Each answer is what was put there."""
    good = 0
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        for i in range(rounds):
            value = b"%d" % i * 1000
            put = ask(connection, b"set key 0 0 %d\r\n%s\r\n" % (len(value), value), b"\r\n")
            got = ask(connection, b"get key\r\n", b"END\r\n")
            good += put == b"STORED\r\n" and value in got
    return good


def thread_names(pid):
    return [text_of(pid, f"task/{tid}/comm").strip() for tid in os.listdir(f"/proc/{pid}/task")]


def memcached():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = start("memcached", "-u", "nobody", "-p", str(port), "-l", "127.0.0.1", "-t", "4")
    time.sleep(1)
    check(may_not_ask(process.pid), "memcached may not ask the kernel")
    names, path = thread_names(process.pid), scratch("memcached.pb.gz")
    said = record(process, 4, path, "--clock", "wall", "--threads")
    seen = {}
    for frames, weight in folded(path) if said else []:
        name = next((f for f in frames if f.startswith("[thread ")), "[thread ?]")[8:-1]
        seen[name] = seen.get(name, 0) + weight
    one = seen.get("main", 0)
    for name in set(names) - {"memcached"}:
        check(seen.get(name, 0) > 0.7 * names.count(name) * one,
              f"{names.count(name)} {name}: {seen.get(name, 0) / 1e9:.2f} s, main {one / 1e9:.2f}")
    check(lost_ns(said or "") < one, f"lost: {lost_ns(said or '') / 1e9:.2f} s of all threads")
    daemon_side(process, port)
    process.terminate()
    check(process.wait(60) == 0, "and ends with status 0")


def daemon_side(process, port):
    with Daemon() as daemon:
        open_to_all(daemon)
        check(attach(daemon, process, *WALL), "attached")
        check(talk(port, 300) == 300, "it answers as ever while it is attached to")
        check(detach(process), "detached")
        check(talk(port, 300) == 300, "and afterwards")


# The process's loader opens the agent, with the process's rights: it may not see the directory of the build.
os.environ["HCCT_LATE_AGENT"] = shutil.copy(os.path.join(BUILD, "preload", "libhcctattach.so"), scratch("."))
os.chmod(scratch("."), 0o711)
os.chmod(os.environ["HCCT_LATE_AGENT"], 0o755)
asleep(target("attach_sleepers"), str(NOBODY))
with Daemon() as shared:
    open_to_all(shared)
    quiet(shared)
    transfers(shared)
if shutil.which("memcached"):
    memcached()
finish()
