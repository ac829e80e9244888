# SPDX-License-Identifier: LGPL-3.0-or-later
"""hcct push to a real ClickHouse, and hcct fleet from it: sums and bounds are those of hcctd."""

import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "e2e"), HERE]
import clickhouse  # noqa: E402
from support import BUILD, HCCT, Daemon, check, finish, run, scratch, skip, target  # noqa: E402

if not os.path.exists(os.path.join(BUILD, "client", "remote", "hcct-remote")):
    skip("hcct-remote is not made: libcurl is missing")
if not clickhouse.found():
    skip("clickhouse-server is not installed")


def push(*options, host="h1", status=0):
    result = run([HCCT, "push", "--once", "--socket", daemon.socket, "--host", host, "--spool",
                  scratch(host), *options, "clickhouse", server.url])
    check(status is None or result.status == status,
          f"{host}: status {result.status}: {result.err.decode().strip()}")
    return result.err.decode()


def fleet(question, *options, status=0):
    result = run([HCCT, "fleet", question, "--url", server.url, *options])
    check(status is None or result.status == status, f"fleet {question} {options}: status {result.status}, "
          f"{result.err.decode().strip()}")
    return result.out.decode()


def hot(*options, status=0):
    return json.loads(fleet("hot", "--format", "json", *options, status=status) or "null")


def local(*options):
    return json.loads(run([HCCT, "hot", "--socket", daemon.socket, "--format", "json", *options]).out)


def run_program(name="known_shares", seconds=1, **env):
    check(run([target(name), str(seconds)], env=daemon.env(HCCT_RATE="250", **env)).status == 0,
          "a program runs")
    daemon.wait_for(lambda p: p["state"] == "finished" and p["walks"] > 0)


def functions(profile):
    return {(one["function"], one.get("file")):
            (one["self"], one["self_upper"], one["inclusive"], one["inclusive_upper"])
            for one in profile["functions"]}


def test_create():
    for _ in range(2):
        result = run([HCCT, "push", "--create", "clickhouse", server.url])
        check(result.status == 0, f"tables are made: {result.err.decode()}")
    check(sorted(name for name, in server.ask("SHOW TABLES FROM hcct")) ==
          ["deltas", "host_contexts", "host_contexts_of_deltas", "host_hours", "host_hours_of_totals", "hours", "hours_of_deltas", "stacks",
           "totals"], "six of them, and what fills three")
    fleet("hot", status=4)
    fleet("list", status=4)


def test_sums():
    """Three hosts with the same processes: all weights three times, context by context."""
    for _ in range(2):
        run_program(HCCT_TAGS="build=1")
        for host in "h1", "h2", "h3":
            push(host=host)
    one, all_three = local(), hot()
    check(all_three["total"] == 3 * one["total"], f"N is {all_three['total']}, 3 x {one['total']}")
    check(all_three["processes"][0]["walks"] == 3 * sum(p["walks"] for p in one["processes"]),
          "so are samples")
    want = {key: tuple(3 * n for n in value) for key, value in functions(one).items()}
    check(functions(all_three) == want, f"all {len(want)} functions weigh three times as much")
    check(hot("--host", "h2")["total"] == one["total"], "--host")
    check(hot("--service", "known_shares")["total"] == 3 * one["total"], "--service")
    check(hot("--tag", "build=1", "--metric", "cpu")["total"] == 3 * one["total"], "--tag")
    for option in ("--service", "x'y\\"), ("--tag", "build=2"), ("--metric", "wall"):
        fleet("hot", *option, status=4)
    check("known_shares" in fleet("list") and "h3" in fleet("list", "--by", "host"), "list")
    check(json.loads(fleet("list", "--format", "json"))["n"] in (3, "3"), "of three hosts")
    same = json.loads(fleet("diff", "--format", "json", "host=h1", "host=h2"))
    check(same["beyond"] == 0, "two hosts that do the same do not differ")
    fleet("diff", "--fail-above", "5%", "host=h1", "host=h2")
    fleet("diff", "--absolute", "--fail-above", "5%", "host=h1", "service=known_shares", status=5)  # one of three
    fleet("diff", "--fail-above", "x", "host=h1", "host=h2", status=2)
    fleet("hot", "-o", scratch("fleet.pb.gz"))
    result = run([HCCT, "report", "--format", "json", scratch("fleet.pb.gz")])
    check(json.loads(result.out)["total"] == 3 * one["total"], "as a profile file")


def shares(*options):
    """Of each label that stands above all frames: its weight, and what it is at most."""
    return {one["function"]: (one["inclusive"], one["inclusive_upper"]) for one in hot(*options)["functions"]}


def test_by():
    """What each host, and each service, has of all, and of a function; known_shares again by another name, on one host."""
    run_program(HCCT_TAGS="service=other")
    push(host="h2")
    hosts, services = ("h1", "h2", "h3"), ("known_shares", "other")
    for more in (), ("--service", "other"), ("--since", "24h"):
        want = {f"host={host}": one["total"] for host in hosts if (one := hot("--host", host, *more, status=None))}
        got = shares("--by", "host", *more)
        check({key: value[0] for key, value in got.items()} == want and all(low <= high for low, high in got.values()),
              f"by host, {more}: {got} is {want}")
    want = {f"host={host}": sum(one["inclusive"] for one in hot("--host", host)["functions"] if one["function"] == "alpha") for host in hosts}
    got = shares("--by", "host", "--focus", "^alpha$")
    check({key: value[0] for key, value in got.items() if key != "[no label]"} == want and min(want.values()) > 0,
          f"a function by host: {got} is {want}")
    got = shares("--by", "service")
    want = {f"service={name}": hot("--service", name)["total"] for name in services}
    check({key: value[0] for key, value in got.items()} == want, f"by service: {got}")
    same = json.loads(fleet("diff", "--by", "host", "--format", "json", "host=h1", "host=h3"))
    check(same["beyond"] == 2, f"hosts are no longer the same where they stand above: {same['beyond']}")
    fleet("hot", "--by", "host", "-o", scratch("hosts.pb.gz"))
    result = json.loads(run([HCCT, "report", "--by", "label", "--format", "json", scratch("hosts.pb.gz")]).out)
    check({one["function"] for one in result["functions"]} == {f"host={host}" for host in hosts}, "a file has them as labels")
    added_up = hot("--by", "host")
    check([functions(added_up), added_up["total"]] == [functions(result), result["total"]],
          "the server adds up what a file has as contexts")
    fleet("hot", "--by", "hosts", status=2)


def check_host(host):
    got, want = hot("--host", host)["total"], local()["total"]
    check(got == want, f"{host}: {got} is N, {want}")


def test_twice():
    """What is inserted again changes nothing."""
    run_program()
    server.kill()
    push(host="h1", status=1)
    kept = glob.glob(os.path.join(scratch("h1"), "push-*"))
    check(len(kept) == 1, "a push waits")
    server.start()
    for _ in range(3):
        shutil.copy(kept[0], scratch("kept"))
        push(host="h1")
        shutil.copy(scratch("kept"), kept[0])
    push(host="h1")
    check_host("h1")
    rows = server.ask("SELECT count() FROM hcct.deltas WHERE host = 'h1'")[0][0]
    server.ask("OPTIMIZE TABLE hcct.deltas FINAL")
    check(int(rows) >= int(server.ask("SELECT count() FROM hcct.deltas WHERE host = 'h1'")[0][0]),
          "rows that came again go when parts are merged")
    check_host("h1")


def same_pushes():
    """Is the table of sums by hour one of the pushes that there are, each once?"""
    sums = server.ask("SELECT sum(weight) FROM hcct.hours WHERE hash = 0")
    return sums == server.ask("SELECT sum(cityHash64(push)) FROM hcct.deltas")


def test_hours(trusted):
    """Answers are the same with the table of sums by hour, and where it is new and knows of no push."""
    check(same_pushes() == trusted, "sums by hour are used" if trusted else "they are not, after repeated pushes")
    with_sums, of_service = functions(hot()), hot("--service", "known_shares")
    server.ask("DROP TABLE hcct.hours")
    server.ask("DROP TABLE hcct.host_hours")
    check(functions(hot()) == with_sums, "an earlier version's tables have no sums by hour")
    check(run([HCCT, "push", "--create", "clickhouse", server.url]).status == 0, "they are made")
    check(functions(hot()) == with_sums and hot("--service", "known_shares")["total"] == of_service["total"],
          f"all {len(with_sums)} functions weigh the same")
    run_program()
    push(host="h2")
    check(not same_pushes(), "some pushes are older than the table")
    check_host("h2")
    check(hot()["total"] == sum(hot("--host", f"h{i}")["total"] for i in (1, 2, 3)), "so that hour is added up")


def test_whole_hours():
    """A long span begins with an hour, so that no part of one has to be added up from pushes."""
    now = int(server.ask("SELECT toUInt32(now())")[0][0])
    hour = (now - 7 * 3600) // 3600 * 3600
    for at, weight in (hour - 1, 1), (hour, 10), (hour + 3599, 100), (hour + 2 * 3600, 1000):
        key = (f"toDateTime({at}) AS time, 'long' AS service, 'cpu' AS metric, 'h9' AS host, '{at}' AS push, '/bin/long' AS exe, "
               "'' AS tags, toUInt32(1) AS pid")
        server.ask(f"INSERT INTO hcct.deltas SELECT {key}, [toUInt64(1)] AS hashes, [toUInt64({weight})] AS weights")
        server.ask(f"INSERT INTO hcct.totals SELECT {key}, 'nanoseconds' AS unit, 'walks' AS collector, 'cpu' AS clock, "
                   "toUInt64(0) AS span, toUInt64(0) AS period, toUInt32(1) AS runs, "
                   f"toUInt64({weight}) AS total, toUInt64(1) AS walks, toUInt64(1) AS complete, toUInt64(0) AS lost, toUInt64(0) AS lost_ns, "
                   "toUInt64(0) AS cpu_ns, toUInt64(0) AS unseen, toUInt64(1) AS contexts, toUInt64(0) AS capped, emptyArrayUInt64() AS chance, "
                   "emptyArrayUInt64() AS chance_most")
    total = hot("--service", "long", "--since", "7h")["total"]
    later = int(server.ask("SELECT toUInt32(now())")[0][0])
    check(total == 1110 or later // 3600 != now // 3600, f"of seven hours: {total}")


def insert_past(hours, labels, what="deltas, totals", database="past"):
    """Pushes of these hours before this one, every five minutes, of each (service, host, exe, tags)."""
    for place, (service, host, exe, tags) in enumerate(labels):
        key = (f"toDateTime((intDiv(toUInt32(now()), 3600) - {{hour}}) * 3600 + number * 300) AS time, '{service}' AS service, 'cpu' AS metric, "
               f"'{host}' AS host, concat('{host}{exe}{tags}-{{hour}}-', toString(number)) AS push, '{exe}' AS exe, '{tags}' AS tags, "
               "toUInt32(1) AS pid")
        for hour in hours:
            if "deltas" in what:
                server.ask(f"INSERT INTO {database}.deltas SELECT {key.format(hour=hour)}, [toUInt64(1), toUInt64(2)] AS hashes, "
                           f"[toUInt64(100 + number), toUInt64({hour})] AS weights FROM numbers(12)")
            if "totals" in what:
                server.ask(f"INSERT INTO {database}.totals SELECT {key.format(hour=hour)}, 'nanoseconds' AS unit, 'walks' AS collector, 'cpu' AS clock, "
                           "toUInt64(number = 5 ? 600000000000 : 15000000000) AS span, toUInt64(10000000) AS period, toUInt32(1 + number % 3) AS runs, "
                           f"toUInt64(100 + number + {hour}) AS total, toUInt64(5 + number) AS walks, toUInt64(4 + number) AS complete, toUInt64(number) AS lost, "
                           f"toUInt64(number * 10) AS lost_ns, toUInt64(200) AS cpu_ns, toUInt64({place} * 100 + {hour} + number) AS unseen, "
                           "toUInt64(2) AS contexts, toUInt64(number) AS capped, emptyArrayUInt64() AS chance, emptyArrayUInt64() AS chance_most "
                           "FROM numbers(12)")


def past(*options):
    """What is said of all, without the moments, which go on."""
    here = "--database", "past", "--since", "24h"
    profile = json.loads(fleet("hot", *here, "--format", "json", *options))
    lists = [sorted(fleet("list", *here, "--format", "json", "--by", by, *options).splitlines()) for by in ("service", "host")]
    return profile["processes"], profile["total"], lists


def duration():
    """Seconds; one push of ten minutes stands in the middle of each hour."""
    return json.loads(fleet("hot", "--database", "past", "--since", "24h", "--format", "json"))["duration_ns"] / 1e9


def test_totals():
    """What is said of all of a push comes from sums by hour where they are of the same pushes, each once."""
    create = [HCCT, "push", "--create", "--database", "past", "clickhouse", server.url]
    check(run(create).status == 0, "tables are made")
    labels = [("a", "h1", "/bin/a", ""), ("a", "h1", "/bin/a", "build=2"), ("a", "h2", "/bin/a", "build=2"), ("b", "h2", "/bin/b", "build=2")]
    asked = (), ("--host", "h2"), ("--service", "a"), ("--tag", "build=2"), ("--tag", "build=2", "--host", "h1")
    insert_past(range(2, 7), labels)
    with_sums, lasted = [past(*one) for one in asked], duration()
    check(lasted == 4 * 3600 + 3300 + 15, f"from the beginning of the first push to the last it is {lasted} s")
    server.ask("RENAME TABLE past.host_hours TO past.kept")
    check([past(*one) for one in asked] == with_sums, f"it is the same without sums: N is {with_sums[0][1]}")
    check(duration() == lasted, "and lasts as long")
    server.ask("RENAME TABLE past.kept TO past.host_hours")
    insert_past([3], labels[:1], "totals")    # a push that was interrupted, and one that came twice
    insert_past([4], labels[1:2])
    server.ask("INSERT INTO past.host_hours (service, metric, hour, host, exe, tags, unit, collector, clock, walks) SELECT 'a' AS service, "
               "'cpu' AS metric, toUInt32(intDiv(toUInt32(now()), 3600) - h) AS hour, 'h1' AS host, '/bin/a' AS exe, '' AS tags, "
               "'nanoseconds' AS unit, 'walks' AS collector, 'cpu' AS clock, sumState(toUInt64(7)) AS walks FROM (SELECT arrayJoin([3, 4]) AS h) "
               "GROUP BY service, metric, hour, host, exe, tags, unit, collector, clock")
    check([past(*one) for one in asked] == with_sums, "what came twice changes nothing")
    server.ask("OPTIMIZE TABLE past.deltas FINAL")
    server.ask("OPTIMIZE TABLE past.totals FINAL")
    check([past(*one) for one in asked] == with_sums, "nor when parts are merged")
    server.ask("INSERT INTO past.host_hours (service, metric, hour, host, exe, tags, unit, collector, clock, walks) SELECT 'a' AS service, "
               "'cpu' AS metric, toUInt32(intDiv(toUInt32(now()), 3600) - 5) AS hour, 'h1' AS host, '/bin/a' AS exe, '' AS tags, "
               "'nanoseconds' AS unit, 'walks' AS collector, 'cpu' AS clock, sumState(toUInt64(7)) AS walks GROUP BY service, metric, hour, host, "
               "exe, tags, unit, collector, clock")
    walks = [sum(p["walks"] for p in one[0]) for one in (past(), with_sums[0])]
    check(walks[0] == walks[1] + 7, f"sums are used where they are of the same pushes: {walks}")


def test_killed():
    """The pusher or the server are killed at any moment."""
    app = subprocess.Popen([target("known_shares"), "3"], env=daemon.env(HCCT_RATE="250"),
                           stdout=subprocess.DEVNULL)
    daemon.wait_for(lambda p: p["pid"] == app.pid and p["walks"] > 10)
    for i in range(12):
        pusher = subprocess.Popen([HCCT, "push", "--once", "--socket", daemon.socket, "--host", "h4",
                                   "--spool", scratch("h4"), "clickhouse", server.url],
                                  stderr=subprocess.DEVNULL)
        time.sleep(0.015 * i)
        if i % 4 == 3:
            server.kill()
            pusher.wait()
            server.start()
        pusher.kill()
        pusher.wait()
    app.wait()
    daemon.wait_for(lambda p: p["pid"] == app.pid and p["state"] == "finished")
    push(host="h4")
    check_host("h4")


def test_bounds():
    """A tree that forgets: the fleet's bounds and hcctd's own are of the same truth."""
    app = subprocess.Popen([target("deep"), "20000", "2"], env=daemon.env(HCCT_RATE="1000"),
                           stdout=subprocess.DEVNULL)
    shares = subprocess.Popen([target("known_shares"), "2"], env=daemon.env(HCCT_RATE="1000"),
                              stdout=subprocess.DEVNULL)
    for _ in range(5):
        time.sleep(0.8)
        push(host="h5")
    shares.wait()
    app.kill()
    app.wait()
    daemon.wait_for(lambda p: p["pid"] == shares.pid and p["state"] == "finished")
    push(host="h5")
    time.sleep(1)
    push(host="h5")
    check_host("h5")
    here, there = functions(local("--exe", "known_shares")), functions(hot("--service", "known_shares", "--host", "h5"))
    wrong = [(key, here[key], there[key]) for key in set(here) & set(there)
             if here[key][0] > there[key][1] or there[key][0] > here[key][1] or
             here[key][2] > there[key][3] or there[key][2] > here[key][3]]
    check(not wrong, f"bounds of {len(here)} functions agree {wrong[:2]}")
    hidden = sum(node["count"] for node in hot("--host", "h5", "--by", "site")["nodes"]
                 if node.get("function") == "[~]")
    print(f"        {hidden} of {local()['total']} in [~]")


def dashboard(begin, end, service="known_shares", database="hcct"):
    """Of each panel what it is called and its rows, asked for as Grafana does."""
    with open(os.path.join(HERE, "..", "..", "contrib", "grafana", "clickhouse.json")) as file:
        board = json.load(file)
    for panel in board["panels"]:
        query = panel["targets"][0]["rawSql"]
        for macro, text in (("$__timeFilter(time)", f"time >= toDateTime({begin}) AND time <= toDateTime({end})"),
                            ("$__fromTime", f"toDateTime({begin})"), ("$__toTime", f"toDateTime({end})"),
                            ("$__timeInterval(time)", "toStartOfMinute(time)"), ("hcct.", database + "."),
                            ("${service:singlequote}", f"'{service}'"), ("${metric}", "cpu")):
            query = query.replace(macro, text)
        yield panel["title"], server.ask(query)


def test_dashboard():
    """Each of its questions has an answer."""
    now = int(time.time())
    for title, rows in dashboard(now - 36000, now + 1):
        check(len(rows) > 0, f"{title}: {len(rows)} rows, such as {rows[0]}")
        if title == "Functions by self weight":
            total = sum(int(row[1]) for row in rows)
            check(total == hot("--service", "known_shares")["total"], f"self weights are N: {total}")


FIRST = 480000  # hours since 1970
PUSHES = 12


def insert_pushes(hour, again=False):
    """PUSHES of an hour, of five contexts; the last of them is one whose function is not known."""
    server.ask(f"INSERT INTO panels.deltas SELECT toDateTime({hour} * 3600 + number * 300) AS time, 'one' AS service, "
               f"'cpu' AS metric, 'host' AS host, concat('{hour}-', toString(number)) AS push, '/bin/one' AS exe, "
               "'' AS tags, toUInt32(1) AS pid, arrayMap(i -> toUInt64(i + 1), range(5)) AS hashes, "
               f"arrayMap(i -> toUInt64({hour - FIRST} * 1000 + number * 10 + i + 1), range(5)) AS weights "
               f"FROM numbers({1 if again else PUSHES})")


def weight_of(context, begin, end):
    """By the same law, without the server."""
    return sum((hour - FIRST) * 1000 + number * 10 + context for hour in range(FIRST, FIRST + 7)
               for number in range(PUSHES) if begin <= hour * 3600 + number * 300 <= end)


def check_panels(begin, end, more=0):
    """`more`: what is beside the pushes of context 2 in the table of sums."""
    panels, want = dict(dashboard(begin, end, "one", "panels")), [weight_of(i, begin, end) for i in range(1, 6)]
    want[1] += more
    unknown = want[4]
    functions = {row[0]: tuple(map(int, row[1:])) for row in panels["Functions by self weight"]}
    check(functions == {f"f{i}": (want[i - 1], want[i - 1] + unknown) for i in range(1, 5)},
          f"{begin}..{end}: self weights and their bounds: {functions}")
    inclusive = {row[0]: int(row[1]) for row in panels["Functions by inclusive weight"]}
    check(inclusive == {"main": sum(want), **{f"f{i}": want[i - 1] for i in range(1, 5)}},
          f"inclusive weights: {inclusive}")
    contexts = {row[0]: int(row[1]) for row in panels["Hottest contexts"]}
    check(contexts == {**{f"main > f{i}": want[i - 1] for i in range(1, 5)}, "main > [~]": unknown},
          f"contexts: {contexts}")


def test_panels():
    """Whole hours come from sums, where these are of the same pushes; the rest from pushes."""
    result = run([HCCT, "push", "--create", "--keep", "0", "--database", "panels", "clickhouse", server.url])
    check(result.status == 0, f"tables are made: {result.err.decode()}")
    server.ask("INSERT INTO panels.stacks SELECT 'one' AS service, toUInt64(number + 1) AS hash, now() AS seen, "
               "['main', number = 4 ? '[~]' : concat('f', toString(number + 1))] AS functions, functions AS system_names, "
               "['', ''] AS files, [toUInt32(1), toUInt32(1)] AS lines, ['/bin/one', ''] AS modules, ['', ''] AS build_ids, "
               "[toUInt64(1), toUInt64(2)] AS addresses, [toUInt8(0), toUInt8(0)] AS kinds FROM numbers(5)")
    for hour in range(FIRST, FIRST + 6):
        insert_pushes(hour)
    begin, middle, end = FIRST * 3600, 1800, (FIRST + 5) * 3600
    spans = ((begin + middle, end + middle), (begin, end), (begin + 1, end - 1), (begin + middle, begin + middle + 1200),
             (begin + 2 * 3600, begin + 3 * 3600), (begin, begin + 300))
    for span in spans:
        check_panels(*span)
    server.ask(f"INSERT INTO panels.hours VALUES ('one', 'cpu', {FIRST + 1}, '', 2, 7), ('one', 'cpu', {FIRST + 5}, '', 2, 7)")
    check_panels(begin + middle, end + middle, more=7)  # of the whole hour, and not of the one that is cut
    insert_pushes(FIRST + 1, again=True)
    check_panels(begin + middle, end + middle)          # a push that came twice: its hour is added up from pushes
    server.ask("DROP TABLE panels.hours")
    check(run([HCCT, "push", "--create", "--keep", "0", "--database", "panels", "clickhouse", server.url]).status == 0, "made anew")
    insert_pushes(FIRST + 6)
    for span in (*spans, (begin, end + 3 * 3600)):
        check_panels(*span)


def test_gap():
    """What a hcctd that is killed takes with it is said of all hosts, too, and in the interval of N."""
    program = subprocess.Popen([target("known_shares"), "6"], env=daemon.env(HCCT_RATE="250"), stdout=subprocess.DEVNULL)

    def is_it(process, what):
        return process["pid"] == program.pid and what(process)
    daemon.wait_for(lambda p: is_it(p, lambda p: p["walks"] > 50))
    daemon.stop()  # with a checkpoint
    daemon.start()
    push(host="gap")
    time.sleep(1.5)
    daemon.stop(signal.SIGKILL)
    daemon.start()
    check(daemon.wait_for(lambda p: is_it(p, lambda p: p["gap_ns"] > 0)) is not None, "some time is missing")
    program.wait()
    daemon.wait_for(lambda p: is_it(p, lambda p: p["state"] == "finished"))
    for _ in range(4):  # it is said once, however often is pushed after that
        push(host="gap")
    found, here = hot("--host", "gap"), local()["processes"][0]
    lost, want = found["processes"][0]["lost_ns"], here["lost_ns"] + here["gap_ns"]
    # what was lost before, and was said, went with the hcctd that was killed
    check(want <= lost <= want + here["cpu_ns"] / 10, f"{lost} ns are lost, {want} and what was said before is right")
    check(found["total"] + lost >= here["total"] + want, f"with {found['total']} that is all that there was")
    check("lost" in fleet("hot", "--host", "gap"), "and it is said")


def test_unsampled():
    """CPU time that had no sample by chance comes with the next samples, or when the program is over."""
    env = daemon.env(HCCT_RATE="2")
    long = subprocess.Popen([target("known_shares"), "3"], env=env, stdout=subprocess.DEVNULL)
    for _ in range(12):
        push(host="few")  # most of them have no sample
        time.sleep(0.3)
    check(long.wait() == 0, "it ends")
    daemon.wait_for(lambda p: p["pid"] == long.pid and p["state"] == "finished")
    push(host="few")
    here, there = local()["processes"], hot("--host", "few")["processes"]
    here, there = (sum(one["cpu_ns"] for one in of) for of in (here, there))
    check(here == there > 0, f"{there} ns of CPU time are known, {here} are right")


def test_words():
    for words, status, sentence in (
            (("hot",), 2, "say where ClickHouse is"), ((), 2, "say what to ask"),
            (("hot", "--url", "127.0.0.1:1"), 2, "is no URL"),
            (("hot", "--url", "http://me:SECRET@127.0.0.1:1"), 2, "has credentials"),
            (("hot", "--url", "http://127.0.0.1:1", "--database", "2x"), 2, "the first no digit"),
            (("hot", "--url", "http://127.0.0.1:1", "--since", "x"), 2, "--since 'x'"),
            (("hot", "--url", "http://127.0.0.1:1", "--since", "1h", "--until", "2h"), 2, "--until"),
            (("hot", "--url", "http://127.0.0.1:1"), 1, "can't be reached"),
            (("diff", "--url", "http://127.0.0.1:1", "a=b", "since=1h"), 2, "'a=b' is none of"),
            (("list", "--url", "http://127.0.0.1:1", "--by", "x"), 2, "--by 'x'"),
            (("hot", "--url", "http://127.0.0.1:1", "--tag", "build"), 2, "--tag 'build'"),
            (("diff", "--url", "http://127.0.0.1:1", "tag=build=1,env=x", "since=1h"), 2, "--tag 'build=1,env=x'"),
            (("hot", "--url", "http://127.0.0.1:1", "--metric", "heap"), 2, "is not pushed"),
            (("top", "--url", "http://127.0.0.1:1", "--metric", "inuse_objects"), 2, "--metric heap-objects")):
        result = run([HCCT, "fleet", *words])
        check(result.status == status and sentence in result.err.decode() and
              result.err.count(b"\n") == 1, f"{words}: {result.err.decode().strip()}")


server = clickhouse.ClickHouse(scratch("clickhouse"))
try:
    with Daemon() as daemon:
        test_create()
        test_sums()
        test_hours(True)
        test_by()
        test_twice()
        test_hours(False)
        test_dashboard()
        test_whole_hours()
        test_totals()
        test_killed()
        test_panels()
        test_words()
    with Daemon("--epsilon", "0.05", "--phi", "0.1") as daemon:
        test_bounds()
    with Daemon() as daemon:
        test_unsampled()
    with Daemon("--state-dir", scratch("gap-state"), "--checkpoint", "3600") as daemon:
        test_gap()
finally:
    server.kill()
finish()
