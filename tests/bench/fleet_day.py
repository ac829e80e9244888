# SPDX-License-Identifier: LGPL-3.0-or-later
"""What a question about a day of 200 hosts costs: pushes every 15 seconds, made by the server itself, and
hcct fleet asked about them. Elapsed time and the server's CPU time, medians.

    tests/bench/fleet_day.py [COMMAND ...]      in turn, of each hcct (that of the build)

HCCT_BENCH_HOSTS (200), HCCT_BENCH_HOURS (24), HCCT_BENCH_ROUNDS (3)."""

import json
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "e2e"), os.path.join(HERE, "..", "remote")]
import clickhouse  # noqa: E402
from support import HCCT, run, scratch, skip  # noqa: E402

HOSTS = int(os.environ.get("HCCT_BENCH_HOSTS", "200"))
HOURS = int(os.environ.get("HCCT_BENCH_HOURS", "24"))
ROUNDS = int(os.environ.get("HCCT_BENCH_ROUNDS", "3"))
EVERY = 15                 # seconds
CONTEXTS, WEIGHTS = 6000, 32  # that a service has, and that gain something between two pushes
SERVICES = 8               # of each host, one after the other

KEY = """toDateTime(toUInt32(now()) - {hour} * 3600 + (number % {pushes}) * {every}) AS time,
concat('service', toString(number % {services})) AS service, 'cpu' AS metric,
concat('host', toString(intDiv(number, {pushes}))) AS host,
lower(hex(cityHash64(number, {hour}))) AS push, '/usr/bin/program' AS exe, 'build=417' AS tags,
toUInt32(100 + number % {services}) AS pid"""

DELTAS = """INSERT INTO hcct.deltas SELECT {key},
arrayMap(i -> cityHash64(bitAnd(cityHash64(number, i, {hour}), bitAnd(cityHash64(number, i), 8191)) % {contexts}),
         range({weights})) AS hashes,
arrayMap(i -> toUInt64(10000000 * (1 + cityHash64(i, number) % 7)), range({weights})) AS weights
FROM numbers({rows})"""

TOTALS = """INSERT INTO hcct.totals SELECT {key}, 'nanoseconds' AS unit, 'walks' AS collector, 'cpu' AS clock,
toUInt64({every} * 1000000000) AS span, toUInt64(10000000) AS period, toUInt32(1) AS runs,
toUInt64(1280000000) AS total, toUInt64(128) AS walks, toUInt64(128) AS complete, toUInt64(0) AS lost,
toUInt64(0) AS lost_ns, toUInt64(1280000000) AS cpu_ns, toUInt64(0) AS unseen, toUInt64({contexts}) AS contexts
FROM numbers({rows})"""

STACKS = """INSERT INTO hcct.stacks SELECT concat('service', toString(intDiv(number, {contexts}))) AS service,
cityHash64(number % {contexts}) AS hash, now() AS seen,
arrayMap(i -> concat('a_function_of_the_program_', toString(cityHash64(number, i) % 900)), range({depth})) AS functions,
functions AS system_names,
arrayMap(i -> concat('/build/program/src/file', toString(cityHash64(number, i) % 90), '.c'), range({depth})) AS files,
arrayMap(i -> toUInt32(cityHash64(number, i) % 3000), range({depth})) AS lines,
arrayMap(i -> '/usr/bin/program', range({depth})) AS modules,
arrayMap(i -> '80bbee1d6e5c90a95deda3bb395d10cadf7f3a82', range({depth})) AS build_ids,
arrayMap(i -> cityHash64(number, i) % 1000000, range({depth})) AS addresses,
arrayMap(i -> toUInt8(0), range({depth})) AS kinds FROM numbers({contexts} * {services})"""


def fill(server):
    pushes = 3600 // EVERY
    numbers = {"every": EVERY, "pushes": pushes, "rows": HOSTS * pushes, "contexts": CONTEXTS,
               "weights": WEIGHTS, "services": SERVICES, "depth": 20}
    server.ask(STACKS.format(**numbers))
    for hour in range(HOURS, 0, -1):
        key = KEY.format(hour=hour, **numbers)
        for table in DELTAS, TOTALS:
            server.ask(table.format(key=key, hour=hour, **numbers))


def processor_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        words = file.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def functions(answer):
    """Rows come in any order."""
    profile = json.loads(answer)
    return profile["total"], len(profile["nodes"]), tuple(sorted(tuple(sorted(map(str, one.items())))
                                                             for one in profile["functions"]))


def ask(server, command, options):
    """Seconds elapsed, of the server's processor time, of the command's."""
    cpu, before, own = processor_seconds(server.process.pid), time.monotonic(), os.times()
    result = subprocess.run([command, "fleet", "hot", "--url", server.url, *options], capture_output=True)
    if result.returncode != 0:
        raise SystemExit(f"{command}: {result.stderr.decode()}")
    now = os.times()
    return (time.monotonic() - before, processor_seconds(server.process.pid) - cpu,
            now.children_user + now.children_system - own.children_user - own.children_system), functions(result.stdout)


def main():
    if not clickhouse.found():
        skip("clickhouse-server is not installed")
    commands = sys.argv[1:] or [HCCT]
    server = clickhouse.ClickHouse(scratch("clickhouse"))
    try:
        if run([HCCT, "push", "--create", "clickhouse", server.url]).status != 0:
            raise SystemExit("no tables")
        before = time.monotonic()
        fill(server)
        rows = server.ask("SELECT count(), sum(length(hashes)) FROM hcct.deltas")[0]
        print(f"version {server.ask('SELECT version()')[0][0]}: {rows[0]} pushes of {HOSTS} hosts in {HOURS} h, "
              f"{rows[1]} weights, made in {time.monotonic() - before:.0f} s")
        print(f"{'':40} {'elapsed':>8} {'server':>8} {'hcct':>8}   (s, CPU time of the last two)")
        for name, options in (("of all", ["--since", "25h"]), ("of a service", ["--since", "25h", "--service", "service1"]),
                              ("of a host", ["--since", "25h", "--host", "host7"]), ("of an hour", ["--since", "1h"])):
            seen, answers = {command: [] for command in commands}, {}
            for _ in range(ROUNDS):
                for command in commands:
                    times, answers[command] = ask(server, command, ["--format", "json", *options])
                    seen[command].append(times)
            for command in commands:
                middle = [statistics.median(column) for column in zip(*seen[command])]
                print(f"{name:14} {command[-25:]:25} " + " ".join(f"{t:8.2f}" for t in middle))
            if name != "of an hour" and len(set(answers.values())) > 1:
                print(f"{name}: answers differ")
    finally:
        server.kill()


main()
