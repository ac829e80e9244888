# SPDX-License-Identifier: LGPL-3.0-or-later
"""firefox.py - the Firefox Profiler's command line, which reads as the Firefox Profiler does."""

import json
import os
import subprocess
import time

from npm import check, finish, module, node, scratch

CLI = module("@firefox-devtools", "profiler-cli", "dist", "profiler-cli.js")
READY = 120  # seconds that it may take to start
DEPTH = 201  # frames of a path that it shows in a call tree


class Session:
    """A profile that is loaded; use it with "with"."""

    def __init__(self, path):
        self.path = path
        self.environment = dict(os.environ, HOME=scratch("."), PROFILER_CLI_NO_SYMBOLICATE="1",
                                PROFILER_CLI_SESSION_DIR=scratch("sessions"))

    def run(self, *args):
        return subprocess.run([node(), CLI, *args], capture_output=True, text=True,
                              env=self.environment, timeout=READY)

    def __enter__(self):
        """It says "still starting" after half a second, and that asking again helps."""
        done = self.run("load", self.path)
        deadline = time.monotonic() + READY
        while done.returncode != 0 and "still starting" in done.stderr:
            time.sleep(0.2)
            done = self.run("status")
            if time.monotonic() > deadline:
                break
        if done.returncode != 0:
            check(False, f"the Firefox Profiler loads {self.path}: {done.stdout}{done.stderr}")
            finish()
        return self

    def __exit__(self, *_):
        self.run("stop", "--all")

    def ask(self, *args):
        """What a command says, as JSON."""
        done = self.run(*args, "--json")
        if done.returncode != 0:
            check(False, f"profiler-cli {' '.join(args)}: {done.stdout}{done.stderr}")
            finish()
        return json.loads(done.stdout)

    def threads(self):
        return self.ask("thread", "list")["threads"]

    def tree(self, thread):
        """All of the call tree of a thread."""
        return self.ask("thread", "samples-top-down", "--thread", thread["threadHandle"],
                        "--include-idle", "--max-lines", "1000000")["regularCallTree"]

    def functions(self, thread):
        return self.ask("thread", "functions", "--thread", thread["threadHandle"],
                        "--include-idle")["functions"]
