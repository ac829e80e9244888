# SPDX-License-Identifier: LGPL-3.0-or-later
"""Calls of a program as Debian has it, stripped: each direct call, from its place to the function that it
leads to, as many times as callgrind counts it; and the program says the same."""

import collections
import json
import os
import re
import struct

from support import HCCT, Daemon, check, finish, need, run, scratch, skip

GNUGO = "/usr/games/gnugo"
LOADER = "ld-linux"  # under callgrind, what is bound when it is used is called by way of the loader
MOVES = b"boardsize 7\ngenmove black\ngenmove white\nquit\n"
COMMAND = [GNUGO, "--mode", "gtp", "--seed", "1", "--level", "1"]

need("valgrind", "readelf")
if not os.path.exists(GNUGO) or os.uname().machine != "x86_64":
    skip("gnugo is not installed")


class Code:
    """A file's code: what stands at an address, and whether an unwind entry covers that."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.all = file.read()
        first, n = struct.unpack_from("<Q", self.all, 32)[0], struct.unpack_from("<H", self.all, 56)[0]
        headers = [struct.unpack_from("<IIQQQQ", self.all, first + 56 * i) for i in range(n)]
        self.segments = [(at, offset, size) for kind, rights, offset, at, _, size in headers
                         if kind == 1 and rights & 1]
        frames = run(["readelf", "--wide", "--debug-dump=frames", path]).out.decode()
        self.entries = [(int(low, 16), int(high, 16))
                        for low, high in re.findall(r"FDE .* pc=([0-9a-f]+)\.\.([0-9a-f]+)", frames)]

    def call_at(self, address):
        """Where the e8 of a direct call at that address is; None: there is none that is followed."""
        for at, offset, size in self.segments:
            if at <= address < at + size:
                code = self.all[offset + address - at:][:4]
                prefixes = re.match(rb"[\x66\x67\x48\xf2]*", code).end()
                if code[prefixes:prefixes + 1] == b"\xe8" and any(
                        low <= address < high for low, high in self.entries):
                    return address + prefixes
        return None


def of_callgrind(path, program):
    """{(place of the call, called object, called address): calls} of the program's own code."""
    code, counts, object_, called, call = Code(program), collections.Counter(), None, None, None
    for line in open(path):
        if line.startswith("ob="):
            object_ = os.path.realpath(line[3:].strip())
        elif line.startswith("cob="):
            called = os.path.realpath(line[4:].strip())
        elif line.startswith("calls="):
            n, to = line[6:].split()[:2]
            call, called = (int(n), called or object_, int(to, 16)), None
        elif call is not None and line.startswith("0x"):
            place = code.call_at(int(line.split()[0], 16)) if object_ == program else None
            if place is not None:
                counts[place, call[1], call[2]] += call[0]
            call = None
    return counts


def of_profile(path, program):
    with open(path) as file:
        profile = json.load(file)
    objects = [os.path.realpath(module.get("path") or "?") for module in profile["modules"]]
    counts = collections.Counter()
    for node in profile["nodes"]:
        parent = profile["nodes"][node["parent"]] if node["count"] and node["parent"] is not None else {}
        if "module" in parent and objects[parent["module"]] == program:
            place = parent["address"] - 4  # within the call instruction, as its last byte
            counts[place, objects[node["module"]], node["address"]] += node["count"]
    return profile["processes"][0], counts


def is_comparable(edge):
    """Not what callgrind shows in the place of a function that is bound, or that it has replaced."""
    return LOADER not in edge[1] and os.path.exists(edge[1])


def by_choice(counts, program):
    """Of calls into other objects the places alone: libc has memchr and others several times, and takes
    what is best on the processor, of which callgrind has another one."""
    merged = collections.Counter()
    for (place, object_, address), n in counts.items():
        merged[place, object_, address if object_ == program else 0] += n
    return merged


def compare(want, got):
    edges = {edge for edge in {*want, *got} if is_comparable(edge)}
    replaced = {edge[0] for edge in {*want, *got} if not is_comparable(edge) and LOADER not in edge[1]}
    edges = {edge for edge in edges if edge[0] not in replaced}
    different = [edge for edge in sorted(edges) if want[edge] != got[edge]]
    for place, object_, address in different[:10]:
        print(f"        from {place:#x} to {address:#x} of {object_}: {want[place, object_, address]} calls, "
              f"{got[place, object_, address]} in the profile")
    check(not different and len(edges) > 500,
          f"{len(edges)} edges, {sum(got[edge] for edge in edges)} calls, {len(different)} edges differ")


moves = scratch("moves")
with open(moves, "wb") as file:
    file.write(MOVES)
plain = run(COMMAND, stdin=open(moves, "rb"))
out = scratch("callgrind")
counted = run(["valgrind", "--tool=callgrind", "--dump-instr=yes", "--compress-strings=no", "--compress-pos=no",
               f"--callgrind-out-file={out}", *COMMAND], stdin=open(moves, "rb"))
check(plain.status == 0 and counted.out == plain.out, "the program runs, and does so under callgrind")
with Daemon("--summary", "exact") as daemon:
    result = run(COMMAND, env=daemon.env(HCCT_COLLECTOR="calls"), stdin=open(moves, "rb"))
    check(result.status == 0 and result.out == plain.out, "the program says the same")
    check(result.err == plain.err, "and nothing else")
    ended = daemon.wait_for(lambda process: process["command"] == "gnugo" and process["state"] == "finished")
    check(ended is not None, "its profile is there")
    path = scratch("sites.json")
    run([HCCT, "hot", "--socket", daemon.socket, "--by", "site", "--phi", "1e-12", "--format", "json", "-o", path])
    process, got = of_profile(path, os.path.realpath(GNUGO))
    check(process["lost"] == 0, "no call was lost")
    program = os.path.realpath(GNUGO)
    compare(by_choice(of_callgrind(out, program), program), by_choice(got, program))
finish()
