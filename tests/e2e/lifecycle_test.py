# SPDX-License-Identifier: LGPL-3.0-or-later
"""Daemons come and go, the application notices nothing: a late daemon finds it, a killed one is
missed by nobody, the next one takes over."""

import signal
import subprocess
import sys

from support import AGENT, Daemon, check, finish, run, scratch, target
from wire_support import connect, hello

env = {"LD_PRELOAD": AGENT, "HCCT_SOCKET": scratch("hcctd.sock"), "HCCT_RATE": "250"}
app = subprocess.Popen([target("known_shares"), "12"], env=env, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE)


def profiled(process):
    return process["pid"] == app.pid and process["walks"] > 20


daemon = Daemon().start()
check(daemon.wait_for(profiled, 5), "a daemon that came after the application profiles it within 5 s")
daemon.process.send_signal(signal.SIGKILL)
daemon.process.wait()
check(app.poll() is None, "the application runs on when the daemon is killed")
daemon.start()
check(daemon.wait_for(profiled, 8), "the next daemon, on the socket that the first one left, profiles it")
out, err = app.communicate()
check(app.returncode == 0 and len(out.splitlines()) == 6 and err == b"",
      "the application ended as it would have")

# fork without exec, exec, many short threads, a death by signal
script = "import os, signal\nif os.fork() == 0:\n    sum(i * i for i in range(3000000))\n    os._exit(0)\n" \
         "os.wait()\nos.kill(os.getpid(), signal.SIGKILL)\n"
killed = run([sys.executable, "-c", script], env=daemon.env(HCCT_RATE="1000"))
check(killed.status == -signal.SIGKILL, "a killed program is killed")
done = daemon.wait_for(lambda p: "python" in p["command"] and p["state"] == "finished" and p["walks"] > 10)
check(done, "the child of its fork was profiled, to its end")
# what has ended before the answer, or asks again, is not worth a word on somebody's terminal
daemon.process.send_signal(signal.SIGSTOP)
for _ in range(5):
    with connect(daemon.socket) as connection:
        connection.sendall(hello())
daemon.process.send_signal(signal.SIGCONT)
run([target("known_shares"), "0.2"], env=daemon.env(HCCT_RATE="1000"))
check(daemon.wait_for(lambda p: p["state"] == "finished" and p["command"] == "known_shares" and p["walks"] > 10),
      "a daemon whose askers have gone goes on")
with open(scratch("hcctd.log")) as log:
    said = log.read()
check("not profiled" not in said, f"and says nothing of them: {said!r}")
check(daemon.stop() == 0, "the daemon ends with status 0 after SIGTERM")
finish()
