# SPDX-License-Identifier: LGPL-3.0-or-later
"""Plugins that threads load and unload, and that follow each other at one address: each context that was asked for,
in constructors, in functions and in destructors, is decoded to the plugin that has asked, and no sample of one goes
by the name of another, whether they have build-ids or not.

    usage: plugins_test.py [ROUNDS]     so many in each thread (200)
"""

import re
import shutil
import sys

from support import HCCT, check, finish, folded, record, run, scratch, target

ROUNDS = sys.argv[1] if len(sys.argv) > 1 else "200"
LETTERS, THREADS, US, AT_ONCE = "abcdefgh", "6", "300", 20000
NOTE = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0"  # of a build-id of 20 bytes; its type is the third word
# Where hcctd has read of one without a build-id when the program was over, it has the file's name and no function's.
INNER, CALLER = re.compile(r"plugin_(\w)(?:_inner|[01]\.so)"), re.compile(r"caller_(\w)\b")


def plugin(letter, has_id):
    path = scratch(f"plugin_{letter}{has_id:d}.so")
    shutil.copy(target("plugins_library"), path)
    with open(path, "rb") as file:
        data = file.read()
    assert data.count(NOTE) == 1
    at = data.index(NOTE) + len(NOTE)
    note = NOTE if has_id else NOTE.replace(b"\x03", b"\x63")
    data = data[:at - len(NOTE)] + note + letter.encode() * 20 + data[at + 20:]
    with open(path, "wb") as file:
        file.write(data.replace(b"plugin_x_inner", f"plugin_{letter}_inner".encode()))
    return path


def decode(path, numbers):
    """{number: lines}"""
    decoded = {}
    for i in range(0, len(numbers), AT_ONCE):
        result = run([HCCT, "decode", path, *numbers[i:i + AT_ONCE]])
        check(result.status == 0, f"hcct decode: {result.err.decode()[:300]}")
        for line in result.out.decode().splitlines():
            if line.startswith("0x"):
                number = line
                decoded[number] = []
            else:
                decoded[number].append(line)
    return decoded


def examine_numbers(what, path, out):
    lines = out.decode().splitlines()
    asked = [line.split() for line in lines if line.startswith("0x")]
    decoded = decode(path, sorted({number for number, _, _ in asked}))
    wrong = []
    for number, letter, where in asked:
        frames = " ".join(decoded.get(number, []))
        callers = set(CALLER.findall(frames)) if where == "inside" else {letter}
        if set(INNER.findall(frames)) != {letter} or callers != {letter}:
            wrong.append((number, letter, where, decoded.get(number)))
    where = {name: sum(it[2] == name for it in wrong) for name in ("begin", "inside", "end")}
    check(asked and not wrong, f"{what}: of {len(asked)} contexts {len(wrong)} are decoded to another plugin {where}"
          + "".join(f"\n  {it}" for it in wrong[:3]))
    in_all, none = map(int, re.fullmatch(r"asked (\d+) none (\d+)", lines[-1]).groups())
    check(none <= in_all / 2, f"{what}: of {in_all} times {none} gave none")


def examine_samples(what, path):
    weight_of, wrong, nameless = 0, 0, 0
    for frames, weight in folded(path):
        inner = {m.group(1) for f in frames for m in [INNER.search(f)] if m}
        caller = {m.group(1) for f in frames for m in [CALLER.search(f)] if m}
        if inner and caller:
            weight_of += weight
            wrong += weight * (inner != caller)
        nameless += weight * any("generated code" in f for f in frames)
    check(weight_of > 0 and wrong == 0 and nameless == 0,
          f"{what}: of {weight_of / 1e6:.1f} ms in plugins {wrong / 1e6:.2f} ms are another's, and "
          f"{nameless / 1e6:.2f} ms in no library's name")


for has_id in (True, False):
    what = "with build-ids" if has_id else "without"
    path = scratch(f"plugins{has_id:d}.pb.gz")
    result = record([target("plugins"), THREADS, ROUNDS, US, *(plugin(letter, has_id) for letter in LETTERS)], path,
                    "--rate", "1000", "--no-report")
    check(result.status == 0, f"{what}: ends with {result.status}: {result.err.decode()[-300:]}")
    examine_numbers(what, path, result.out)
    examine_samples(what, path)
finish()
