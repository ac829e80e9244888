# SPDX-License-Identifier: LGPL-3.0-or-later
"""What was different then: a part of the past by --since and --until, the rest beside it, the time line,
and hours that are still there after hcctd has been started anew."""

import json
import os
import subprocess
import time

from support import HCCT, Daemon, check, finish, report, run, scratch, target

CELL = 2  # seconds
LAG = 1   # what is credited now may have been sampled a little earlier


def start(daemon, *arguments):
    return subprocess.Popen([target("phases"), *map(str, arguments)], env=daemon.env(HCCT_RATE="250"),
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def moment(app, word):
    check(app.stdout.readline().strip() == word, f"the program says {word}")
    return time.time()


def hot(daemon, *options):
    result = run([HCCT, "hot", "--socket", daemon.socket, "--format", "json", *map(str, options)])
    check(result.status == 0, f"hcct hot {options}: {result.err.decode().strip()}")
    return json.loads(result.out)


def weights(profile):
    seen = {"first": 0, "second": 0}
    for node in profile["nodes"]:
        if node.get("function") in seen:
            seen[node["function"]] += node["inclusive"]
    return seen


def ask(daemon, target):
    """The text of an answer, whatever its status."""
    return subprocess.run(["curl", "-s", "--unix-socket", daemon.socket, f"http://hcct{target}"],
                          check=True, capture_output=True).stdout.decode()


def ask_file(daemon, since, until):
    """The answer as a file of pprof, which hcctd writes itself."""
    path = scratch("hour.pb.gz")
    run([HCCT, "hot", "--socket", daemon.socket, "--since", str(since), "--until", str(until), "-o", path])
    return path


def timeline(daemon, kind=""):
    return json.loads(ask(daemon, "/v1/timeline" + (f"?collector={kind}" if kind else "")))


BY_TIME = {"interval", "margin", "beyond", "points"}  # of the scale, which is by the time of the rest


def is_same(one, other, scales):
    """Comparisons, as if nothing had been scaled: the rest goes on from one question to the next."""
    if isinstance(one, list):
        return len(one) == len(other) and all(is_same(a, b, scales) for a, b in zip(one, other))
    if not isinstance(one, dict):
        return one == other
    for key in one.keys() - BY_TIME:
        if key.startswith("before") and isinstance(one[key], int):
            if abs(one[key] / scales[0] - other[key] / scales[1]) > 1 + 1 / min(scales):
                return False
        elif not is_same(one[key], other[key], scales):
            return False
    return one.keys() == other.keys()


def compared(daemon, begin, end):
    """What hcctd says was different, against what hcct makes of the two profiles."""
    here = run([HCCT, "diff", "--socket", daemon.socket, "--since", str(begin), "--until", str(end),
                "--format", "json"])
    here = json.loads(here.out)
    there = json.loads(ask(daemon, f"/v1/hot?since={begin}&until={end}&diff=1&format=json"))
    page = json.loads(ask(daemon, f"/v1/hot?since={begin}&until={end}&diff=1&format=page-data"))
    check(here["why"] == there["why"] == "as long" and here["scale"] >= there["scale"],
          f"by time, of which the rest has more and more: {here['scale']:.3g}, {there['scale']:.3g}")
    total = there["total"]
    check(total["before"] == here["total"]["before"] and total["after"] == here["total"]["after"] and
          is_same(there["nodes"], here["nodes"], (there["scale"], here["scale"])),
          "hcctd compares a range with the rest as hcct diff does")
    check(page["kind"] == "diff" and [page["diff"][s]["name"] for s in ("before", "after")] ==
          ["the rest", "the range"], "and so does its page")
    other = json.loads(ask(daemon, f"/v1/hot?since={begin}&until={end}&diff=1&rest=1&format=json"))
    check(other["before"]["total"] == here["after"]["total"], "or the rest with the range")
    for query, words in (("diff=1&format=json", "give since= or until="),
                         (f"since={begin}&diff=1&format=pprof", "can't be written as pprof"),
                         (f"since={begin}&diff=2", "diff=2 is not possible: give 0 or 1")):
        text = ask(daemon, f"/v1/hot?{query}")
        check(words in text and text.count("\n") == 1, f"{query}: {text.strip()}")


def refused(daemon, words, *options):
    result = run([HCCT, *options, "--socket", daemon.socket])
    text = result.err.decode()
    check(result.status != 0 and words in text and text.count("\n") == 1, f"{options}: {text.strip()}")


state = scratch("state")
with Daemon("--state-dir", state) as daemon:
    app = start(daemon, 5, 5)  # longer than the cell and the lag that are left out on each side
    begin, change = moment(app, "first"), moment(app, "second")
    end = moment(app, "done")
    time.sleep(CELL + LAG)
    before = hot(daemon, "--since", begin, "--until", change - CELL - LAG)
    after = hot(daemon, "--since", change + CELL + LAG, "--until", end)
    upto = (before["time_ns"] + before["window_ns"]) / 1e9
    check(weights(before)["first"] > 0 and (weights(before)["second"] == 0 or upto > change),
          f"before: {weights(before)}")  # on a slow machine cells are minutes by now
    check(weights(after)["second"] > 0 and
          (weights(after)["first"] == 0 or after["time_ns"] < change * 1e9), f"after: {weights(after)}")
    from_ns, to_ns = after["time_ns"], after["time_ns"] + after["window_ns"]
    width = 60 if after["window_ns"] % 60e9 == 0 else CELL
    check(after["past"] and from_ns <= (change + CELL + LAG) * 1e9 < from_ns + width * 1e9 and
          end * 1e9 <= to_ns < (end + width) * 1e9, "the profile says what it is of, in whole cells")
    path = scratch("past.pb.gz")
    run([HCCT, "hot", "--socket", daemon.socket, "--since", str(begin), "--until", str(change), "-o", path])
    text = report(path, form="text")
    stamp = time.strftime("%Y-%m-%d %H:", time.localtime(begin))
    check(f" from {stamp}" in text.splitlines()[0], f"so does its file: {text.splitlines()[0]}")

    result = run([HCCT, "diff", "--socket", daemon.socket, "--since", str(change + CELL), "--until", str(end)])
    rows = [line for line in result.out.decode().splitlines() if " second" in line or " first" in line]
    if time.time() - begin < 55:
        check(result.status == 0 and rows and " second" in rows[0], f"against the rest: {rows[:1]}")
    else:
        print("this machine is too slow for cells of two seconds")
    result = run([HCCT, "diff", "--socket", daemon.socket, f"@{begin:.3f}..{change - CELL - LAG:.3f}",
                  f"@{change + CELL + LAG:.3f}..{end:.3f}"])
    check(result.status == 0 and b"second" in result.out, "two ranges")

    compared(daemon, change + CELL, end)

    line = timeline(daemon)
    check(sum(len(level["cells"]) for level in timeline(daemon, "wall")["levels"]) == 0 <
          sum(len(level["cells"]) for level in timeline(daemon, "walks")["levels"]),
          "of the kind that is asked for")
    check([level["seconds"] for level in line["levels"]] == [CELL, 60, 3600], "a time line of three levels")
    cells = [cell for level in line["levels"] for cell in level["cells"]]
    check(cells and all(c["since"] < c["until"] <= line["now"] + 1e-3 and c["load"] > 0 for c in cells),
          f"{len(cells)} cells with weight")
    # where an hour of the day ends meanwhile its cell begins with hcctd
    check(all(c["since"] % level["seconds"] == 0 for level in line["levels"] if level["seconds"] < 3600
              for c in level["cells"]),
          "they begin where minutes of the day do")
    whole = hot(daemon, "-p", app.pid)

    refused(daemon, "--since '1noon': give a moment such as", "hot", "--since", "1noon")
    refused(daemon, "there is no mark noon", "hot", "--since", "noon")
    refused(daemon, "no time lies between", "hot", "--since", "5m", "--until", "10m")
    refused(daemon, "no time lies between", "hot", "--since", "5m", "--until", "5m")
    refused(daemon, "exclude each other", "hot", "--since", "5m", "--window", "5m")
    refused(daemon, "name no profile", "diff", "--since", "5m", path, path)

check(len(os.listdir(os.path.join(state, "history"))) >= 1, "the hour so far is in a file")
EARLIER = os.path.join(state, "history", "1700000000-1700003600-0-0-0-1.pb.gz")
with open(EARLIER, "w", encoding="ascii") as file:
    file.write("an hour")
os.chmod(EARLIER, 0o600)
with Daemon("--state-dir", state, socket=daemon.socket) as daemon:
    with open(scratch("hcctd.log"), encoding="utf-8") as log:
        said = [line for line in log if "earlier version" in line]
    check(said == [f"hcctd: removed from {state}/history: files in which an earlier version kept an hour each, and "
                   "which this one does not read (1 of 7 bytes in all)\n"] and not os.path.exists(EARLIER),
          f"hours of an earlier version are removed, and that is said: {said}")
    kept = hot(daemon, "--since", begin - 1)
    check(0.95 * whole["total"] <= kept["total"] <= 1.05 * whole["total"] + 2e9,
          f"a new hcctd has it: {kept['total']} of {whole['total']} ns")
    check(weights(kept)["first"] > 0 < weights(kept)["second"], f"with its names: {weights(kept)}")
    old = hot(daemon, "--since", begin - 1, "--until", begin)
    check(old["total"] > 0, "and of a time of which a live process has nothing in memory")
    file = ask_file(daemon, begin - 1, begin)
    for form in "folded", "callgrind", "text":
        check(ask(daemon, f"/v1/hot?since={begin - 1}&until={begin}&format={form}") ==
              report(file, form=form),
              f"a renderer reads the hour as hcctd does, as {form}")
    line = timeline(daemon)
    check(sum(cell["weight"] for cell in line["levels"][2]["cells"]) > 0.9 * whole["total"],
          "and in the time line")
    mine = hot(daemon, "--since", begin - 1, "--exe", "phases")
    check(mine["total"] > 0, "by its name, too")
    other = run([HCCT, "hot", "--socket", daemon.socket, "--since", str(begin - 1), "--exe", "nobody",
                 "--format", "json"])
    check(other.status != 0 or json.loads(other.out)["total"] == 0, "nothing of another")
    app.communicate("")
finish()
