# SPDX-License-Identifier: LGPL-3.0-or-later
"""The report that people read, of real programs and of hard ones: at most 50 lines, none wider than
the terminal; a row is a callee if and only if it is indented, and has its caller's weight at most;
each line has a number or goes on with the one before. On a terminal a long report goes through the
pager."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios

from support import HCCT, check, finish, need, record, report, run, scratch, target

need("g++", "make")

LINES_MAX = 50
WIDTHS = (80, 100, 132, 200)


def text(path, columns, *options):
    result = run([HCCT, "report", *options, path],
                 env={"COLUMNS": str(columns), "LC_ALL": "C.UTF-8"})
    if result.status != 0:
        raise SystemExit(result.err.decode())
    return result.out.decode()


class Row:
    def __init__(self, line, begin):
        bars = re.match(r"[│├└─ ]*", line[begin:]).end()
        self.level, self.words = bars, line[begin + bars:]
        self.incl = share_of(line[:7])


def share_of(cell):
    return float(cell.split()[0]) if cell.strip() else 0


def trees(lines):
    """[[Row]] of each tree; lines that go on with a row are none."""
    found, begin = [], None
    for line in lines:
        if line.startswith("  incl.") and line.endswith("context"):
            begin = len(line) - len("context")
            found.append([])
        elif begin is not None and line == "":
            begin = None
        elif begin is not None and line[:begin].strip():
            row = Row(line, begin)
            if not row.words.startswith("(level "):  # deeper than there is room: it tells how deep
                found[-1].append(row)
    return found


def check_tree(rows):
    """What the rows that are indented below a row have is not more than it has."""
    callers, below = [], {}
    for i, row in enumerate(rows):
        while callers and rows[callers[-1]].level >= row.level:
            callers.pop()
        if callers:
            below.setdefault(callers[-1], []).append(row)
        callers.append(i)
    for i, rows_below in below.items():
        rounding = 0.05 * (len(rows_below) + 1.1)
        if sum(row.incl for row in rows_below) > rows[i].incl + rounding:
            return f"below {rows[i].words}"
        if any(row.words.startswith("[~]") for row in rows_below[:-1]):
            return f"[~] is not the last below {rows[i].words}"
    return None


def check_report(what, path, *options):
    for columns in WIDTHS:
        lines = text(path, columns, *options).splitlines()
        widest = max(len(line) for line in lines)
        wrong = [check_tree(rows) for rows in trees(lines)]
        bare = [line for line in lines if line.strip() and not re.search(r"\d", line)
                and not re.match(r"  (incl|share)|(Hottest|Hot contexts)|[a-z+.]+ +\S|\s+\S", line)]
        check(len(lines) <= LINES_MAX and widest <= columns and trees(lines)
              and not any(wrong) and not bare,
              f"{what} at {columns} columns: {len(lines)} lines, the widest has {widest}, "
              f"{sum(map(len, trees(lines)))} rows {[w for w in wrong if w] or ''}{bare or ''}")
    return lines


def head_line(lines, label):
    return next((line for line in lines if line.startswith(label)), "")


# ---- 100 equal functions: as many as fit, and how many are left ----

path = scratch("handlers.pb.gz")
result = record([target("handlers"), "1"], path)
check(result.status == 0 and len(result.err.decode().splitlines()) <= LINES_MAX,
      "what hcct record prints has no more lines than a report")
functions = {node["function"] for node in report(path)["nodes"]
             if node.get("function", "").startswith("handler_")}
lines = check_report("100 handlers", path)
tree = trees(lines)[0]
shown = [row for row in tree if "handler_" in row.words]
left = re.search(r"\[~\] (\d+) more callees", "\n".join(lines))
beyond = len(shown) + (int(left.group(1)) if left else 0) - len(functions)
check(len(shown) >= min(15, len(functions)) and 0 <= beyond <= 5,  # main calls others now and then
      f"{len(shown)} of {len(functions)} handlers have a row, the others are counted: "
      f"{left.group(0) if left else None}")
half = float(re.search(r"50 % ±([\d.]+) points", head_line(lines, "sampling")).group(1))
walks = sum(process["walks"] for process in report(path)["processes"])
check(0.9 * 98 / walks ** 0.5 - 0.1 <= half <= 5 * 98 / walks ** 0.5 + 0.1,
      f"the 95 % interval of a half in {walks} walks: ±{half} points")
check(len(text(path, 100, "--cut", "0").splitlines()) > LINES_MAX or len(functions) < 40,
      "--cut 0 shows all of them")

# ---- programs of other shapes ----

path = scratch("threads.pb.gz")
record([target("equal_threads"), "3", "0.3"], path)
lines = check_report("three threads", path)
names = " ".join(row.words for row in trees(lines)[0])
check(all(f"thread_{i}" in names for i in range(3)), "each of the three has a row")

source = scratch("small.cc")
with open(source, "w", encoding="ascii") as file:
    file.write("#include <map>\n#include <string>\n#include <vector>\n"
               "int main() { std::map<int, std::vector<std::string>> m; m[1].push_back(\"x\");"
               " return (int)m.size(); }\n")
path = scratch("compiler.pb.gz")
record(["g++", "-O2", "-c", source, "-o", scratch("small.o")], path)
check_report("g++ -O2", path)
merged = [path]

makefile = scratch("Makefile")
with open(makefile, "w", encoding="ascii") as file:
    file.write("all: a.o b.o\na.o b.o:\n\tg++ -O1 -c small.cc -o $@\n")
path = scratch("make.pb.gz")
result = record(["make", "-s", "-j2", "-C", os.path.dirname(makefile)], path)
check(result.status == 0, "make runs")
check_report("make -j2", path)
merged.append(path)

path = scratch("python.pb.gz")
record([sys.executable, "-c", "print(sum(i * i for i in range(3000000)))"], path)
check_report("python3 -c", path)

path = scratch("bursts.pb.gz")
record([target("handlers"), "1"], path, "--burst", "2ms/20ms")
lines = check_report("bursts", path)
check("95 % intervals" in " ".join(lines) and "as one sample" not in " ".join(lines),
      "intervals of bursts are those of their samples")

path = scratch("wall.pb.gz")
record([target("equal_threads"), "2", "0.3"], path, "--clock", "wall")
check_report("wall clock", path)

path = scratch("calls.pb.gz")
record([target("calls_recursive"), "1"], path, "--collector", "calls")
lines = check_report("calls", path)
check(head_line(lines, "sampling") == "", "no chance where every call is counted")

path = scratch("few.pb.gz")
record([target("calls_recursive"), "1"], path, "--collector", "calls", "--phi", "0.1", "--epsilon",
       "0.05")
lines = check_report("calls in little memory", path)
check(" more " in head_line(lines, "  incl.") and head_line(lines, "+x.x") != "",
      "bounds have a column, and the head says what it means")

path = scratch("merged.pb.gz")
check(run([HCCT, "merge", "-o", path, *merged]).status == 0, "profiles are merged")
check_report("a merged profile", path)


# ---- the pager ----

def on_terminal(rows, **env):
    """What `hcct report` shows on a terminal of so many rows."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 100, 0, 0))
    process = subprocess.Popen([HCCT, "report", path], stdin=subprocess.DEVNULL, stdout=theirs,
                               stderr=subprocess.DEVNULL,
                               env={**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", **env})
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # that is how the end of a terminal reads
            break
        if part == b"":
            break
        shown += part
    os.close(ours)
    return process.wait(), re.sub(r"\033\[[0-9;]*m", "", shown.decode()).splitlines()


PAGER = "sed 's/^/paged: /'"
whole = text(path, 100).splitlines()
status, lines = on_terminal(10, PAGER=PAGER)
check(status == 0 and lines == ["paged: " + line for line in whole], "a long report is paged")
for what, rows, pager in (("fits", 100, PAGER), ("has no pager", 10, ""), ("is cat's", 10, "cat"),
                          ("has a pager that is not there", 10, "/nonexistent/pager")):
    status, lines = on_terminal(rows, PAGER=pager)
    check(status == 0 and lines == whole, f"one that {what} is shown as it is")
status, lines = on_terminal(10, PAGER="head -n 3")
check(status == 0 and lines == whole[:3], "a pager that is left early is no error")
result = run([HCCT, "report", path], env={"PAGER": PAGER, "COLUMNS": "100", "LC_ALL": "C.UTF-8"})
check(result.out.decode().splitlines() == whole, "into a pipe goes the text itself")
check(json.loads(run([HCCT, "report", "--format", "json", path],
                     env={"COLUMNS": "80"}).out)["format"] is not None, "other formats are as ever")
finish()
