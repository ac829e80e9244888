# SPDX-License-Identifier: LGPL-3.0-or-later
"""live_page_test.py - the page that hcctd serves: it grows with the profile, and says when hcctd is
gone."""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "readers"))
from npm import BUILD, check, chromium, finish, free_port, modules, run_node, scratch, skip  # noqa: E402
from support import Daemon  # noqa: E402


def main():
    if os.environ.get("HCCT_SANITIZERS", "no") != "no":
        skip("the same page is tested without sanitizers")
    modules()
    browser, port, large = chromium(), free_port(), scratch("large")
    with open(large, "wb") as out:
        subprocess.run([os.path.join(BUILD, "tests", "page", "write_page"), "many", "page-data"], stdout=out, check=True)
    with Daemon("--listen", f"127.0.0.1:{port}") as daemon:
        programs = [subprocess.Popen(["sh", "-c", "while :; do :; done"], env={**os.environ, **daemon.env()})
                    for _ in range(2)]
        try:
            pids = [p.pid for p in programs]
            check(all(daemon.wait_for(lambda p, pid=pid: p["pid"] == pid and p["walks"] > 5)
                      for pid in pids), "both programs are profiled")
            seen = run_node(os.path.join(HERE, "live_page_test.js"), browser,
                            f"http://127.0.0.1:{port}/", str(pids[0]), str(daemon.process.pid), large)
        finally:
            for program in programs:
                program.kill()
                program.wait()
    check(seen["first"] > 0, "the page shows a profile")
    check(seen["processes"] == [pids[0]], "one process can be chosen, and its profile grows")
    check(seen["search"] == "burn", "what is searched for stays")
    check(seen["paused"], "it can be made to pause")
    check(seen["large"]["first"] * 3 < seen["large"]["all"],
          f"of a large answer, what can be seen is drawn before the rest is read: {seen['large']}")
    check(seen["complaints"] == [], f"no error {seen['complaints']}")
    check("does not answer" in seen["gone"] and seen["kept"] > 0, "a daemon that is gone is said to be")
    finish()


main()
