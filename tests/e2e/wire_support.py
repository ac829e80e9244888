# SPDX-License-Identifier: LGPL-3.0-or-later
"""wire_support.py - the agent's part of the protocol (common/wire/wire.h), for tests that say what they like."""

import mmap
import os
import re
import socket
import struct
import time

ROOM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../common/wire")
WIRE = open(os.path.join(ROOM, "wire.h")).read()
COUNTERS = re.findall(r"^    (?:SHOWN|HIDDEN)\(\w+, \d+", open(os.path.join(ROOM, "counters.h")).read(), re.M)


def constant(name):
    return int(re.search(rf"#define {name}\s+(\w+?)u?\s", WIRE).group(1), 0)


VERSION = constant("WIRE_VERSION")
SLOT_BYTES = constant("WIRE_SLOT_BYTES")
MODULES = constant("WIRE_HEADER_BYTES")
MODULE_BYTES = constant("WIRE_MODULE_BYTES")
BLOCKS = MODULES + constant("WIRE_MODULES_MAX") * MODULE_BYTES
PAGE_MOST = constant("WIRE_PAGE_MOST")
SLOTS = -(-(BLOCKS + constant("WIRE_BLOCKS") * 16) // PAGE_MOST) * PAGE_MOST
USED = 128  # of struct wire_session: what the agent writes
HEAD, RING = 64, 192 + (8 * len(COUNTERS) + 63) // 64 * 64  # of struct wire_slot
SLOTS_READY = 64 + 16


def hello(version=VERSION, size=64, pid=0, rate=100, sessions=0, collector=0, clock=0):
    return struct.pack("<8sIIIIII QQ B7x II", b"HCCTAGNT", version, size, pid, rate, 0, clock, 0, 0,
                       collector, 1, sessions)


def connect(path):
    """Waits for room: the kernel refuses (EAGAIN) while all places of the daemon's queue are taken."""
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(30)
    end = time.monotonic() + 30
    while True:
        try:
            connection.connect(path)
            return connection
        except BlockingIOError:
            if time.monotonic() > end:
                raise
            time.sleep(0.001)


def session(path, **fields):
    """The memory that the daemon gives, and its descriptors; None: it gives none."""
    with connect(path) as connection:
        connection.sendall(hello(**fields))
        answer, fds, _, _ = socket.recv_fds(connection, 64, 2)
    if len(fds) != 2:
        return None, []
    bytes_ = struct.unpack_from("<Q", answer, 16)[0]
    return mmap.mmap(fds[0], bytes_), fds


def claim(memory, slot):
    at = SLOTS + slot * SLOT_BYTES
    struct.pack_into("<II", memory, USED, 64, 4096)  # modules, slots: more than there are
    struct.pack_into("<I16s", memory, at + 4, 0xffffffff, b"\xff" * 16)
    struct.pack_into("<I", memory, at, 1)
    return at


def publish(memory, at, words):
    memory[at + RING:at + RING + 8 * len(words)] = struct.pack(f"<{len(words)}Q", *words)
    struct.pack_into("<Q", memory, at + HEAD, len(words))


class Agent:
    """A session of this process with one slot, into which words are put as the daemon takes them."""

    def __init__(self, path, **fields):
        self.memory, self.fds = session(path, **fields)
        self.at = claim(self.memory, 0)
        self.size = (SLOT_BYTES - RING) // 8
        self.head = 0

    def module(self, index, start, end, bias=0, path="", build_id=b"", want_sites=0):
        """Entry `index` of the module log; they are to come in order."""
        at = MODULES + index * MODULE_BYTES
        struct.pack_into("<QQQ", self.memory, at, start, end, bias)
        struct.pack_into("<BBH20sI", self.memory, at + 36, 0, len(build_id), len(path), build_id, 0)
        struct.pack_into("<B", self.memory, at + 72, want_sites)
        self.memory[at + 96:at + 96 + len(path)] = path.encode()
        struct.pack_into("<I", self.memory, at + 32, 1)

    def sites(self, index):
        """Where the call sites of that entry are in the arena; 0: not said yet, 1: there are none."""
        return struct.unpack_from("<Q", self.memory, MODULES + index * MODULE_BYTES + 64)[0]

    def redirected(self, index, verdict, redirected):
        at = MODULES + index * MODULE_BYTES
        struct.pack_into("<I", self.memory, at + 76, redirected)
        struct.pack_into("<B", self.memory, at + 73, verdict)

    def _write(self, at, words):
        begin = self.at + RING + 8 * at
        self.memory[begin:begin + 8 * len(words)] = struct.pack(f"<{len(words)}Q", *words)

    def put(self, words):
        end = time.monotonic() + 60
        while self.head + len(words) > struct.unpack_from("<Q", self.memory, self.at + 128)[0] + self.size:
            if time.monotonic() > end:
                raise SystemExit("hcctd takes no words")
            time.sleep(0.001)
        at = self.head % self.size
        self._write(at, words[:self.size - at])
        self._write(0, words[self.size - at:])
        self.head += len(words)
        struct.pack_into("<Q", self.memory, self.at + HEAD, self.head)
