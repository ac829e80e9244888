# SPDX-License-Identifier: LGPL-3.0-or-later
"""A program's code in memory is that of its file again, byte for byte and by name, when its calls are not
followed any more: between bursts, and when the daemon has ended; and a program that steps through its own
calls finds all as it would without."""

import os
import signal
import subprocess

from support import Daemon, check, finish, run, skip, target

if os.uname().machine != "x86_64":
    skip("calls are redirected on x86-64 only")
CALLS = {"HCCT_COLLECTOR": "calls"}
COLLECTORS = ("calls", "encode")

with Daemon("--summary", "exact") as daemon:
    result = run([target("redirect_text"), "both"], env=daemon.env(**CALLS, HCCT_BURST="2ms/10ms"))
    check(result.out == b"the file's\n" and result.status == 0,
          f"after a burst the code is the file's: {result.out.decode().strip()}")
    for burst in ({}, {"HCCT_BURST": "2ms/10ms"}):
        result = run([target("redirect_steps"), "3"], env=daemon.env(**CALLS, **burst))
        check(result.out == b"all right\n" and result.status == 0,
              f"a program that steps through its calls {burst or 'always'}: {result.out.decode().strip()}, "
              f"{result.err.decode()[-300:].strip()}")
    for collector, copied in (("walks", False), ("calls", True), ("encode", True)):
        result = run(["cat", "/proc/self/maps"], env=daemon.env(HCCT_COLLECTOR=collector, HCCT_ATTACH="start"))
        check((b"hcct-text" in result.out) == copied and result.status == 0,
              f"{collector}: a second text is mapped: {copied}")
    for collector in COLLECTORS:
        with_it = daemon.env(HCCT_COLLECTOR=collector)
        result = run([target("redirect_own")], env=with_it)
        check(result.out == b"second, no copy\n" and result.status == 0,
              f"{collector}: a program that has changed its own code is left alone: {result.out.decode().strip()}")
        result = run([target("redirect_gone")], env=with_it)
        check(result.out == b"redirected\n" and result.status == 0,
              f"{collector}: a library that is closed while its calls are redirected: {result.status}, "
              f"{result.out.decode().strip()}")
        limited = ["sh", "-c", "ulimit -v 64000000; exec cat /proc/self/maps"]
        result = run(limited, env=with_it)
        check(b"hcct-text" not in result.out and result.status == 0, "so is one with a limit of its address space")
for how, collector in [(how, collector) for how in (signal.SIGTERM, signal.SIGKILL) for collector in COLLECTORS]:
    daemon = Daemon("--summary", "exact").start()
    held = subprocess.Popen([target("redirect_text"), "hold"],
                            env={**os.environ, **daemon.env(HCCT_COLLECTOR=collector)}, stdout=subprocess.PIPE)
    check(held.stdout.readline() == b"other\n", f"{collector}: always followed, the code is another one")
    daemon.stop(how)
    said = held.stdout.read()
    check(said == b"the file's\n" and held.wait() == 0,
          f"when the daemon has ended by {how.name} it is the file's: {said.decode().strip()}")
finish()
