# SPDX-License-Identifier: LGPL-3.0-or-later
"""hcctd writes by itself into directories of its own only, and never through a link."""

import os
import signal
import subprocess

from support import Daemon, check, finish, run, scratch, target, HCCT, HCCTD

PRECIOUS = scratch("precious")
OTHER = 65534


def precious():
    with open(PRECIOUS, "w") as file:
        file.write("mine")


def kept():
    return open(PRECIOUS).read() == "mine"


def snapshot(daemon):
    result = run([HCCT, "snapshot", "--socket", daemon.socket])
    return result.status, result.err.decode().strip()


def refused(options, word):
    """hcctd with these options does not start, and says why in a line."""
    process = subprocess.run([HCCTD, "--socket", scratch("other.sock"), "--report-dir", "none",
                              *options], capture_output=True, text=True, timeout=60)
    said = process.stderr.strip()
    return check(process.returncode == 1 and word in said and said.count("\n") == 0,
                 f"hcctd {options[0]} there: {said}")


with Daemon() as daemon:
    app = subprocess.Popen([target("known_shares"), "60"], env={**os.environ, **daemon.env()},
                           stdout=subprocess.DEVNULL)
    daemon.wait_for(lambda process: process["pid"] == app.pid and process["walks"] > 0)
    os.mkdir(daemon.reports, 0o755)
    precious()
    link = os.path.join(daemon.reports, f".hcct-{app.pid}.tmp")
    os.symlink(PRECIOUS, link)
    status, said = snapshot(daemon)
    check(status == 0 and kept(), f"a link that waits in the directory is not written through {said}")
    os.unlink(link)
    check(all(name.endswith(".txt") for name in os.listdir(daemon.reports)), "nothing else is left")

    os.chmod(daemon.reports, 0o777)
    status, said = snapshot(daemon)
    check(status == 1 and "others may write to it" in said, f"a directory of everybody's: {said}")
    os.chmod(daemon.reports, 0o755)

    os.rename(daemon.reports, scratch("elsewhere"))
    os.symlink(scratch("elsewhere"), daemon.reports)
    before = os.listdir(scratch("elsewhere"))
    status, said = snapshot(daemon)
    check(status == 1 and "symbolic links" in said, f"a link to a directory: {said}")
    check(os.listdir(scratch("elsewhere")) == before, "and nothing is written where it leads")
    os.unlink(daemon.reports)
    os.rename(scratch("elsewhere"), daemon.reports)

    if os.geteuid() == 0:
        os.chown(daemon.reports, OTHER, OTHER)
        status, said = snapshot(daemon)
        check(status == 1 and "another user" in said, f"a directory of another user's: {said}")
        os.chown(daemon.reports, 0, 0)
    status, said = snapshot(daemon)
    check(status == 0, "a directory of our own again")
    app.send_signal(signal.SIGKILL)
    app.wait()

# what is kept over a restart
os.mkdir(scratch("state"))
os.chmod(scratch("state"), 0o777)
refused(["--state-dir", scratch("state")], "others may write to it")
os.symlink(scratch("state"), scratch("state-link"))
refused(["--state-dir", scratch("state-link")], "symbolic links")

# a trace in a directory has a name that can be guessed: of all daemons that there may be
os.mkdir(scratch("traces"))
precious()
for kind, make in (("a link", os.symlink), ("another name", os.link)):
    pid = os.fork()
    if pid == 0:  # the daemon's pid is known before it starts
        make(PRECIOUS, os.path.join(scratch("traces"), f"hcctd-{os.getpid()}.trace"))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.execv(HCCTD, [HCCTD, "--socket", scratch("trace.sock"), "--report-dir", "none",
                         "--trace", scratch("traces")])
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    check(status == 1 and kept(), f"a trace is not written through {kind} of a file: {status}")
finish()
