# SPDX-License-Identifier: LGPL-3.0-or-later
"""What the tests of attaching look at in a process: the words by which its objects call each other."""

import re
import subprocess


def text_of(pid, name):
    with open(f"/proc/{pid}/{name}") as file:
        return file.read()


def objects(pid):
    """{path: lowest address} of what is mapped and is a file."""
    found = {}
    for line in text_of(pid, "maps").splitlines():
        words = line.split(None, 5)
        if len(words) == 6 and words[5].startswith("/") and words[2] == "00000000":
            found.setdefault(words[5], int(words[0].split("-")[0], 16))
    return {path: base for path, base in found.items() if "hcctattach" not in path}


def is_moved(path):
    """Not one whose addresses are those of its file (ET_EXEC)."""
    with open(path, "rb") as file:
        return file.read(18)[16:] != b"\x02\x00"


def words_of(pid):
    """{(path, name): bytes} of the words by which objects call others, and the rights of their pages."""
    found = {}
    with open(f"/proc/{pid}/mem", "rb") as memory:
        for path, base in objects(pid).items():
            result = subprocess.run(["readelf", "-rW", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                    check=False)
            for line in result.stdout.decode(errors="replace").splitlines():
                words = line.split()
                if len(words) >= 5 and re.search("JUMP_SLO|GLOB_DAT", words[2]):
                    memory.seek((base if is_moved(path) else 0) + int(words[0], 16))
                    found[path, words[4], words[0]] = memory.read(8)
    return found


def rights_of(pid):
    return [line.split()[0:2] + line.split()[5:] for line in text_of(pid, "maps").splitlines()
            if "/" in line and "hcctattach" not in line and "/memfd:" not in line]
