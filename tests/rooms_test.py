# SPDX-License-Identifier: LGPL-3.0-or-later
"""rooms_test.py - includes go downwards: what a file may include is said by the room it stands in.

A room may include itself and what stands beside it in the table; `preload` is one room here, as its
folders lean on each other. Files must not: x.c and x.h taken as one, includes make no circle across
folders, and within one only small ones.
"""
import collections
import os
import re
import sys

LOW = ["common/wire", "common/base"]
PURE = LOW + ["common/tree", "common/code", "common/profile"]
COMMON = PURE + ["common/render", "common/trace", "common/assemble", "common/encode"]
MAY_INCLUDE = {
    "common/wire": [],
    "common/base": ["common/wire"],
    "common/tree": LOW,
    "common/code": LOW,
    "common/profile": LOW,
    "common/encode": LOW,
    "common/render": LOW + ["common/profile"],
    "common/trace": PURE,
    "common/assemble": PURE,
    "daemon/ingest": PURE + ["common/trace"],
    "daemon/history": COMMON,
    "daemon/render": COMMON + ["daemon/history"],
    "daemon/answers": COMMON + ["daemon/ingest", "daemon/history", "daemon/render"],
    "daemon/state": COMMON + ["daemon/ingest", "daemon/history", "daemon/answers", "daemon/render"],
    "daemon/serve": COMMON + ["daemon/ingest", "daemon/answers", "daemon/render", "daemon/state"],
    "daemon": COMMON + ["daemon/ingest", "daemon/history", "daemon/answers", "daemon/render",
                        "daemon/state", "daemon/serve"],
    "client": COMMON,
    "client/attach": PURE,
    "client/remote": COMMON + ["client", "client/top"],
    "client/top": COMMON + ["client"],
    "client/commands": COMMON + ["client", "client/attach", "client/top"],
    "preload": ["common/wire"],
}
# What make generates stands in the room of what it is made from.
GENERATED = {"common/render/page": "common/render"}
CIRCLE_MOST = 3
INCLUDE = re.compile(r'^#include "((?:client|common|daemon|preload)/[^"]+)"', re.M)


def room_of(path):
    folder = os.path.dirname(path)
    if folder.startswith("preload"):
        return "preload"
    return GENERATED.get(folder, folder)


def sources(root):
    for top in ("client", "common", "daemon", "preload"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in names:
                if name.endswith((".c", ".h")):
                    yield os.path.relpath(os.path.join(folder, name), root)


def reached(start, includes):
    found, ahead = set(), [start]
    while ahead:
        new = includes.get(ahead.pop(), set()) - found
        found |= new
        ahead += new
    return found


def circles(includes):
    """The largest sets of files of which each includes each, by way of others maybe."""
    below = {one: reached(one, includes) for one in includes}
    found = {frozenset(other for other in below[one] if one in below.get(other, ()))
             for one in includes if one in below[one]}
    return sorted(found, key=sorted)


def wrong_circles(includes):
    for circle in circles(includes):
        names = " ".join(sorted(circle))
        if len({os.path.dirname(one) for one in circle}) > 1:
            yield f"includes make a circle across folders: {names}"
        elif len(circle) > CIRCLE_MOST:
            yield f"includes make a circle of {len(circle)} files: {names}"


def main():
    root = os.environ["HCCT_SRCDIR"]
    wrong, files, arrows = [], 0, collections.Counter()
    includes = collections.defaultdict(set)
    for path in sorted(sources(root)):
        room = room_of(path)
        files += 1
        if room not in MAY_INCLUDE:
            wrong.append(f"{path}: no room of the table; say what {room} may include")
            continue
        with open(os.path.join(root, path), encoding="utf-8") as source:
            for included in INCLUDE.findall(source.read()):
                to = room_of(included)
                one, other = (os.path.splitext(name)[0] for name in (path, included))
                if one != other:
                    includes[one].add(other)
                if to == room:
                    continue
                arrows[room, to] += 1
                if to not in MAY_INCLUDE[room]:
                    wrong.append(f"{path} includes {included}: {room} must not know {to}")
    wrong += wrong_circles(includes)
    for line in wrong:
        print("FAIL", line)
    print(f"{files} files, {len(MAY_INCLUDE)} rooms, {len(arrows)} arrows, "
          f"{len(circles(includes))} circles, {len(wrong)} wrong")
    sys.exit(1 if wrong or files < 100 else 0)


main()
