# SPDX-License-Identifier: LGPL-3.0-or-later
"""Names that programs and profiles bring along say nothing to the terminal, whatever prints them."""

import gzip
import json
import os
import re
import shutil
import socket
import subprocess

from support import Daemon, check, finish, record, run, scratch, target, HCCT

# a title by OSC, CSI as ASCII, as one byte and as a character, another order of what follows
EVIL = b"\x1b]0;owned\x07\x1b[31m\x9b31m\xc2\x9b32m\xe2\x80\xaetxt.exe"
# what a terminal obeys or does not show; newlines and tabs are the report's own
FORBIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
FORMATS = ["text", "json", "folded", "callgrind", "speedscope", "firefox", "html", "dot"]


def printable(what, *outputs):
    bad = []
    for output in outputs:
        try:
            bad += [ascii(output.decode()[max(0, m.start() - 30):m.end() + 10])
                    for m in FORBIDDEN.finditer(output.decode())][:3]
        except UnicodeDecodeError as error:
            bad.append(str(error))
    check(not bad, f"{what} is printable {' '.join(bad)[:300]}")


def said(what, command, **more):
    result = run(command, **more)
    printable(what, result.out, result.err)
    return result


# ---- a program of such a name ----

evil = os.path.join(os.fsencode(scratch("")), b"ev" + EVIL)
shutil.copy(target("known_shares"), evil)
profile = scratch("evil.pb.gz")
said("hcct record", [HCCT, "record", "-o", profile, "--", evil, "1"])
said("hcct record of what does not run", [HCCT, "record", "--", evil + b"no"])
os.chmod(evil, 0o644)
said("hcct record of what may not", [HCCT, "record", "--", evil])
said("hcct doctor of it", [HCCT, "doctor", evil])
os.chmod(evil, 0o755)
said("hcct doctor", [HCCT, "doctor", evil])
for form in FORMATS:
    said(f"hcct report --format {form}", [HCCT, "report", profile, "--format", form])
said("hcct report of no file", [HCCT, "report", evil + b"none"])

with Daemon("--listen", "127.0.0.1:0") as daemon:
    app = subprocess.Popen([evil, "60"], env={**os.environ, **daemon.env()},
                           stdout=subprocess.DEVNULL)
    check(daemon.wait_for(lambda p: p["pid"] == app.pid and p["walks"] > 0), "the program is profiled")
    listed = said("hcct list --format json", [HCCT, "list", "--socket", daemon.socket, "--format", "json"])
    command = json.loads(listed.out)["processes"][0]["command"]
    check("\x1b]0;owned\x07" in command and "\x9b32m\u202e" in command, "in JSON, nothing of the name is lost")
    for words in (["list"], ["hot"], ["hot", "--format", "json"], ["hot", "--by", "module"],
                  ["top", "--batch", "--iterations", "1"], ["stop", "-p", str(app.pid)],
                  ["start", "-p", str(app.pid)], ["snapshot"], ["hot", "-p", evil + b"none"],
                  ["set", "-p", str(app.pid), "--rate", "200"], ["annotate", "none", "-p", str(app.pid)]):
        said(f"hcct {b' '.join(w if isinstance(w, bytes) else w.encode() for w in words)!r}"[:40],
             [HCCT, words[0], "--socket", daemon.socket, *words[1:]])
    for path in ("/metrics", "/v1/processes", f"/v1/threads?pid={app.pid}", "/v1/hot?exe=%1b%5b31m",
                 "/v1/hot?%1b=%9b", "/%1b%5b31m", "/v1/hot?format=%c2%9b", "/v1/hot?pid=%1b"):
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(daemon.socket)
            client.sendall(f"GET {path} HTTP/1.0\r\nHost: hcct\r\n\r\n".encode())
            printable(f"GET {path}", b"".join(iter(lambda: client.recv(1 << 16), b"")).replace(b"\r\n", b"\n"))
    app.kill()
    app.wait()
printable("what hcctd says", open(scratch("hcctd.log"), "rb").read())


# ---- a profile of others ----

def varint(n):
    out = b""
    while n >= 128:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def read_varint(data, at):
    n = shift = 0
    while True:
        n |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return n, at


def strings_changed(data, change):
    """The profile with each string of its table (field 6) but the first changed."""
    at, out, n = 0, b"", 0
    while at < len(data):
        begin = at
        key, at = read_varint(data, at)
        size, body = read_varint(data, at)
        if key & 7 == 0:
            at = body
        elif key & 7 == 2:
            at = body + size
        else:
            raise SystemExit("a field of a kind that hcct does not write")
        if key == 6 << 3 | 2:
            text = data[body:at] if n == 0 else change(data[body:at])
            n += 1
            out += varint(key) + varint(len(text)) + text
        else:
            out += data[begin:at]
    return out


plain = gzip.decompress(open(profile, "rb").read())
KEPT = (b"cpu", b"nanoseconds", b"samples", b"count")
changes = {"names": lambda text: text if text in KEPT else text + EVIL,
           "all": lambda text: text + EVIL,
           "alone": lambda text: EVIL,
           "lines": lambda text: text if text in KEPT else text.replace(b" ", b" \x1b[2J\n") + EVIL}
for name, change in changes.items():
    path = scratch(f"foreign-{name}.pb.gz")
    with open(path, "wb") as file:
        file.write(gzip.compress(strings_changed(plain, change)))
    for form in FORMATS:
        said(f"{name}: hcct report --format {form}", [HCCT, "report", path, "--format", form])
    for by in ("line", "module", "site"):
        said(f"{name}: hcct report --by {by}", [HCCT, "report", path, "--by", by])
    said(f"{name}: hcct report in few columns", [HCCT, "report", path], env={"COLUMNS": "60"})
    said(f"{name}: hcct diff", [HCCT, "diff", path, profile])
    said(f"{name}: hcct diff with itself as json", [HCCT, "diff", path, path, "--format", "json"])
    said(f"{name}: hcct diff --fail-above", [HCCT, "diff", profile, path, "--fail-above", "1%"])
    said(f"{name}: hcct merge", [HCCT, "merge", "-o", scratch("merged.pb.gz"), path, profile])
    said(f"{name}: hcct eval", [HCCT, "eval", "--exact", path, "--approx", profile])
    said(f"{name}: hcct annotate", [HCCT, "annotate", "burn", path])
    said(f"{name}: hcct annotate by its name", [HCCT, "annotate", b"burn" + EVIL, path])
    said(f"{name}: hcct annotate --format json", [HCCT, "annotate", "burn", path, "--format", "json"])
finish()
