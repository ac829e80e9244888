# SPDX-License-Identifier: LGPL-3.0-or-later
"""What the tests of attaching have in common: programs that are attached to, what is seen of them by the wall
clock, and what they read of a process: the words by which its objects call each other."""

import re
import signal
import subprocess
import time

from support import HCCT, check, folded, run, scratch


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


# ---- programs ----

def start(*command, **kwargs):
    process = subprocess.Popen(command, stdout=subprocess.PIPE, **kwargs)
    time.sleep(0.5)
    return process


def end(process):
    process.send_signal(signal.SIGTERM)
    try:
        out, _ = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        return "hangs", ""
    return process.returncode, out.decode().strip()


def succeeds(*words):
    result = run([HCCT, *words])
    if result.status != 0:
        print(f"{words[0]}: {result.status} {result.err.decode().strip()[-300:]}")
    return result.status == 0


def attach(daemon, process, *options):
    return succeeds("attach", "--socket", daemon.socket, "--wait", "60", *options, str(process.pid))


def detach(process):
    return succeeds("detach", "--wait", "60", str(process.pid))


# ---- what is seen ----

def record(process, seconds, path, *options):
    result = run([HCCT, "record", "-p", str(process.pid), "--duration", f"{seconds}s", "-o", path, *options])
    return check(result.status == 0, f"hcct record -p {' '.join(options)}: {result.err.decode().strip()[-200:]}") \
        and result.err.decode() + result.out.decode()


def own_weights(path, names):
    found = dict.fromkeys(names, 0)
    for frames, weight in folded(path):
        for name in names:
            if name in frames:
                found[name] += weight
    return found


def lost_ns(said):
    found = re.search(r"\(([0-9.]+) (ns|us|ms|s) of time, in no context\)", said)
    return float(found[1]) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[found[2]] if found else 0


WOKEN = ["waits_in_poll", "waits_for_condition", "waits_in_read", "waits_in_recv"]
SLEEPERS = [*WOKEN, "naps", "transfers", "takes"]


def asleep(*command):
    """Each thread is there for all of the time, whatever it slept in when somebody attached; or the report says
    for how long it was not: the main thread, which waits for signals, is not. Those that wait for ever are woken."""
    process, path = start(*command), scratch("wall.pb.gz")
    for time_of in "the first time", "again":
        began = time.monotonic()
        said = record(process, 4, path, "--clock", "wall")
        took = time.monotonic() - began
        if not said:
            continue
        found, lost = own_weights(path, SLEEPERS), lost_ns(said)
        most = max(found.values())
        late = max(0, lost - most)  # what is not the main thread's
        for name in SLEEPERS:
            check(found[name] >= 0.97 * most - late, f"{name}: {found[name] / 1e9:.2f} s of {most / 1e9:.2f}, "
                  f"{late / 1e9:.2f} of all are lost, {time_of}")
        for name in WOKEN:
            check(found[name] > most / 2, f"{name} was woken: {found[name] / 1e9:.2f} s of {most / 1e9:.2f}")
        whole = (len(SLEEPERS) + 1) * most
        check(0.97 * whole <= sum(found.values()) + lost <= (len(SLEEPERS) + 1) * took * 1e9,
              f"with what is lost all threads have {(sum(found.values()) + lost) / 1e9:.2f} s of {whole / 1e9:.2f}")
        check(text_of(process.pid, "timers") == "", "the program has no timer left")
    status, out = end(process)
    check(status == 0, f"nothing of it was seen: {out}")
