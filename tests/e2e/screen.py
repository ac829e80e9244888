# SPDX-License-Identifier: LGPL-3.0-or-later
"""screen.py - a terminal for the tests of hcct top: tmux has it; keys go in, text comes out.

Nothing waits for a time: each step waits for what it must bring onto the screen.
"""

import os
import re
import subprocess
import time

from support import check, scratch

PATIENCE = 90  # seconds; only a step that never comes takes so long


def patiently(condition):
    """Until `condition()` is true, which is what it returns; false when that never comes."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.1)
    return None


class Terminal:
    """A tmux server of our own with one window, in which a shell runs."""

    def __init__(self, columns, lines, **env):
        self.socket = scratch("tmux.sock")
        clean = {k: v for k, v in os.environ.items() if k not in ("TMUX", "NO_COLOR")}
        self.env = {**clean, "LC_ALL": "C.UTF-8", "SHELL": "/bin/sh", "PS1": "$ ", "ENV": "", **env}
        settings = scratch("tmux.conf")
        with open(settings, "w", encoding="ascii"):
            pass  # none: tmux is as it comes
        self.server = subprocess.Popen(["tmux", "-D", "-u", "-S", self.socket, "-f", settings],
                                       env=self.env, stdin=subprocess.DEVNULL)
        if not patiently(lambda: self.tmux("new-session", "-d", "-s", "top", "-x", str(columns),
                                           "-y", str(lines), "/bin/sh").returncode == 0):
            raise SystemExit("tmux did not start")
        self.wait(r"^\$", "a shell in a terminal")

    def tmux(self, *words):
        return subprocess.run(["tmux", "-N", "-u", "-S", self.socket, *words], env=self.env,
                              check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def command(self, line):
        """A line for the shell."""
        self.keys(line, "Enter")

    def screen(self, *options):
        return self.tmux("capture-pane", "-p", *options).stdout.decode()

    def wait_until(self, condition, what, *options):
        """Until `condition(screen)` holds, and what that gave."""
        value = patiently(lambda: condition(self.screen(*options)))
        if not value:
            print(self.screen())
        check(value, what)
        return value

    def wait(self, pattern, what, absent=False):
        """Until the pattern is (or is not) on the screen."""
        self.wait_until(
            lambda screen: (re.search(pattern, screen, re.M | re.S) is None) == absent, what)

    def press(self, keys, pattern, what):
        """Keys, by blanks apart, and what they must bring onto the screen."""
        self.keys(*keys.split())
        self.wait(pattern, f"{keys}: {what}")

    def wait_for_match(self, name):
        """Until the search is done and the cursor is on what was found: the screen, with colours.
        The last line is drawn last; while a search is typed, it shows that."""
        found = rf"\x1b\[(\d+;)*7(;\d+)*m[^\n]*{name}.*\? help"
        return self.wait_until(lambda screen: screen if re.search(found, screen, re.S) else None,
                               f"the cursor is on {name}", "-e") or ""

    def end(self):
        self.server.terminate()
        self.server.wait(30)

    def kill(self):
        """When a test ends early."""
        if self.server.poll() is None:
            self.server.kill()
            self.server.wait()
