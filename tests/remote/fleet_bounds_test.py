# SPDX-License-Identifier: LGPL-3.0-or-later
"""Streams whose weights are known are split over hosts; each host's bounded tree is pushed, again and
again, to a real ClickHouse. What hcct fleet says of all hosts, of some, and of one holds of the
truth: each context, function, line and module is in its interval; those that a host, or all of them,
had no room for, too."""

import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "e2e"), HERE]
import clickhouse  # noqa: E402
from stub_hcctd import StubDaemon  # noqa: E402
from support import BUILD, HCCT, check, finish, run, scratch, skip  # noqa: E402

if not os.path.exists(os.path.join(BUILD, "client", "remote", "hcct-remote")):
    skip("hcct-remote is not made: libcurl is missing")
if not clickhouse.found():
    skip("clickhouse-server is not installed")

HOST_TREES = os.path.join(BUILD, "tests", "remote", "host_trees")
HOSTS, PUSHES = range(4), range(4)
# algorithm, epsilon, the cap of a tree in bytes
TREES = (("filtered-space-saving", 0.02, 0), ("space-saving", 0.1, 0), ("space-saving-list", 0.05, 0),
         ("lossy-counting", 0.05, 0), ("exact", 0.01, 0), ("space-saving", 0.01, 16384))
CAPPED = ("exact", 0.01, 20000)  # has no counters to give away: what has no room goes to callers


def make(seed, algorithm, epsilon, most):
    directory = scratch(f"trees-{seed}")
    os.makedirs(directory)
    result = run([HOST_TREES, "make", directory, str(seed), algorithm, str(epsilon), str(most)])
    check(result.status == 0, f"{algorithm}, epsilon {epsilon}: trees are made {result.err.decode()}")
    return directory


def service_of(host):
    return "even" if host % 2 == 0 else "odd"


def push(directory, database, host, number, tag=""):
    with open(os.path.join(directory, f"{host}-{number}.pb.gz"), "rb") as file:
        daemon.profile = file.read()
    result = run([HCCT, "push", "--once", "--socket", daemon.socket, "--host", f"h{host}", "--database", database, "--service", service_of(host),
                  "--spool", scratch(f"{database}-{host}{tag}"), "clickhouse", server.url])
    said = result.err.decode()
    check(result.status == 0 and "not in hcctd" not in said, f"host {host}, push {number}: {said.strip()}")


def check_bounds(directory, database, pushes, *options):
    """Of what was pushed: `pushes` are pairs of a host and a number."""
    fleet = os.path.join(directory, "fleet.pb.gz")
    result = run([HCCT, "fleet", "hot", "--url", server.url, "--database", database, "-o", fleet, *options])
    check(result.status == 0, f"hcct fleet hot {options}: {result.err.decode().strip()}")
    result = run([HOST_TREES, "check", fleet] +
                 [os.path.join(directory, f"truth-{host}-{number}.pb.gz") for host, number in pushes])
    check(result.status == 0, f"{database} {' '.join(options)}, {len(pushes)} pushes: all bounds hold, of "
          f"{result.out.decode().strip()} {result.err.decode()[:500]}")
    result = run([HOST_TREES, "check", fleet, os.path.join(directory, "truth-3-3.pb.gz")])
    check(result.status == 1, "they do not hold of what was not pushed")


def check_groups(directory, database, pushes, *options):
    """The same of what stands below each host, and below each service: of every context, whether it is there or not."""
    for what, label_of in ("host", lambda host: f"host=h{host}"), ("service", lambda host: f"service={service_of(host)}"):
        fleet = os.path.join(directory, f"by-{what}.pb.gz")
        result = run([HCCT, "fleet", "hot", "--url", server.url, "--database", database, "--by", what, "-o", fleet, *options])
        check(result.status == 0, f"--by {what} {options}: {result.err.decode().strip()}")
        for label in sorted({label_of(host) for host, _ in pushes}):
            its = [os.path.join(directory, f"truth-{host}-{number}.pb.gz") for host, number in pushes if label_of(host) == label]
            result = run([HOST_TREES, "check-below", label, fleet, *its])
            check(result.status == 0, f"{database} {' '.join(options)}, {label}, {len(its)} pushes: all bounds hold, of "
                  f"{result.out.decode().strip()} {result.err.decode()[:500]}")
        result = run([HOST_TREES, "check-below", label, fleet, *its, its[0]])
        check(result.status == 1, f"they do not hold of what was not pushed by {label}")


def test_trees(seed, tree):
    directory, database = make(seed, *tree), f"bounds{seed}"
    result = run([HCCT, "push", "--create", "--database", database, "clickhouse", server.url])
    check(result.status == 0, f"tables are made {result.err.decode()}")
    sent = []
    for number in PUSHES:
        for host in HOSTS:
            if host == 3 and number != 1:
                continue    # is heard of once; what it had before that is in that push
            push(directory, database, host, number)
            sent += [(host, number)] if host != 3 else [(host, 0), (host, 1)]
        if number in (0, 1):
            check_bounds(directory, database, sent)
    check_bounds(directory, database, sent)
    check_groups(directory, database, sent)
    copy_to_past(database)
    past = database + "_past", sent, "--since", "24h"
    check_bounds(directory, *past)
    check_groups(directory, *past)
    if tree in TREES[:2]:
        server.ask(f"OPTIMIZE TABLE {past[0]}.host_contexts FINAL")    # the server adds arrays up
        check_groups(directory, *past)
    for host in HOSTS:
        its = [one for one in sent if one[0] == host]
        check_bounds(directory, database, its, "--host", f"h{host}")
        check_bounds(directory, database + "_past", its, "--host", f"h{host}", "--since", "24h")
    if tree in TREES[:2]:
        server.ask(f"DROP TABLE {past[0]}.host_contexts")
        check_groups(directory, *past)      # from pushes


def answer(database, *options):
    result = run([HCCT, "fleet", "hot", "--url", server.url, "--database", database, "--format", "json", *options])
    check(result.status == 0, f"hcct fleet hot {options}: {result.err.decode().strip()}")
    return json.loads(result.out)


def bounds_of(profile, function):
    """Of all functions of that name."""
    found = [one for one in profile["functions"] if one["function"] == function]
    return sum(one["inclusive"] for one in found), sum(one["inclusive_upper"] for one in found)


def test_by_host(database):
    """What each host has of a function, with bounds as wide as where that host alone is asked for."""
    names = [one["function"] for one in answer(database)["functions"] if not one["function"].startswith("[")]
    checked = 0
    for name in names[:6]:
        by_host = answer(database, "--by", "host", "--focus", f"^{name}$")
        for host in HOSTS:
            low, high = bounds_of(answer(database, "--host", f"h{host}"), name)
            got = bounds_of(by_host, f"host=h{host}")
            checked += low < high
            check(got[0] == low and got[1] >= high, f"{name} on host {host}: {got}, alone {(low, high)}")
    check(checked > 0, f"{checked} of them are not exact")


def copy_to_past(database):
    """The same pushes some hours ago: hcct fleet takes them from sums by hour."""
    past = database + "_past"
    check(run([HCCT, "push", "--create", "--database", past, "clickhouse", server.url]).status == 0, "tables are made")
    server.ask(f"INSERT INTO {past}.stacks SELECT * FROM {database}.stacks")
    for table in "deltas", "totals":
        columns = [name for name, *_ in server.ask(f"DESCRIBE TABLE {database}.{table}")]
        later = ", ".join("time - 18000 AS time" if name == "time" else name for name in columns)
        server.ask(f"INSERT INTO {past}.{table} SELECT {later} FROM {database}.{table} FINAL")


def capped(*command):
    answer = json.loads(run([HCCT, *command, "--format", "json"]).out)
    return sum(one.get("capped", 0) for one in answer["processes"])


def test_capped(seed):
    """Where memory was short, counts are above what is certain by a weight that is said."""
    directory, database = make(seed, *CAPPED), f"bounds{seed}"
    create = [HCCT, "push", "--create", "--database", database, "clickhouse", server.url]
    check(run(create).status == 0, "tables are made")
    for statement in "DROP TABLE {}.host_hours_of_totals", "DROP TABLE {}.host_hours", "ALTER TABLE {}.totals DROP COLUMN capped":
        server.ask(statement.format(database))
    push(make(seed + 1, *TREES[-1]), database, 2, 0)
    check(capped("fleet", "hot", "--url", server.url, "--database", database) == 0,
          "tables that an earlier version has made are pushed to, and asked, all the same")
    check(run(create).status == 0, "and get what they lack")
    want = 0
    for host in 0, 1:
        for number in PUSHES:
            push(directory, database, host, number)
        want += capped("report", os.path.join(directory, f"{host}-{PUSHES[-1]}.pb.gz"))
    got = capped("fleet", "hot", "--url", server.url, "--database", database)
    check(got == want > 0, f"both hosts had no room for {want}, hcct fleet says {got}")


server = clickhouse.ClickHouse(scratch("clickhouse"))
daemon = StubDaemon(scratch("hcctd.sock"), "calls")
try:
    for place, one in enumerate(TREES):
        test_trees(place + 1, one)
    test_by_host("bounds2")
    test_capped(len(TREES) + 1)
finally:
    daemon.close()
    server.kill()
finish()
