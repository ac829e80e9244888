# SPDX-License-Identifier: LGPL-3.0-or-later
"""Hot in the last seconds, beside since the start: a program that changes what it does, one that has
ended, several together, and windows that can't be."""

import json
import subprocess
import time

from support import HCCT, Daemon, check, finish, report, run, scratch, target

SUBWINDOW = 2e9  # a window goes back to the border of a sub-window
LAG = 1e9   # what is drained now may have been walked a little earlier


def start(daemon, *arguments, **settings):
    return subprocess.Popen([target("phases"), *map(str, arguments)],
                            env=daemon.env(HCCT_RATE="250", **settings), stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True)


def wait_for(app, word):
    line = app.stdout.readline().strip()
    check(line == word, f"the program says {word}")


def hot(daemon, *options):
    result = run([HCCT, "hot", "--socket", daemon.socket, "--format", "json", *options])
    return json.loads(result.out) if result.status == 0 else result


def weights(profile):
    """Weight below each function of the program's own."""
    seen = {"first": 0, "second": 0}
    for node in profile["nodes"]:
        if node.get("function") in seen:
            seen[node["function"]] += node["inclusive"]
    return seen


def refused(daemon, words, *options):
    result = run([HCCT, "hot", "--socket", daemon.socket, *options])
    text = result.err.decode()
    check(result.status == 2 and words in text and text.count("\n") == 1,
          f"hcct hot {' '.join(options)}: {text.strip()}")


with Daemon() as daemon:
    # a window that is longer than the program has lived
    app = start(daemon, 1.5, 1.5)
    begun = time.monotonic()
    wait_for(app, "first")
    wait_for(app, "second")
    wait_for(app, "done")
    of_app = "-p", str(app.pid)

    last, whole = hot(daemon, *of_app, "--window", "1h"), hot(daemon, *of_app)
    check("window_ns" not in whole, "since the start there is no window")
    check(last["total"] == whole["total"] and weights(last) == weights(whole),
          "a window from before the start is all there is")
    elapsed = (time.monotonic() - begun) * 1e9
    check(0 < last["window_ns"] <= elapsed + LAG, f"and is as long as the process lives: "
          f"{last['window_ns'] / 1e9:.1f} s of {elapsed / 1e9:.1f} s")
    check(weights(whole)["first"] > 0.3 * whole["total"] and
          weights(whole)["second"] > 0.3 * whole["total"], "since the start: both phases")
    process = last["processes"][0]
    check(process["walks"] == whole["processes"][0]["walks"], "with all its walks")

    # idle for so long that nothing is left of both
    time.sleep(2 + (SUBWINDOW + LAG) / 1e9)
    empty = hot(daemon, *of_app, "--window", "2s")
    check(empty["total"] == 0 and 2e9 <= empty["window_ns"] <= 2e9 + SUBWINDOW + LAG,
          f"nothing in the last {empty['window_ns'] / 1e9:.1f} s of a program that waits")
    check(empty["processes"][0]["walks"] == 0 and empty["processes"][0]["live"], "no walks, but live")
    text = run([HCCT, "hot", "--socket", daemon.socket, *of_app, "--window", "1"]).out.decode()
    check("in the last" in text, f"the report says so: {text.strip()}")
    app.communicate("")

    # phases that the daemon tells apart: ask when the second has lasted for more than a window
    app = start(daemon, 2, 12)
    wait_for(app, "first")
    wait_for(app, "second")
    of_app = "-p", str(app.pid)
    time.sleep(1 + (SUBWINDOW + LAG) / 1e9)
    for _ in range(20):  # should others have kept it from running
        last = hot(daemon, *of_app, "--window", "1s")
        if last["total"] > 0:
            break
        time.sleep(0.5)
    whole = hot(daemon, *of_app)
    check(1e9 <= last["window_ns"] == last["duration_ns"] <= 1e9 + SUBWINDOW + LAG,
          f"the last {last['window_ns'] / 1e9:.2f} s")
    check(weights(last)["first"] == 0 and weights(last)["second"] >= 0.95 * last["total"] > 0,
          f"the last second has the second phase only: {weights(last)} of {last['total']}")
    check(weights(whole)["first"] >= 1e9, f"since the start there is the first: {weights(whole)}")
    check(0 < last["total"] < whole["total"], "a window weighs less than the whole")
    process = last["processes"][0]
    check(0 < process["walks"] < whole["processes"][0]["walks"], "and has fewer walks")
    check(process["unseen"] == 0 and process["total"] == last["total"], "nothing was given up")
    check(0 < process["handler_ns"] < process["cpu_ns"] <= 3 * last["window_ns"],
          f"agent {process['handler_ns']} ns of {process['cpu_ns']} ns of the window")
    text = run([HCCT, "hot", "--socket", daemon.socket, *of_app, "--window", "1s"]).out.decode()
    check("in the last" in text.splitlines()[0], text.splitlines()[0])

    # a file knows that it is of a window
    path = scratch("window.pb.gz")
    run([HCCT, "hot", "--socket", daemon.socket, *of_app, "--window", "3s", "-o", path])
    kept = report(path)
    check(3e9 <= kept["window_ns"] == kept["duration_ns"] <= 3e9 + SUBWINDOW + LAG,
          f"the window of a file: {kept['window_ns']} ns")

    # one that has ended is still in the last minute, but not in the last second
    app.kill()
    app.wait()
    check(daemon.wait_for(lambda p: p["pid"] == app.pid and p["state"] != "live") is not None,
          "it has ended")
    last = hot(daemon, *of_app, "--window", "1m")
    check(weights(last)["second"] > 0 and not last["processes"][0]["live"], "and is in the minute")
    time.sleep(1 + (SUBWINDOW + LAG) / 1e9)
    last = hot(daemon, "--window", "1s")
    check(last["total"] == 0 and not last["processes"], "but not in the last second")
    both = hot(daemon, "--window", "10m")
    check(len(both["processes"]) == 2 and both["total"] == sum(p["total"] for p in both["processes"]),
          "both are in the last ten minutes")

    # calls are not dated
    run([target("calls_phases"), "1", "0"], env=daemon.env(HCCT_COLLECTOR="calls"))
    refused(daemon, "a window is kept of processes whose stacks are walked", "--exe", "calls_phases",
            "--window", "1m")
    check(hot(daemon, "--exe", "calls_phases")["total"] > 0, "but counted")
    both = hot(daemon, "--exe", "phases", "--window", "10m")

    for value in ("0", "-1", "61m", "2h", "1d", "x", "", "5mm", "nan", "inf", "m"):
        refused(daemon, f"--window '{value}'", "--window", value)
    check(hot(daemon, "--exe", "phases", "--window", "90")["total"] == both["total"], "90 is 90 s")
    result = run([HCCT, "report", "--window", "1m", "x"])
    check(result.status == 2 and b"--window" in result.err, "a file has no window")
finish()
