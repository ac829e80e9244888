# SPDX-License-Identifier: LGPL-3.0-or-later
"""What a question about a day, and about a week, of 200 hosts costs: pushes every 15 seconds, and hcct fleet
asked about them. Elapsed time and the server's CPU time, medians; rows and bytes.

Real programs are profiled and pushed for a minute or so; the server makes those pushes those of all hosts
and moments, with other weights. So contexts, and how many of them gain something in a push, are real.

    tests/bench/fleet_day.py [COMMAND ...]      in turn, of each hcct (that of the build)

HCCT_BENCH_HOSTS (200), HCCT_BENCH_HOURS (24), HCCT_BENCH_ROUNDS (3), HCCT_BENCH_PUSHES (4): real ones;
HCCT_BENCH_CONTEXTS: of each push only so many, as all take most of an hour to be made; HCCT_CHDB: as for the tests (tests/remote/clickhouse.py)."""

import json
import os
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "e2e"), os.path.join(HERE, "..", "remote")]
import clickhouse  # noqa: E402
from support import HCCT, Daemon, need, run, scratch, skip  # noqa: E402

HOSTS = int(os.environ.get("HCCT_BENCH_HOSTS", "200"))
HOURS = int(os.environ.get("HCCT_BENCH_HOURS", "24"))
ROUNDS = int(os.environ.get("HCCT_BENCH_ROUNDS", "3"))
EVERY = 15                 # seconds
AT_ONCE = 50               # hosts in an insert: the server may have 2 GB
PUSHES = int(os.environ.get("HCCT_BENCH_PUSHES", "4"))
CONTEXTS = int(os.environ.get("HCCT_BENCH_CONTEXTS", "1000000"))
SQL = "with recursive c(x) as (select 1 union all select x + 1 from c) select sum(abs(x % 7)) from c;"
PROGRAMS = (("gnugo", "--benchmark", "1000", "--seed", "1"), ("sqlite3", ":memory:", SQL))

# a push of host `number / pushes` at moment `number % pushes` of an hour
KEY = """toDateTime({base} - {hour} * 3600 + (number % {pushes}) * {every}) AS time, service,
metric, concat('host', toString(intDiv(number, {pushes}))) AS host, {push} AS push, exe,
tags, toUInt32(100 + intDiv(number, {pushes})) AS pid"""
PUSH = "lower(concat(hex(cityHash64(number, {hour})), '-', hex(cityHash64({hour}, number)), '-12'))"  # as long as a real one
FROM = """FROM (SELECT number, toUInt64(cityHash64(number, {hour}) % {real}) AS k FROM (SELECT {first} + number AS number FROM numbers({rows}))) AS a ANY LEFT JOIN
(SELECT * FROM hcct.{table}_real) AS b USING k"""
DELTAS = """INSERT INTO hcct.deltas SELECT {key}, arraySlice(hashes, 1, {contexts}),
arrayMap(w -> 1 + intDiv(w * (50 + cityHash64(number, w) % 100), 100), arraySlice(weights, 1, {contexts})) AS weights """ + FROM
TOTALS = """INSERT INTO hcct.totals SELECT {key}, unit, collector, clock, span, period, runs, total, walks, complete, lost,
lost_ns, cpu_ns, unseen, contexts, capped """ + FROM


def push_real(server):
    """Some pushes of programs that are busy all the time."""
    with Daemon() as daemon:
        apps = [subprocess.Popen(program, executable=shutil.which(program[0]), env=daemon.env(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                for program in PROGRAMS]
        for _ in range(PUSHES):
            time.sleep(EVERY)
            if run([HCCT, "push", "--once", "--socket", daemon.socket, "--spool", scratch("spool"), "clickhouse",
                    server.url]).status != 0:
                raise SystemExit("no push")
        for app in apps:
            app.kill()
            app.wait()


def fill(server):
    push_real(server)
    numbers = {"every": EVERY, "contexts": CONTEXTS, "pushes": 3600 // EVERY,
               "base": int(time.time()) // 3600 * 3600}
    for table in "deltas", "totals":
        server.ask(f"CREATE TABLE hcct.{table}_real ENGINE = Log AS SELECT *, rowNumberInAllBlocks() AS k FROM "
                   f"(SELECT * FROM hcct.{table} FINAL ORDER BY service, time, push)")
        numbers["real"] = int(server.ask(f"SELECT count() FROM hcct.{table}_real")[0][0])
        seen = server.ask(f"SELECT service, count() FROM hcct.{table}_real GROUP BY service ORDER BY service")
    contexts = server.ask("SELECT avg(length(hashes)) FROM hcct.deltas_real")[0][0]
    print(f"real pushes: {seen}, {float(contexts):.0f} contexts in each; "
          f"{server.ask('SELECT count() FROM hcct.stacks FINAL')[0][0]} contexts in all", flush=True)
    for table in "hours_of_deltas", "host_hours_of_totals", "hours", "host_hours", "deltas", "totals":
        server.ask(f"DROP TABLE hcct.{table}")
    create(server)
    for hour in range(HOURS, 0, -1):
        key = KEY.format(hour=hour, push=PUSH.format(hour=hour), **numbers)
        for first in range(0, HOSTS, AT_ONCE):
            for table, text in ("deltas", DELTAS), ("totals", TOTALS):
                server.ask(text.format(key=key, hour=hour, table=table, first=first * numbers["pushes"],
                                       rows=min(AT_ONCE, HOSTS - first) * numbers["pushes"], **numbers))


def create(server):
    if run([HCCT, "push", "--create", "clickhouse", server.url]).status != 0:
        raise SystemExit("no tables")


def print_sizes(server):
    parts = server.ask("SELECT table, sum(rows), sum(bytes) FROM system.parts WHERE active AND database = 'hcct' AND "
                       "table IN ('stacks', 'deltas', 'totals', 'hours', 'host_hours') GROUP BY table ORDER BY table")
    total = sum(int(size) for _, _, size in parts)
    for table, rows, size in parts:
        print(f"{table:10} {int(rows):12,} rows {int(size):14,} bytes")
    print(f"{'all':10} {'':12}      {total:14,} bytes: {total / HOSTS / (HOURS / 24):,.0f} a host and day", flush=True)


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
    need(*(program[0] for program in PROGRAMS))
    commands = sys.argv[1:] or [HCCT]
    server = clickhouse.ClickHouse(scratch("clickhouse"))
    try:
        create(server)
        before = time.monotonic()
        fill(server)
        rows = server.ask("SELECT count(), sum(length(hashes)) FROM hcct.deltas")[0]
        print(f"version {server.ask('SELECT version()')[0][0]}: {rows[0]} pushes of {HOSTS} hosts in {HOURS} h, "
              f"{rows[1]} weights, made in {time.monotonic() - before:.0f} s")
        print_sizes(server)
        print(f"{'':40} {'elapsed':>8} {'server':>8} {'hcct':>8}   (s, CPU time of the last two)")
        for name, options in (("a day", ["--since", "24h"]), ("a day of a service", ["--since", "24h", "--service", "gnugo"]),
                              ("a day of a host", ["--since", "24h", "--host", "host7"]), ("two hours", ["--since", "2h"]),
                              ("a week", ["--since", "7d"]), ("a week of a service", ["--since", "7d", "--service", "gnugo"])):
            if name.startswith("a week") and HOURS <= 24:
                continue
            seen, answers = {command: [] for command in commands}, {}
            for _ in range(ROUNDS):
                for command in commands:
                    times, answers[command] = ask(server, command, ["--format", "json", *options])
                    seen[command].append(times)
            for command in commands:
                middle = [statistics.median(column) for column in zip(*seen[command])]
                print(f"{name:20} {command[-19:]:19} " + " ".join(f"{t:8.2f}" for t in middle))
            if len(set(answers.values())) > 1:
                print(f"{name}: answers differ")
    finally:
        server.kill()


main()
