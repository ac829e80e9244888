# SPDX-License-Identifier: LGPL-3.0-or-later
"""A program that reports its calls runs to its end, as it would without us, whatever becomes of the
daemon; and what it reports is counted when there is one."""

import shutil
import signal
import subprocess
import time

from calls_support import EXACT, Profile, record_calls
from support import HCCT, Daemon, check, finish, record, run, scratch, target

PROGRAM = target("calls_phases")
RIGHT = b"as 7 to 3: 1\n"
LIMIT_S = 120


def start(daemon, seconds):
    return subprocess.Popen([PROGRAM, "1", str(seconds)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env=daemon.env(HCCT_COLLECTOR="calls"))


def end(app, what):
    try:
        out, err = app.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        app.kill()
        out, err = app.communicate()
    good = app.returncode == 0 and out == RIGHT and err == b""
    check(good, f"{what}: the program ends as it would" + ("" if good else f": {app.returncode} {out} {err}"))


def wait_for_calls(daemon, app):
    return daemon.wait_for(lambda p: p["pid"] == app.pid and p["calls"] > 0, 20)


daemon = Daemon("--summary", "exact")
app = start(daemon, 0.2)
end(app, "no daemon")

app = start(daemon, 6)
time.sleep(0.5)
daemon.start()
check(wait_for_calls(daemon, app), "a daemon that came later counts calls")
end(app, "late daemon")
late = scratch("late.json")
run([HCCT, "hot", "--socket", daemon.socket, "--phi", "1e-12", "-o", late])
outermost = Profile(late).outermost()
check(outermost == {"main"}, f"late daemon: contexts begin at main ({sorted(outermost)})")
daemon.stop()

daemon.start()
app = start(daemon, 3)
check(wait_for_calls(daemon, app), "the next daemon counts calls")
daemon.stop(signal.SIGKILL)
end(app, "killed daemon")

daemon.start()
app = start(daemon, 3)
check(wait_for_calls(daemon, app), "one more daemon counts calls")
daemon.process.send_signal(signal.SIGSTOP)
time.sleep(5)
daemon.process.send_signal(signal.SIGCONT)
end(app, "stopped daemon")

# A handler forks in the middle of a report: the child goes on with that, and has no session of its own.
for setting in {}, {"HCCT_BURST": "1ms/4ms"}:
    result = run([target("restless"), "3", "interrupted"],
                 env=daemon.env(HCCT_COLLECTOR="calls", HCCT_FOLLOW="no", **setting))
    check(result.status == 0 and result.err == b"", f"children of handlers, {setting}: they end as they would"
          + ("" if result.err == b"" else f": {result.err.decode()[:200]}"))
daemon.stop()

# ---- programs of which less is known ----

stripped = scratch("stripped")
shutil.copy(PROGRAM, stripped)
if shutil.which("strip") is not None and run(["strip", stripped]).status == 0:
    whole = record_calls([PROGRAM, "20", "0"])[1]
    result, profile = record_calls([stripped, "20", "0"])
    names = [node["function"] for node in profile.nodes if "function" in node]
    check(result.status == 0 and profile.all["total"] == whole.all["total"],
          f"stripped: {profile.all['total']} calls, {whole.all['total']} with symbols")
    check(names and all(name.startswith("stripped+0x") for name in names),
          f"stripped: functions are called by their places ({names[:2]})")
    check(sorted(whole.functions().values()) == sorted(profile.functions().values()),
          "stripped: each is called as often as with its name")

result = record([target("calls_own_hooks")], scratch("own.json"), *EXACT)
check(result.status == 7 and result.out == b"3\n", "reports to its own functions: status and output")
check(len(result.err.splitlines()) >= 1 and b"__cyg_profile_func_enter" in result.err,
      f"reports to its own functions: said ({result.err.decode().strip()})")
finish()
