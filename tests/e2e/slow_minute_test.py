# SPDX-License-Identifier: LGPL-3.0-or-later
"""A server is slow for some time, as requests of another kind come to it: who knows when finds the
function by one command, which names it first; by the times of day as people write them, too."""

import json
import subprocess
import time

from support import HCCT, Daemon, check, finish, run, target

USUAL, SLOW = 8, 8  # seconds, at least


def serve(server, seconds, requests):
    end = time.time() + seconds
    while time.time() < end:
        for request in requests:
            server.stdin.write(request + "\n")
            server.stdin.flush()
            server.stdout.readline()
        time.sleep(0.02)


def first_row(text):
    """The function that a comparison's first row is of."""
    lines = text.splitlines()
    head = next((i for i, line in enumerate(lines) if line.endswith("function")), len(lines))
    return lines[head + 1].split("  ")[-2:] if head + 1 < len(lines) else text


with Daemon() as daemon:
    server = subprocess.Popen([target("server")], env=daemon.env(HCCT_RATE="250"), stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    serve(server, USUAL, ["get"])
    since = time.time()
    serve(server, SLOW, ["get", "report"])
    until = time.time()
    serve(server, USUAL, ["get"])
    command = [HCCT, "diff", "--socket", daemon.socket]
    result = run([*command, "--since", str(since), "--until", str(until)])
    row = first_row(result.out.decode())
    check(result.status == 0 and row == ["sort_all", "(server)"], f"the first function of hcct diff is {row}")
    for form in ("%H:%M:%S", "%Y-%m-%d %H:%M:%S"):
        times = [time.strftime(form, time.localtime(t)) for t in (since, until)]
        result = run([*command, "--since", times[0], "--until", times[1], "--format", "json"])
        node = max(json.loads(result.out)["nodes"], key=lambda n: n["self"]["after"] - n["self"]["before"])
        check(node["function"] == "sort_all", f"and since {times[0]}: {node['function']}")
    server.stdin.close()
    server.wait()
finish()
