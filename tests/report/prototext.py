# SPDX-License-Identifier: LGPL-3.0-or-later
"""prototext.py - messages as protoc decodes them, by the definitions in a .proto file.

A message is a dictionary from names of fields to lists of values: text, numbers or messages.
"""

import os
import re
import subprocess

TOKEN = re.compile(r'\s*(?:(\})|(\w+)(?:: ("(?:[^"\\]|\\.)*"|[^\s]+)| (\{)))')
ESCAPE = re.compile(rb'\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|(.))', re.S)
NAMED = {b"n": b"\n", b"t": b"\t", b"r": b"\r"}


def unescape(text):
    def one(match):
        octal, hexadecimal, named = match.groups()
        if named is not None:
            return NAMED.get(named, named)
        return bytes([int(octal, 8) if octal else int(hexadecimal, 16)])

    return ESCAPE.sub(one, text.encode())


def value_of(word):
    if word.startswith('"'):
        return unescape(word[1:-1])
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            pass
    return word == "true" if word in ("true", "false") else word


def parse(text):
    top, at = {}, 0
    open_messages = [top]
    while match := TOKEN.match(text, at):
        end, name, word, begin = match.groups()
        at = match.end()
        if end:
            open_messages.pop()
        elif begin:
            message = {}
            open_messages[-1].setdefault(name, []).append(message)
            open_messages.append(message)
        else:
            open_messages[-1].setdefault(name, []).append(value_of(word))
    if text[at:].strip() or len(open_messages) != 1:
        raise ValueError(f"not understood: {text[at:at + 80]!r}")
    return top


def decode(data, proto, message, root=None, most=0):
    """The message in `data`; it must have no field that the definitions do not know, but those whose numbers
    are above `most`, where it is not 0. `root`: the directory that imports of `proto` are named from."""
    root = root or os.path.dirname(proto)
    out = subprocess.run(["protoc", f"--decode={message}", "--proto_path=" + root, os.path.relpath(proto, root)],
                         input=data, capture_output=True, check=True)
    text = out.stdout.decode()
    for unknown in re.finditer(r"^ *(\d+)(:| \{)", text, re.M):
        if not 0 < most < int(unknown[1]):
            raise ValueError(f"{message}: field {unknown[1]} is not in {proto}")
    return parse(text)
