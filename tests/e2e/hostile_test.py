# SPDX-License-Identifier: LGPL-3.0-or-later
"""Programs that speak the agent's part and lie: the daemon stays up, others' profiles stay right."""

import ctypes
import errno
import mmap
import os
import random
import re
import signal
import struct
import subprocess
import time

from support import Daemon, check, finish, scratch, target
from wire_support import (HEAD, MODULE_BYTES, MODULES, RING, SLOT_BYTES, SLOTS, SLOTS_READY, USED,
                          claim, connect, hello, publish, session)

seed = int(os.environ.get("HCCT_SEED", time.time_ns() % 1000000))
print(f"HCCT_SEED={seed}")
ROOM = 400 << 20  # what hcctd may take while all that goes on; it begins with some 10 MB
GIVEN = 32 << 20  # shared memory that a process of one thread may get
SESSIONS = 2000
# ---- the attacks; each in a process of its own ----

def random_bytes(path):
    memory, _ = session(path)
    ready = struct.unpack_from("<I", memory, SLOTS_READY)[0]
    end = SLOTS + ready * SLOT_BYTES
    for _ in range(300):
        at = random.randrange(0, end - 4096)
        at = at if at >= SLOTS or at < MODULES + 64 * MODULE_BYTES - 4096 else 0
        memory[at:at + 4096] = random.randbytes(4096)
        for slot in range(ready):
            struct.pack_into("<I", memory, SLOTS + slot * SLOT_BYTES, random.randrange(4))
            struct.pack_into("<Q", memory, SLOTS + slot * SLOT_BYTES + HEAD, random.randrange(20000))
        time.sleep(0.005)


def random_words(path):
    """Right verbs, wrong operands: until the daemon has had enough, then again."""
    for _ in range(20):
        memory, _ = session(path)
        at = claim(memory, 0)
        publish(memory, at, [random.choice([1, 2, 3, 4, 5, 6, 7]) << 60 |
                             random.choice([0, 1, 2, 16384, 1 << 47, random.getrandbits(60)])
                             for _ in range(8000)])
        time.sleep(0.05)


def new_contexts(path):
    """Nothing is wrong with it but that each context is another one, of frames that are invented."""
    memory, _ = session(path)
    at = claim(memory, 0)
    size = (SLOT_BYTES - RING) // 8
    head = 0
    for n in range(600):
        tail = struct.unpack_from("<Q", memory, at + 128)[0]
        if head + 400 > tail + size:
            time.sleep(0.01)
            continue
        words = []
        for _ in range(100):
            words += [2 << 60 | random.getrandbits(47), random.getrandbits(47), 3 << 60 | 1]
        words.append(1 << 60 | 100)
        for i, word in enumerate(words):
            struct.pack_into("<Q", memory, at + RING + 8 * ((head + i) % size), word)
        head += len(words)
        struct.pack_into("<Q", memory, at + HEAD, head)


def deep_recursion(path):
    memory, _ = session(path)
    at = claim(memory, 0)
    publish(memory, at, [2 << 60 | 0x1000, 0] + [5 << 60 | 16384] * 4000 + [3 << 60 | 1])
    time.sleep(2)


def indices(path):
    for head in (2**64 - 1, 2**63, SLOT_BYTES, 1 << 32):
        memory, _ = session(path)
        at = claim(memory, 0)
        struct.pack_into("<QQ", memory, at + HEAD, head, 0)
        struct.pack_into("<Q", memory, at + 128, random.getrandbits(64))
        time.sleep(0.05)


def modules(path):
    """Files that are none, of any size, with the build-ids of others."""
    for _ in range(10):
        memory, _ = session(path)
        struct.pack_into("<II", memory, USED, 2**32 - 1, 2**32 - 1)
        for i in range(64):
            name = random.choice([b"/dev/zero", b"/proc/self/mem", b"/etc/shadow", b"../../x", b"",
                                  b"/dev/tty", b"/" * 448, b"\xff" * 448, b"/proc/kcore",
                                  scratch("fifo").encode(), scratch("not-elf").encode()])
            start = random.choice([0, 4096, 1 << 46, 2**64 - 4096])
            record = struct.pack("<QQQQIBBH20sIQBBHI432s", start, random.choice([0, start + 4095, 2**64 - 1]),
                                 random.getrandbits(64), 77, 1, random.randrange(3) == 0,
                                 random.randrange(256), random.randrange(65536),
                                 random.randbytes(20), 0, random.getrandbits(64), random.randrange(3),
                                 random.randrange(256), 0, random.getrandbits(32), name)
            memory[MODULES + i * MODULE_BYTES:MODULES + (i + 1) * MODULE_BYTES] = record
        at = claim(memory, 0)
        publish(memory, at, [2 << 60 | 4097, 4098, 3 << 60 | 1000000, 4 << 60 | 1])
        time.sleep(0.1)


def resizing(path):
    memory, fds = session(path)
    for size in (0, 4096, len(memory) * 2):
        try:
            os.ftruncate(fds[0], size)
            os._exit(3)
        except OSError as error:
            if error.errno != errno.EPERM:
                os._exit(4)
    try:  # the tables are everybody's: nobody but the daemon writes there
        mmap.mmap(fds[1], 4096)
        os._exit(5)
    except (OSError, ValueError):
        pass
    try:
        os.write(fds[1], b"x" * 64)
        os._exit(6)
    except OSError:
        pass
    # and holes punched into what the daemon reads cost the liar's words only
    punch = ctypes.CDLL(None, use_errno=True).fallocate
    punch(fds[0], 3, ctypes.c_long(0), ctypes.c_long(1 << 21))
    time.sleep(0.3)


def hellos(path):
    """Half ones, wrong ones, none, and ones that do not wait for the answer."""
    kept = []
    for n in range(300):
        connection = connect(path)
        kind = n % 6
        connection.sendall([hello()[:random.randrange(1, 63)], hello(version=random.randrange(100)),
                            hello(size=random.getrandbits(32)), hello(),
                            b"HCCTAGNT" + random.randbytes(56),
                            random.randbytes(64)][kind])
        if kind == 0:
            kept.append(connection)
        else:
            connection.close()


def sessions_without_end(path):
    given = 0
    for n in range(SESSIONS):
        memory, fds = session(path, sessions=n % 3, collector=n % 2)
        given += memory is not None
        for fd in fds:
            os.close(fd)
    os._exit(0 if given == SESSIONS else 7)


def slots(path):
    """More slots than a process of one thread can need; all that is allocated stands in st_blocks."""
    for collector in (0, 1):
        memory, fds = session(path, collector=collector)
        first = os.fstat(fds[0]).st_blocks
        struct.pack_into("<I", memory, USED + 4, 4096)
        kind = ("walks", "calls")[collector]
        listed = daemon.wait_for(lambda p: p["pid"] == os.getpid() and p["state"] == "live" and
                                 p["collector"] == kind and p["slots_refused"] > 0)
        given = os.fstat(fds[0]).st_blocks
        print(f"        {given >> 11} MB given, {listed and listed['slots_refused']} slots refused",
              flush=True)
        if not first < given < GIVEN >> 9:
            os._exit(8)
        if listed is None or listed["slots_refused"] < 3000:
            os._exit(9)
        for fd in fds:
            os.close(fd)


def exit_and_come_back(path):
    """Sessions of processes that are gone at once."""
    for _ in range(100):
        child = os.fork()
        if child == 0:
            session(path)
            os._exit(0)
        os.waitpid(child, 0)


ATTACKS = [random_bytes, random_words, new_contexts, deep_recursion, indices, modules, resizing,
           slots, hellos, exit_and_come_back, sessions_without_end]


def resident(pid):
    """Its memory now and at most, and without what is shared with programs."""
    status = open(f"/proc/{pid}/status").read()
    return {name: int(re.search(rf"{name}:\s+(\d+)", status).group(1)) << 10
            for name in ("VmRSS", "VmHWM", "RssAnon")}


os.mkfifo(scratch("fifo"))
open(scratch("not-elf"), "wb").write(b"\x7fELF" + bytes(range(256)) * 40)
with Daemon() as daemon:
    good = subprocess.Popen([target("known_shares"), "600"], env=daemon.env(HCCT_RATE="250"),
                            stdout=subprocess.DEVNULL)
    check(daemon.wait_for(lambda p: p["pid"] == good.pid and p["walks"] > 20), "a good program runs")
    print(f"        hcctd: {resident(daemon.process.pid)['RssAnon'] >> 20} MB at first")
    for n, attack in enumerate(ATTACKS):
        child = os.fork()
        if child == 0:
            random.seed(seed + n)
            signal.alarm(120)
            try:
                attack(daemon.socket)
            except BaseException as error:  # it must not run the rest of the test
                print(f"        {attack.__name__}: {error!r}", flush=True)
                os._exit(1)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        room = resident(daemon.process.pid)
        check(status == 0 and daemon.process.poll() is None and daemon.processes() != [],
              f"{attack.__name__}: hcctd answers (status {status}, "
              f"{room['RssAnon'] >> 20} MB of its own)")
        check(room["RssAnon"] < ROOM, "and its memory is within bounds")
    found = daemon.wait_for(lambda p: p["pid"] == good.pid)
    check(found["broken_rings"] == 0 and found["lost"] < 0.05 * found["walks"] + 5,
          f"the good program's walks are there: {found['walks']}, {found['lost']} lost")
    check(abs(found["total_ns"] - found["cpu_ns"]) < 0.05 * found["cpu_ns"] + 20e6,
          f"and weigh its CPU time: {found['total_ns'] / 1e9:.2f} s of {found['cpu_ns'] / 1e9:.2f} s")
    check(good.poll() is None, "it runs on")
    good.kill()
    good.wait()
    check(daemon.stop() == 0, "hcctd ends with status 0")
finish()
