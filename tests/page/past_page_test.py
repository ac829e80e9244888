# SPDX-License-Identifier: LGPL-3.0-or-later
"""past_page_test.py - what was different in a range of time, in the page that hcctd serves; and one
metric at a time where processes count different things."""

import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "readers"))
from npm import check, chromium, finish, free_port, modules, run_node, skip, target  # noqa: E402
from support import Daemon  # noqa: E402

CELL = 2  # seconds
LAG = 1   # what is credited now may have been sampled a little earlier


def main():
    if os.environ.get("HCCT_SANITIZERS", "no") != "no":
        skip("the same page is tested without sanitizers")
    modules()
    browser, port = chromium(), free_port()
    with Daemon("--listen", f"127.0.0.1:{port}") as daemon:
        env = {**os.environ, **daemon.env(HCCT_RATE="250")}
        # the second phase is longer than the first one and the cell in which it begins
        app = subprocess.Popen([target("phases"), "3", "6"], env=env, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
        caller = subprocess.Popen(["sh", "-c", "while :; do :; done"], env={**env, "HCCT_COLLECTOR": "calls"})
        try:
            moments = {}
            for word in ("first", "second", "done"):
                check(app.stdout.readline().strip() == word, f"the program says {word}")
                moments[word] = time.time()
            check(daemon.wait_for(lambda p: p["pid"] == caller.pid), "another one counts calls")
            time.sleep(CELL + LAG)
            seen = run_node(os.path.join(HERE, "past_page_test.js"), browser, f"http://127.0.0.1:{port}/",
                            str(app.pid), str(moments["second"]), str(moments["done"]))
        finally:
            app.communicate("")
            caller.kill()
            caller.wait()
    check(not seen["alone"], "no metric is offered where there is one only")
    if seen["seconds"] == CELL:
        check(seen["guilty"] in ("first", "second"),
              f"a range, the comparison, the function that changed most: {seen['guilty']}")
        check(seen["changes"]["second"] > 0 > seen["changes"]["first"], f"which way: {seen['changes']}")
    else:
        print("this machine is too slow for cells of two seconds")
    check(seen["steps"] == [True, False], "a comparison is not rewritten, and does not say so")
    check(seen["sorted"] == "descending", "sorted by the change, not as the profile was")
    check("from the rest" in seen["words"], f"of what it is: {seen['words']}")
    check(f"hcct diff -p {app.pid} --since " in seen["command"], f"the command for it: {seen['command']}")
    check(all(word in seen["hash"] for word in ("since=", "until=", "diff=1", f"pid={app.pid}")),
          f"all that is in the address: {seen['hash']}")
    check(seen["reloaded"] == "diff" and seen["toggled"], "so that it is there again; v shows the range itself")
    check("since=" not in seen["back"], f"three steps back nothing is chosen: {seen['back']}")
    check(seen["metrics"] == ["walks", "calls"], f"the metrics that are there: {seen['metrics']}")
    check(seen["lineOfCalls"] == [False, False] and seen["line"] == [True, True],
          "calls have no past, and so no time line")
    check("metric=calls" in seen["metricHash"], f"it is in the address: {seen['metricHash']}")
    check(seen["complaints"] == [], f"no error {seen['complaints']}")
    finish()


main()
