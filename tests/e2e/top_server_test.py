# SPDX-License-Identifier: LGPL-3.0-or-later
"""hcct top on a real server with several threads under load: redis, with threads of its own that
read and write, and redis-benchmark. What the screen says is held against what the kernel says of
the threads, what the server's file says of its functions, and what hcctd has lost.

Nothing here depends on speed: each step waits for what it must bring onto the screen.
"""

import atexit
import os
import re
import subprocess

import workloads
from screen import PATIENCE, Terminal, patiently
from support import HCCT, Daemon, check, finish, need, run, scratch, skip

need("tmux", "redis-benchmark", "nm")

CELL = 7           # columns of a number in the tree
COLUMNS = ("total%", "self%", "10s%", "10s self%", "name")
BUSY = 1.0         # seconds: a thread that has worked
SLACK = 0.1        # seconds of CPU time that may not have been credited yet
SLACK_SHARE = 0.1  # of a thread's CPU time, beside that
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
THREAD = re.compile(r"^ *(?P<pid>\d+) +(?P<tid>\d+) +[\d.]+ +[\d.]* +(?P<time>[\d.]+) (?P<unit>\w+)"
                    r" +\S+ +(?P<lost>\d+) +\S+ +(?P<name>.+)$", re.M)

started = []


def start(*command, **kwargs):
    started.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                    **kwargs))
    return started[-1]


@atexit.register
def stop_all():
    """Nothing of ours goes on when the test ends early."""
    for process in (*started, daemon.process):
        if process is not None and process.poll() is None:
            process.kill()
            process.wait()
    if terminal is not None:
        terminal.kill()


# ---- what others say ----

def exported(program):
    """The functions that a file has names of, though it is stripped."""
    lines = run(["nm", "-D", "--defined-only", program]).out.decode().splitlines()
    return {words[2] for words in map(str.split, lines) if len(words) == 3 and words[1] in "TtWwi"}


def kernel_threads():
    """{tid: (name, seconds of CPU time)}, by /proc."""
    threads = {}
    for tid in os.listdir(f"/proc/{server.pid}/task"):
        try:
            with open(f"/proc/{server.pid}/task/{tid}/comm", encoding="utf-8") as file:
                name = file.read().rstrip("\n")
            with open(f"/proc/{server.pid}/task/{tid}/schedstat", encoding="ascii") as file:
                threads[int(tid)] = (name, int(file.read().split()[0]) / 1e9)
        except OSError:
            pass  # it has ended
    return threads


def busy_threads():
    return {tid: thread for tid, thread in kernel_threads().items() if thread[1] >= BUSY}


def lost():
    return next(p["lost"] for p in daemon.processes() if p["pid"] == server.pid)


# ---- what the screen says ----

def tree_rows(screen):
    """[{column: number, ..., name, module}] of the tree; the columns are those of the title."""
    lines = screen.splitlines()
    at = next((i for i, line in enumerate(lines) if re.match(r"^[ *]+total% ", line)), len(lines))
    rows = []
    for line in lines[at + 1:-1]:
        row = re.match(r"^([^▾▸·]*)[▾▸·] (\S+)(?:  \[(\S+)\])?", line)
        if row is None:
            continue
        numbers, window = (row[1].split("│") + [""])[:2]
        cells = [text[CELL * i:CELL * (i + 1)].strip() for text in (numbers, window[1:])
                 for i in (0, 1)]
        if all(re.fullmatch(r"(\d+\.\d)?", cell) for cell in cells):
            rows.append(dict(zip(COLUMNS, [float(cell or 0) for cell in cells]),
                             name=row[2], module=row[3] or ""))
    return rows


def sorted_by(column):
    def holds(screen):
        values = [row[column] for row in tree_rows(screen)]
        ordered = sorted(values, reverse=column != "name")
        marks = {"total%": r"^\*total%", "self%": r"^ total% +\*self%", "10s%": r"│ +\*10s%",
                 "10s self%": r"10s% +\*self%", "name": r"\*function$"}
        return len(values) > 5 and values == ordered and re.search(marks[column], screen, re.M)
    return holds


def thread_rows(screen):
    """{tid: (name, seconds, lost)} of the list of threads."""
    return {int(row["tid"]): (row["name"].strip(), float(row["time"]) * UNITS[row["unit"]],
                              int(row["lost"]))
            for row in THREAD.finditer(screen)
            if int(row["pid"]) == server.pid and row["unit"] in UNITS}


def not_less(now, then):
    return now >= then * (1 - SLACK_SHARE) - SLACK


def shares_of_threads(screen):
    """The main thread's share, and that of all others: the rows in which their stacks begin."""
    def sum_of(name):  # a walk that could not go on to the root is a row apart
        return sum(row["total%"] for row in tree_rows(screen) if row["name"] == name) / 100
    return (sum_of("main"), sum_of("IOThreadMain")) if sum_of("IOThreadMain") > 0 else None


daemon, terminal = Daemon(), None
program = workloads.redis_server(scratch)
functions = exported(program)
if not {"main", "aeMain", "IOThreadMain"} <= functions:
    skip("this redis-server has no names of functions")
daemon.start()
socket = scratch("redis.sock")
server = start(program, "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly",
               "no", "--io-threads", "4", "--io-threads-do-reads", "yes",
               env={**os.environ, **daemon.env()}, cwd=scratch(""))
check(patiently(lambda: os.path.exists(socket)), "the server listens")
load = start("redis-benchmark", "-s", socket, "-c", "50", "-P", "16", "-l", "-q",
             "-t", "get,set,lrange")
check(patiently(lambda: len(busy_threads()) >= 4),
      f"by /proc, four threads of it work: {kernel_threads()}")
check(daemon.wait_for(lambda p: p["pid"] == server.pid and p["walks"] > 100, PATIENCE),
      "and it is profiled")

# ---- who and how much ----

terminal = Terminal(130, 40, HCCT_SOCKET=daemon.socket, TERM="screen")
lost_before = lost()
terminal.command(f"{HCCT} top -p redis-server --delay 0.3")
terminal.wait(rf"^hcct top +\S+ \(pid {server.pid}, \d+ threads\), profiled for",
              "-p takes the name that ps has for the server")
said = terminal.wait_until(
    lambda screen: re.search(r"^N .* in \S+ samples .* % complete, (\d+) lost", screen, re.M),
    "walks, and those that are lost")
check(said and lost_before <= int(said[1]) <= lost(), "lost ones are those that hcctd has counted")
terminal.wait(r"^the last 10s: .* of CPU time, over [\d.]+ s", "the last 10 s are beside the whole")

shares = terminal.wait_until(shares_of_threads, "both kinds of threads have rows") or (0, 0)
cpu = {tid: seconds for tid, (_, seconds) in kernel_threads().items()}
expected = cpu[server.pid] / sum(cpu.values())
check(abs(shares[0] - expected) < 0.15 and abs(shares[1] - (1 - expected)) < 0.15,
      f"the main thread has {shares[0]:.1%}, by /proc {expected:.1%}, the others {shares[1]:.1%}")

# ---- functions, by any column ----

terminal.press("f", r"error +function$.*· main", "functions")
for column in COLUMNS:
    terminal.wait_until(sorted_by(column), f"sorted by {column}")
    terminal.keys("s")
rows = terminal.wait_until(
    lambda screen: [row for row in tree_rows(screen) if row["module"] == "redis-server"],
    "rows of the server's own functions")
named = {row["name"] for row in rows if not row["name"].startswith("redis-server+0x")}
check(len(named) >= 3 and named <= functions,
      f"{len(named)} names, each of a function in the server's file; {sorted(named - functions)}")

# ---- folding, searching ----

terminal.press("f c", r"▸ redis-server \(pid \d+\)", "all is folded")
terminal.wait(r"aeMain", "nothing below is seen", absent=True)
terminal.press("Enter", r"▾ redis-server \(pid \d+\)", "unfolded")
terminal.press("c / iothreadm Enter", r"start_thread.*IOThreadMain", "found, and unfolded to there")
terminal.wait_for_match("IOThreadMain")
terminal.press("/ aeMain Enter o", r"main +\[redis.*aeMain", "the other one")
terminal.wait(r"IOThreadMain", "o: only paths with a match", absent=True)
terminal.press("Escape 0 g", r"IOThreadMain", "all again")

# ---- windows ----

terminal.press("W", r"^the last 60s: .* over .*│ +60s%", "the last minute")
terminal.press("[ [", r"^W shows the last .*error +calling context", "since the start only")
terminal.press("]", r"^the last 10s: .* over .*│ +10s%", "the last 10 s again")

# ---- threads ----

kernel = busy_threads()
terminal.keys("t")
listed = terminal.wait_until(
    lambda screen: set(kernel) <= set(thread_rows(screen)) and
    all(not_less(thread_rows(screen)[tid][1], kernel[tid][1]) for tid in kernel) and
    thread_rows(screen), f"t: all {len(kernel)} threads that have worked, and as long as they have")
after = kernel_threads()
check(listed and all(listed[tid][0] == after[tid][0] for tid in listed if tid in after) and
      set(listed) <= set(after), "each is a thread that /proc has, with the name that it has there")
check(listed and all(not_less(after[tid][1], seconds) for tid, (_, seconds, _) in listed.items()),
      f"none is credited with more than it has had: {listed}, /proc: {after}")
check(listed and sum(row[2] for row in listed.values()) <= lost(),
      "lost walks as hcctd counts them")
terminal.press("P", rf"{server.pid} +running +.*redis", "the processes")
terminal.press("Escape g", r"calling context.*IOThreadMain", "back to the tree")
check(load.poll() is None and server.poll() is None, "the server still answers its clients")

terminal.keys("q")
terminal.wait(r"calling context", "q: quits", absent=True)
terminal.command("echo status=$?")
terminal.wait(r"status=0$", "with status 0")
terminal.end()
load.terminate()
load.wait()
server.terminate()
check(server.wait(PATIENCE) == 0, "the server ends as it does without hcct")
check(daemon.stop() == 0, "the daemon ends with status 0")
finish()
