# SPDX-License-Identifier: LGPL-3.0-or-later
"""Moments that a program marks by hcct.h: listed, with their time; a part of the past from one to
another; from threads and handlers of signals at once; and of children."""

import json
import subprocess
import time

from support import AGENT, HCCT, Daemon, check, finish, record, report, run, scratch, target

MARKS, CELL = target("marks"), 2


class App:
    """A program that says what it has done, and then waits for the end of its input."""

    def __init__(self, daemon, *words):
        self.process = subprocess.Popen([MARKS, *map(str, words)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True,
                                        env=daemon.env(HCCT_RATE="250"))
        self.said = []
        for line in self.process.stdout:
            if line == "waits\n":
                break
            self.said.append(line.strip())

    def end(self):
        self.process.stdin.close()
        check(self.process.wait(60) == 0, "the program ends with status 0")


def timeline(daemon, *options):
    result = run(["curl", "-s", "--unix-socket", daemon.socket,
                  "http://hcct/v1/timeline" + "".join(options)])
    return json.loads(result.out)


def marks(daemon, *options):
    return [mark["name"] for mark in timeline(daemon, *options)["marks"]]


def hot(daemon, *options):
    result = run([HCCT, "hot", "--socket", daemon.socket, "--format", "json", *options])
    check(result.status == 0, f"hcct hot {options}: {result.err.decode().strip()}")
    return json.loads(result.out) if result.status == 0 else {"nodes": []}


def share(profile, function):
    seen = {"first": 0, "second": 0}
    for node in profile["nodes"]:
        if node.get("function") in seen:
            seen[node["function"]] += node["inclusive"]
    return seen[function] / max(1, sum(seen.values()))


def refused(daemon, words, *options):
    result = run([HCCT, "hot", "--socket", daemon.socket, *options])
    text = result.err.decode()
    check(result.status != 0 and words in text and text.count("\n") == 1, f"{options}: {text.strip()}")


with Daemon() as daemon:
    app = App(daemon, "phases", 2 * CELL)
    said = [(line.rsplit(" ", 1)[0], float(line.rsplit(" ", 1)[1])) for line in app.said]
    check(daemon.wait_for(lambda p: p["pid"] == app.process.pid and len(marks(daemon)) == 6) is not None,
          "all are listed")
    line = timeline(daemon)
    check([mark["name"] for mark in line["marks"]] == [name for name, _ in said], "in their order")
    check(all(abs(mark["time"] - when) < 0.5 for mark, (_, when) in zip(line["marks"], said)),
          f"when they were: {line['marks']}, {said}")
    check(all(mark["pid"] == app.process.pid and mark["command"] == "marks" for mark in line["marks"]),
          "whose they are")

    # Whole cells of two seconds, of which the first and the last may have some of its neighbour.
    profile = hot(daemon, "--since", "change", "--until", "done")
    check(share(profile, "second") > 0.4, f"from change to done: {share(profile, 'second'):.2f} second")
    for options in (("--since", "work begins", "--until", "change"),
                    ("--until", "change", "--since", f"{said[0][1]:.3f}")):
        profile = hot(daemon, *options)
        check(share(profile, "first") > 0.4, f"{options}: {share(profile, 'first'):.2f} first")
    whole, part = hot(daemon), hot(daemon, "--since", "change")
    check(0 < part["total"] < 0.6 * whole["total"], "since the last change: less than half of all")
    repeated = hot(daemon, "--since", "done", "--until", "done")
    check(0 < repeated["total"] < 0.9 * whole["total"], "from one to the next of the same name")
    result = run([HCCT, "diff", "--socket", daemon.socket, "--since", "change", "--until", "done"])
    check(result.status == 0, f"diff: {result.err.decode().strip()}")

    refused(daemon, "there is no mark nothing", "--since", "nothing")
    refused(daemon, "give a moment such as", "--since", "25:99")

    text = run([HCCT, "list", "--marks", "--socket", daemon.socket])
    rows = text.out.decode().splitlines()
    check(text.status == 0 and len(rows) == 7 and rows[1].endswith("work begins") and
          rows[6].split()[-1] == "done" and str(app.process.pid) in rows[1], text.out.decode())

    other = App(daemon, "odd")
    check(daemon.wait_for(lambda p: p["pid"] == other.process.pid) is not None, "another one is there")
    daemon.wait_for(lambda p: len(marks(daemon)) == 8)
    names = marks(daemon, f"?pid={other.process.pid}")
    check(len(names) == 2 and "\033" not in names[0] and "\n" not in names[0],
          f"nothing in a name steers a terminal: {names}")
    check(names[1:] == ["0123456789012345678901234567890123456789012345"],
          f"a long one is cut between characters: {names}")
    check(marks(daemon, f"?pid={app.process.pid}") == [name for name, _ in said],
          "those of one process")
    refused(daemon, "there is no mark change", "--since", "change", "-p", str(other.process.pid))
    other.end()
    app.end()
    check(len(marks(daemon)) == 8, "they stay when the program has ended")

with Daemon() as daemon:
    app = App(daemon, "storm", 700)
    check(app.said == ["700"], f"all were set: {app.said}")
    pid = app.process.pid

    def taken(p):
        return p["pid"] == pid and len(marks(daemon, f"?pid={pid}")) + p["marks_lost"] == 701

    check(daemon.wait_for(taken) is not None,
          f"each is there, or was counted as lost: {len(marks(daemon))}")
    app.end()

with Daemon() as daemon:
    app = App(daemon, "children")
    check(daemon.wait_for(lambda p: "of the parent" in marks(daemon)) is not None, "that of the parent")
    check("of vfork" not in marks(daemon), f"a child of vfork marks nothing: {marks(daemon)}")
    app.end()

# Those from before hcctd's start are kept, the last 24 of them, also where the program sleeps between them.
daemon = Daemon()
process = subprocess.Popen([MARKS, "early"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=daemon.env())
time.sleep(1.2)
begun = time.time()
with daemon:
    check(daemon.wait_for(lambda p: len(marks(daemon)) > 5) is not None, "marks from before hcctd's start are there")
    process.stdin.write("\n")
    process.stdin.flush()
    count = int(process.stdout.readline())
    daemon.wait_for(lambda p: f"early {count - 1}" in marks(daemon))
    early = timeline(daemon)["marks"]
    lost = sum(p["marks_lost"] for p in daemon.processes())
    names, times = [mark["name"] for mark in early], [mark["time"] for mark in early]
    check(len(names) + lost == count, f"{count} were set, {len(names)} are there, {lost} were lost")
    check(names == [f"early {i}" for i in range(lost, count)], f"in their order, from {names[:1]} on")
    check(lost == 0 or len(names) >= 24, f"only what is older than 24 others is lost: {lost}")
    check(times == sorted(times) and times[-1] - times[0] > 0.09 * (len(times) - 1),
          "each with the time when it was set")
    check(lost > 0 or times[0] < begun, "which may be before hcctd's start")
    process.communicate(timeout=60)

# Profiles have them: of record, and of one that is running.
def listed(path):
    result = run([HCCT, "report", "--marks", path])
    rows = [line.split(None, 5)[4:] for line in result.out.decode().splitlines()[1:]]
    return result.status, [tuple(row) for row in rows], result.err.decode()


path = scratch("phases.pb.gz")
begun = time.time()
result = record([MARKS, "phases", "0.3"], path)
check(result.status == 0, f"recorded: {result.err[-300:]!r}")
wanted = ["work begins", "change", "done"] * 2
status, rows, err = listed(path)
check(status == 0 and rows == [("marks", name) for name in wanted], f"report --marks: {rows} {err}")
in_json = report(path)["marks"]
check([mark["name"] for mark in in_json] == wanted and
      all(begun < mark["time_ns"] / 1e9 < time.time() for mark in in_json), f"as JSON: {in_json}")
info = json.loads(report(path, form="firefox"))["meta"]["extra"]
facts = [entry["value"] for section in info for entry in section["entries"] if "Mark at" in entry["label"]]
check(facts == wanted, f"for the Firefox Profiler: {facts}")
again = scratch("again.pb.gz")
run([HCCT, "report", "-o", again, path])
check(report(again).get("marks") == in_json, "they stay in a copy")
record(["sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"], scratch("none.pb.gz"))
status, rows, err = listed(scratch("none.pb.gz"))
check(status == 4 and "has no marks" in err, f"a file without marks: {status} {err}")
several = scratch("several.pb.gz")
record([MARKS, "phases", "0.2"], several, "--metric", "cpu,faults")
for metric in ("cpu", "faults"):
    found = [mark["name"] for mark in report(several, "--metric", metric).get("marks", [])]
    check(found == wanted, f"with several metrics, {metric}: {found}")
with Daemon() as daemon:
    app = App(daemon, "odd")
    daemon.wait_for(lambda p: len(marks(daemon)) == 2)
    spun = App(daemon, "phases", 0.2)
    daemon.wait_for(lambda p: len(marks(daemon)) == 8)
    run([HCCT, "hot", "--socket", daemon.socket, "-o", scratch("hot.pb.gz")])
    names = [mark["name"] for mark in report(scratch("hot.pb.gz"))["marks"]]
    check(names[2:] == wanted and names[:2] == marks(daemon)[:2], f"hot -o: {names}")
    run([HCCT, "hot", "--socket", daemon.socket, "-p", str(spun.process.pid), "-o", scratch("one.pb.gz")])
    names = [mark["name"] for mark in report(scratch("one.pb.gz"))["marks"]]
    check(names == wanted, f"hot -p -o: {names}")
    app.end()
    spun.end()

plain = run([MARKS, "storm", "2000"])
agent = run([MARKS, "storm", "2000"], env={"LD_PRELOAD": AGENT, "HCCT_SOCKET": scratch("nobody.sock")})
check((plain.status, plain.out, plain.err) == (agent.status, agent.out, agent.err) ==
      (0, b"2000\nwaits\n", b""), "with and without the agent the output is the same")
finish()
