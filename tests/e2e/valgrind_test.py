# SPDX-License-Identifier: LGPL-3.0-or-later
"""hcctd in valgrind: a program comes, is asked about in all forms, ends; no error, no leak."""

import os
import signal
import subprocess
import time
import urllib.parse

from support import HCCT, Daemon, check, finish, need, run, scratch, skip, target

need("valgrind")
if os.environ.get("HCCT_SANITIZERS", "no") != "no":
    skip("valgrind does not run what is built with a sanitizer")
LOG = scratch("valgrind.log")
SECONDS = 120  # each step takes part of one without valgrind
VALGRIND = ["valgrind", "--quiet", "--leak-check=full", "--errors-for-leak-kinds=definite",
            "--show-leak-kinds=definite", "--error-exitcode=9", f"--log-file={LOG}"]


def get(request, method="GET"):
    """The answer's first line, and whether there was a body."""
    result = run(["curl", "-s", "-f", "-X", method, "--unix-socket", daemon.socket,
                  "http://localhost/v1/" + urllib.parse.quote(request, safe="?=&/")], timeout=SECONDS)
    return result.status == 0 and len(result.out) > 0


def wait_until(condition):
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.1)
    return False


need("curl")
daemon = Daemon("--state-dir", scratch("state"), "--checkpoint", "1", under=VALGRIND)
daemon.start()
env = daemon.env(HCCT_RATE="250")
apps = [subprocess.Popen([target("known_shares"), "600"], env=env, stdout=subprocess.DEVNULL),
        subprocess.Popen([target("many_threads"), "8", "600"], env=env, stdout=subprocess.DEVNULL)]
for app in apps:
    check(daemon.wait_for(lambda p: p["pid"] == app.pid and p["walks"] > 20, SECONDS),
          "a program is profiled")
for form in ("text", "json", "folded", "pprof", "html", "dot", "callgrind"):
    check(get(f"hot?pid={apps[0].pid}&format={form}"), f"asked for {form}")
check(get(f"hot?pid={apps[0].pid}&format=json&by=line"), "... by lines")
check(get("hot?exe=many_threads&format=text&window=1m"), "... of the last minute")
check(get("processes"), "... for the list")
check(run(["curl", "-s", "-f", "--unix-socket", daemon.socket, "http://localhost/metrics"]).status == 0,
      "... for metrics")
for words in (["set", "-p", str(apps[0].pid), "--rate", "100"], ["stop", "-p", str(apps[1].pid)]):
    check(run([HCCT, words[0], "--socket", daemon.socket, *words[1:]], timeout=SECONDS).status == 0,
          "told to " + " ".join(words))
daemon.process.send_signal(signal.SIGUSR1)
check(wait_until(lambda: os.path.isdir(daemon.reports) and len(os.listdir(daemon.reports)) >= 2),
      "SIGUSR1 leaves reports")
apps[0].kill()
apps[0].wait()
check(daemon.wait_for(lambda p: p["pid"] == apps[0].pid and p["state"] == "finished", SECONDS),
      "a program ends, the other one works on")
daemon.process.send_signal(signal.SIGTERM)
status = daemon.process.wait(SECONDS)
# what begins otherwise is valgrind's word on system calls that it does not know
said = [line for line in open(LOG) if line.startswith("==")]
print("".join(said[-200:]), end="")
check(status == 0 and not said, f"hcctd ends with status 0, and valgrind has nothing to say: {status}")
apps[1].kill()
apps[1].wait()
finish()
