# SPDX-License-Identifier: LGPL-3.0-or-later
"""What a question about a day, and about a week, of 200 hosts costs: pushes every 15 seconds, and hcct fleet
asked about them. Elapsed time and the server's CPU time, medians; rows and bytes.

Real programs are profiled and pushed for a minute or so; the server makes those pushes those of all hosts
and moments of the last hour, with other weights. So contexts, and how many of them gain something in a push, are
real. The hours before are copies of that one, with pushes of other names; their sums of contexts are copied, too:
the server would take an hour to make those of a week.

    tests/bench/fleet_day.py [COMMAND ...]      in turn, of each hcct (that of the build)

HCCT_BENCH_HOSTS (200), HCCT_BENCH_HOURS (24; with 168, a week is asked for, too), HCCT_BENCH_ROUNDS (3),
HCCT_BENCH_PUSHES (4): real ones; HCCT_BENCH_CONTEXTS: of each push only so many; HCCT_CHDB: as for the tests
(tests/remote/clickhouse.py)."""

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
WEEK = 7 * 24
ROUNDS = int(os.environ.get("HCCT_BENCH_ROUNDS", "3"))
EVERY = 15                 # seconds
AT_ONCE = 50               # hosts in an insert: the server may have 2 GB
PUSHES = int(os.environ.get("HCCT_BENCH_PUSHES", "4"))
CONTEXTS = int(os.environ.get("HCCT_BENCH_CONTEXTS", "1000000"))
SQL = "with recursive c(x) as (select 1 union all select x + 1 from c) select sum(abs(x % 7)) from c;"
PROGRAMS = (("gnugo", "--benchmark", "1000", "--seed", "1"), ("sqlite3", ":memory:", SQL))

# a push of host `number / pushes` at moment `number % pushes` of the hour
KEY = """toDateTime({begin} + (number % {pushes}) * {every}) AS time, service,
metric, concat('host', toString(intDiv(number, {pushes}))) AS host, {push} AS push, exe,
tags, toUInt32(100 + intDiv(number, {pushes})) AS pid"""
PUSH = "lower(concat(hex(cityHash64(number)), '-', hex(cityHash64(number, 1)), '-12'))"  # as long as a real one
FROM = """FROM (SELECT number, toUInt64(cityHash64(number) % {real}) AS k FROM (SELECT {first} + number AS number FROM numbers({rows}))) AS a ANY LEFT JOIN
(SELECT * FROM hcct.{table}_real) AS b USING k"""
DELTAS = """INSERT INTO hcct.deltas SELECT {key}, arraySlice(hashes, 1, {contexts}),
arrayMap(w -> 1 + intDiv(w * (50 + cityHash64(number, w) % 100), 100), arraySlice(weights, 1, {contexts})) AS weights """ + FROM
TOTALS = """INSERT INTO hcct.totals SELECT {key}, unit, collector, clock, span, period, runs, total, walks, complete, lost,
lost_ns, cpu_ns, unseen, contexts, capped, chance, chance_most """ + FROM

VIEWS = "hours_of_deltas", "host_contexts_of_deltas"    # of contexts
COPY = """INSERT INTO hcct.{table} SELECT time - {ago} * 3600 AS time, service, metric, host,
concat(lower(hex(cityHash64(push, {ago}))), substring(push, position(push, '-'))) AS push, {rest} FROM
(SELECT * FROM hcct.{table}_hour)"""
COPIED = {"deltas": "exe, tags, pid, hashes, weights",
          "totals": "exe, tags, pid, unit, collector, clock, span, period, runs, total, walks, complete, lost, lost_ns, cpu_ns, "
                    "unseen, contexts, capped, chance, chance_most"}
COPY_SUMS = """INSERT INTO hcct.hours SELECT service, metric, toUInt32(hour - {ago}) AS hour, tags, hash, weight FROM
(SELECT * FROM hcct.hours WHERE hash != 0 AND hour >= intDiv({begin}, 3600))""", """INSERT INTO hcct.host_contexts
SELECT service, metric, host, toUInt32(hour - {ago}) AS hour, tags, toUInt64(0) AS ids, contextMap.hash, contextMap.weight FROM
(SELECT * FROM hcct.host_contexts FINAL WHERE hour >= intDiv({begin}, 3600))"""
# those of pushes: rows that are merged with the others
SUMS_OF_PUSHES = """INSERT INTO hcct.hours SELECT service, metric, intDiv(toUInt32(time), 3600) AS hour, tags,
toUInt64(0) AS hash, sum(cityHash64(push)) AS weight FROM hcct.deltas WHERE time < toDateTime({begin})
GROUP BY service, metric, hour, tags""", """INSERT INTO hcct.host_contexts SELECT service, metric, host, intDiv(toUInt32(time), 3600) AS hour,
tags, sum(cityHash64(push)) AS ids, emptyArrayUInt64() AS `contextMap.hash`, emptyArrayUInt64() AS `contextMap.weight` FROM hcct.deltas
WHERE time < toDateTime({begin}) GROUP BY service, metric, host, hour, tags"""

QUESTIONS = (("a day", "hot", "--since", "24h"), ("- of a service", "hot", "--since", "24h", "--service", "gnugo"),
             ("- of a host", "hot", "--since", "24h", "--host", "host7"),
             ("- by host", "hot", "--since", "24h", "--by", "host"), ("- list", "list", "--since", "24h"),
             ("- diff, two hosts", "diff", "--since", "24h", "host=host7", "host=host8"),
             ("two hours", "hot", "--since", "2h"),
             ("a week", "hot", "--since", "7d"), ("- of a service, week", "hot", "--since", "7d", "--service", "gnugo"),
             ("- of a host, week", "hot", "--since", "7d", "--host", "host7"),
             ("- by host, week", "hot", "--since", "7d", "--by", "host"), ("- list, week", "list", "--since", "7d"),
             ("diff, days of a week", "diff", "since=6d;until=5d", "since=1d"))


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
    numbers = {"every": EVERY, "contexts": CONTEXTS, "pushes": 3600 // EVERY, "push": PUSH,
               "begin": int(time.time()) // 3600 * 3600 - 3600}
    for table in "deltas", "totals":
        server.ask(f"CREATE TABLE hcct.{table}_real ENGINE = Log AS SELECT *, rowNumberInAllBlocks() AS k FROM "
                   f"(SELECT * FROM hcct.{table} FINAL ORDER BY service, time, push)")
        numbers["real"] = int(server.ask(f"SELECT count() FROM hcct.{table}_real")[0][0])
        seen = server.ask(f"SELECT service, count() FROM hcct.{table}_real GROUP BY service ORDER BY service")
    contexts = server.ask("SELECT avg(length(hashes)) FROM hcct.deltas_real")[0][0]
    print(f"real pushes: {seen}, {float(contexts):.0f} contexts in each; "
          f"{server.ask('SELECT count() FROM hcct.stacks FINAL')[0][0]} contexts in all", flush=True)
    for table in VIEWS + ("host_hours_of_totals", "hours", "host_contexts", "host_hours", "deltas", "totals"):
        server.ask(f"DROP TABLE hcct.{table}")
    create(server)
    key = KEY.format(**numbers)
    for first in range(0, HOSTS, AT_ONCE):
        for table, text in ("deltas", DELTAS), ("totals", TOTALS):
            server.ask(text.format(key=key, table=table, first=first * numbers["pushes"],
                                   rows=min(AT_ONCE, HOSTS - first) * numbers["pushes"], **numbers))
    copy_hours(server, numbers["begin"])
    settle(server)


def copy_hours(server, begin):
    """To all before it."""
    for view in VIEWS:
        server.ask(f"DROP TABLE hcct.{view}")
    for table in COPIED:    # by itself: to find an hour among all takes longer the more there are
        server.ask(f"CREATE TABLE hcct.{table}_hour ENGINE = Log AS SELECT * FROM hcct.{table} ORDER BY service, metric, time, host")
    for ago in range(1, HOURS):
        for table, rest in COPIED.items():
            server.ask(COPY.format(table=table, ago=ago, begin=begin, rest=rest))
        for text in COPY_SUMS:
            server.ask(text.format(ago=ago, begin=begin))
        if ago % 24 == 0:
            print(f"{ago} hours", flush=True)
    for text in SUMS_OF_PUSHES:
        server.ask(text.format(begin=begin))
    for table in COPIED:
        server.ask(f"DROP TABLE hcct.{table}_hour")
    create(server)


def settle(server):
    """The server has merged what it would merge from push to push."""
    while server.ask("SELECT count() FROM system.merges WHERE database = 'hcct'") != [["0"]]:
        time.sleep(1)


def create(server):
    if run([HCCT, "push", "--create", "clickhouse", server.url]).status != 0:
        raise SystemExit("no tables")


def print_sizes(server):
    parts = server.ask("SELECT table, sum(rows), sum(bytes) FROM system.parts WHERE active AND database = 'hcct' AND "
                       "table IN ('stacks', 'deltas', 'totals', 'hours', 'host_contexts', 'host_hours') GROUP BY table ORDER BY table")
    total = sum(int(size) for _, _, size in parts)
    for table, rows, size in parts:
        print(f"{table:13} {int(rows):12,} rows {int(size):14,} bytes")
    print(f"{'all':13} {'':12}      {total:14,} bytes: {total / HOSTS / (HOURS / 24):,.0f} a host and day", flush=True)


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
    result = subprocess.run([command, "fleet", *options, "--url", server.url, "--format", "json"], capture_output=True)
    if result.returncode != 0:
        raise SystemExit(f"{command}: {result.stderr.decode()}")
    now = os.times()
    return (time.monotonic() - before, processor_seconds(server.process.pid) - cpu,
            now.children_user + now.children_system - own.children_user - own.children_system), result.stdout


def main():
    if not clickhouse.found():
        skip("clickhouse-server is not installed")
    os.environ["PATH"] += ":/usr/games"  # where gnugo is
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
        print(f"{'':40} {'elapsed':>8} {'greatest':>8} {'server':>8} {'hcct':>8}   (s, CPU time of the last two)")
        for name, *words in QUESTIONS:
            if HOURS < WEEK and "week" in name:
                continue
            seen, answers = {command: [] for command in commands}, {}
            for _ in range(ROUNDS):
                for command in commands:
                    times, answers[command] = ask(server, command, words)
                    seen[command].append(times)
            for command in commands:
                columns = list(zip(*seen[command]))
                elapsed, *cpu = map(statistics.median, columns)
                print(f"{name:20} {command[-19:]:19} " + " ".join(f"{t:8.2f}" for t in (elapsed, max(columns[0]), *cpu)), flush=True)
            if words[0] == "hot" and len(set(map(functions, answers.values()))) > 1:
                print(f"{name}: answers differ")
    finally:
        server.kill()
        shutil.rmtree(scratch(""))    # gigabytes


main()
