# SPDX-License-Identifier: LGPL-3.0-or-later
"""pprof.py - the little of a profile file that the tables need: who was profiled, how many routines
and call sites it names. Contexts are skipped, there may be millions."""

import gzip
import shlex

LOCATION, STRINGS, COMMENT = 4, 6, 13  # of a profile
MAPPING, ENTRY = 2, 1000  # of a location


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data, at, end):
    """(number, value) of a message; value is an integer, or (from, to) of bytes."""
    while at < end:
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value = (at, at + size)
            at += size
        else:
            raise ValueError("not a profile of hcct's")
        yield key >> 3, value


def integers(data, value):
    """A repeated integer: packed or one by one."""
    if isinstance(value, int):
        return [value]
    at, found = value[0], []
    while at < value[1]:
        number, at = varint(data, at)
        found.append(number)
    return found


class Profile:
    """routines and call_sites: distinct ones in the contexts of the file. process: what its
    comment says of its only process, numbers as numbers."""

    def __init__(self, path):
        with gzip.open(path) as file:
            data = file.read()
        strings, comments = [], []
        self.routines = self.call_sites = 0
        for number, value in fields(data, 0, len(data)):
            if number == STRINGS:
                strings.append(bytes(data[value[0]:value[1]]))
            elif number == COMMENT:
                comments += integers(data, value)
            elif number == LOCATION:
                self.add_location(data, value)
        texts = [strings[n].decode(errors="replace") for n in comments]
        self.process = next((keys(text) for text in texts if text.startswith("hcct: process ")), {})

    def add_location(self, data, value):
        location = dict(fields(data, *value))
        if not location.get(MAPPING):
            return  # a frame that stands for what was pruned
        if location.get(ENTRY):
            self.routines += 1
        else:
            self.call_sites += 1


def keys(comment):
    pairs = [word.partition("=") for word in shlex.split(comment) if "=" in word]
    return {key: int(text) if text.isdigit() else text for key, _, text in pairs}
