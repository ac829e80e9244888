# SPDX-License-Identifier: LGPL-3.0-or-later
"""N of many hosts has its interval of chance. Hosts run short jobs, each of which has a sample by chance; what a sample
stands for, how long they ran, and so what N varies by, are known. The interval of each fleet is that of the sum of
variances, whether pushes or sums by hour answer, and holds the true time as often as it says."""

import gzip
import json
import os
import random
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "e2e"), HERE]
import clickhouse  # noqa: E402
from stub_hcctd import StubDaemon  # noqa: E402
from support import BUILD, HCCT, check, finish, run, scratch, skip  # noqa: E402

if not os.path.exists(os.path.join(BUILD, "client", "remote", "hcct-remote")):
    skip("hcct-remote is not made: libcurl is missing")
if not clickhouse.found():
    skip("clickhouse-server is not installed")

FLEETS, HOSTS, PUSHES = 40, 3, 3
UNIT = 1024                                     # ns, of sums of weights and their squares
SAMPLE = 10000                                  # units that a sample stands for
JOBS, CHANCE = 100, 0.1                         # of a host between two pushes; of a job to have a sample: it runs a tenth of one
Z, UNSEEN = 1.96, 1.5                           # common/profile/chance.h, common/base/few_samples.h
rng = random.Random(20261130)


# ---- what hcctd would answer ----

def varint(n):
    return (bytes([n & 127 | 128]) + varint(n >> 7)) if n > 127 else bytes([n])


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def profile(samples, collector="walks", **more):
    """A process of each fleet, which had so many samples until now, in pprof's format. Fleets are services here."""
    strings = ["", "calls" if collector == "calls" else "cpu", "count" if collector == "calls" else "nanoseconds", "work", "process",
               "hcct: profile 2", "pid"]
    data = block(1, number(1, 1) + number(2, 2)) + block(4, number(1, 1) + block(4, number(1, 1))) + block(5, number(1, 1) + number(2, 3))
    data += number(13, 5)
    for fleet, n in enumerate(samples):
        total = n * SAMPLE
        fields = {"walks": n, "complete": n, "total": total * UNIT, "drawn": total, "drawn_squares": n * SAMPLE ** 2,
                  "varied_total": n * SAMPLE ** 2, "lone_ns": SAMPLE * UNIT, "clock": "cpu", "collector": collector, **more}
        said = " ".join(f"{name}={value}" for name, value in fields.items())
        strings += [f"hcct: process {fleet + 1} command=fleet{fleet} exe=/bin/job pid={fleet + 1} runs=1 {said}", f"fleet{fleet}"]
        labels = block(3, number(1, 4) + number(2, len(strings) - 1)) + block(3, number(1, 6) + number(3, fleet + 1))
        data += block(2, block(1, varint(1)) + block(2, varint(total * UNIT)) + labels) + number(13, len(strings) - 2)
    data += b"".join(block(6, text.encode()) for text in strings) + number(9, int(time.time() * 1e9) - 10 ** 10) + number(10, 10 ** 10)
    return gzip.compress(data)


def push(host, samples, database="hcct", **more):
    daemon.profile = profile(samples, **more)
    result = run([HCCT, "push", "--once", "--socket", daemon.socket, "--host", f"h{host}", "--database", database, "--spool",
                  scratch(f"{database}-{host}"), "clickhouse", server.url])
    check(result.status == 0, f"host {host} pushes {result.err.decode().strip()}")


def create(database="hcct"):
    result = run([HCCT, "push", "--create", "--database", database, "clickhouse", server.url])
    check(result.status == 0, f"tables are made {result.err.decode().strip()}")


def hot(*options, database="hcct"):
    result = run([HCCT, "fleet", "hot", "--url", server.url, "--database", database, "--since", "24h", *options])
    if result.status != 0:
        raise SystemExit(f"hcct fleet hot {options}: {result.err.decode().strip()}")
    return result.out.decode()


def total(*options, database="hcct"):
    """N, half of its interval."""
    answer = json.loads(hot("--format", "json", *options, database=database))
    return answer["total"], answer["chance"]["total_half_width"]


def half_width(samples):
    """Of a sum of samples, in ns."""
    return Z * UNIT * SAMPLE * (samples + UNSEEN) ** 0.5


def about(one, other):
    return abs(one - other) <= 1e-6 * other


def push_all():
    """Samples of all, by fleet and host."""
    seen = [[0] * HOSTS for _ in range(FLEETS)]
    for _ in range(PUSHES):
        for host in range(HOSTS):
            for fleet in range(FLEETS):
                seen[fleet][host] += sum(rng.random() < CHANCE for _ in range(JOBS))
            push(host, [seen[fleet][host] for fleet in range(FLEETS)])
    return seen


def check_fleets(seen, what, *options):
    truth, held, bad = HOSTS * PUSHES * JOBS * CHANCE * SAMPLE * UNIT, 0, 0
    for fleet in range(FLEETS):
        weight, half = total("--service", f"fleet{fleet}", *options)
        bad += not (weight == sum(seen[fleet]) * SAMPLE * UNIT and about(half, half_width(sum(seen[fleet]))))
        held += abs(weight - truth) <= half
    check(bad == 0, f"{what}: the interval of N is that of the sum of variances, of {FLEETS} fleets; {bad} are not")
    check(held >= 0.9 * FLEETS, f"{held} of {FLEETS} hold the time that jobs took")
    weight, half = total(*options)
    check(about(half, half_width(sum(map(sum, seen)))), f"of all fleets: {half} ns")
    weight, half = total("--host", "h1", "--by", "host", *options)
    check(about(half, half_width(sum(hosts[1] for hosts in seen))), f"of a host: {half} ns")


def to_past():
    """The same pushes five hours ago: sums by hour answer."""
    for table in "deltas", "totals":
        columns = [name for name, *_ in server.ask(f"DESCRIBE TABLE hcct.{table}")]
        server.ask(f"CREATE TABLE hcct.kept ENGINE = Log AS SELECT * FROM hcct.{table}")
        later = ", ".join("time - 18000 AS time" if name == "time" else name for name in columns)
        for what in (table, *{"deltas": ("hours", "host_contexts"), "totals": ("host_hours",)}[table]):
            server.ask(f"TRUNCATE TABLE hcct.{what}")
        server.ask(f"INSERT INTO hcct.{table} SELECT {later} FROM hcct.kept")
        server.ask("DROP TABLE hcct.kept")


def says_interval(database):
    said = hot("--format", "text", database=database)
    line = next((line for line in said.splitlines() if line.split()[:1] == ["N"]), None)
    check(line is not None, f"a line of N: {line or said}")
    return line is not None and any(sign in line for sign in ("+-", "\u00b1"))


def test_report():
    """As hcct report says of the same processes."""
    path = scratch("report.pb.gz")
    with open(path, "wb") as file:
        file.write(profile([12, 30]))
    create("report")
    push(0, [12, 30], "report")
    answer = json.loads(run([HCCT, "report", "--format", "json", path]).out)
    check(about(total(database="report")[1], answer["chance"]["total_half_width"]), "a push says what hcct report says of the file")


def test_earlier():
    """Tables of an earlier version have no place for it; where some pushes do not tell, nothing is said."""
    create("earlier")
    for statement in ("DROP TABLE {}.host_hours_of_totals", "DROP TABLE {}.host_hours", "DROP TABLE {}.host_contexts_of_deltas",
                      "DROP TABLE {}.host_contexts", "ALTER TABLE {}.totals DROP COLUMN chance", "ALTER TABLE {}.totals DROP COLUMN chance_most"):
        server.ask(statement.format("earlier"))
    push(0, [100], "earlier")
    check(not says_interval("earlier"), "they are pushed to, and asked, all the same")
    create("earlier")
    push(0, [200], "earlier")
    check(not says_interval("earlier"), "one of two pushes does not tell")
    create("later")
    push(1, [200], "later")
    check(says_interval("later"), "else N has its interval")


def test_calls():
    """Counted in bursts they are no exact counts."""
    create("calls")
    daemon.kind = "calls"
    push(0, [200], "calls", collector="calls", bursts=200, burst_length_ns=10 ** 6, burst_period_ns=10 ** 8)
    check(json.loads(hot("--format", "json", database="calls"))["chance"]["samples"] > 0, "bursts of calls are samples")


server = clickhouse.ClickHouse(scratch("clickhouse"))
daemon = StubDaemon(scratch("hcctd.sock"), "walks")
try:
    create()
    pushed = push_all()
    check_fleets(pushed, "from pushes")
    to_past()
    check_fleets(pushed, "from sums by hour")
    test_report()
    test_earlier()
    test_calls()
finally:
    daemon.close()
    server.kill()
finish()
