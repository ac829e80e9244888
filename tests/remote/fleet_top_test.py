# SPDX-License-Identifier: LGPL-3.0-or-later
"""hcct fleet top: the screen of hcct top, of what hosts have pushed to a real ClickHouse. As text it
has what hcct fleet hot has; on a terminal services stand for processes, a range of the time line and
another metric can be chosen, and trouble with the server is said and not printed over the screen."""

import atexit
import json
import os
import re
import shutil
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "e2e"), HERE]
import clickhouse  # noqa: E402
from screen import Terminal  # noqa: E402
from support import BUILD, HCCT, check, finish, run, scratch, skip  # noqa: E402

if not os.path.exists(os.path.join(BUILD, "client", "remote", "hcct-remote")):
    skip("hcct-remote is not made: libcurl is missing")
if not clickhouse.found():
    skip("clickhouse-server is not installed")

PUSHES = 20
# service, metric, unit, weight of a push
PUSHED = (("shop", "cpu", "nanoseconds", 3000000000), ("shop", "alloc_space", "bytes", 5000),
          ("cart", "cpu", "nanoseconds", 1000000000))


def insert(database, service, metric, unit, weight, begin, host):
    """PUSHES of a minute each, of main > work and, a fourth of it, main > [~]."""
    key = (f"toDateTime({begin} + number * 60) AS time, '{service}' AS service, '{metric}' AS metric, '{host}' AS host, "
           f"concat('{service}{metric}{host}', toString(number)) AS push, '/bin/{service}' AS exe, '' AS tags, "
           "toUInt32(1) AS pid")
    server.ask(f"INSERT INTO {database}.deltas SELECT {key}, [toUInt64(1), toUInt64(2)] AS hashes, "
               f"[toUInt64({weight * 3 // 4}), toUInt64({weight // 4})] AS weights FROM numbers({PUSHES})")
    server.ask(f"INSERT INTO {database}.totals SELECT {key}, '{unit}' AS unit, 'walks' AS collector, 'cpu' AS clock, "
               f"toUInt64(60000000000) AS span, toUInt64(0) AS period, toUInt32(1) AS runs, toUInt64({weight}) AS total, "
               "toUInt64(100) AS walks, toUInt64(100) AS complete, toUInt64(0) AS lost, toUInt64(0) AS lost_ns, "
               f"toUInt64(0) AS cpu_ns, toUInt64({weight // 4}) AS unseen, toUInt64(2) AS contexts, toUInt64(0) AS capped, "
               "emptyArrayUInt64() AS chance, emptyArrayUInt64() AS chance_most "
               f"FROM numbers({PUSHES})")
    server.ask(f"INSERT INTO {database}.stacks SELECT '{service}' AS service, toUInt64(number + 1) AS hash, now() AS seen, "
               f"['main', number = 1 ? '[~]' : 'work_of_{service}'] AS functions, functions AS system_names, ['', ''] AS files, "
               f"[toUInt32(1), toUInt32(1)] AS lines, ['/bin/{service}', number = 1 ? '' : '/bin/{service}'] AS modules, "
               "['', ''] AS build_ids, [toUInt64(1), toUInt64(number * 7)] AS addresses, [toUInt8(0), toUInt8(0)] AS kinds "
               "FROM numbers(2)")


def fleet(question, *options, status=0):
    result = run([HCCT, "fleet", question, "--url", server.url, "--metric", "cpu", *options])
    check(result.status == status, f"fleet {question} {options}: status {result.status}, {result.err.decode().strip()}")
    return result.out.decode() + result.err.decode()


def test_text():
    text = fleet("top", "--functions", "--since", "2h")
    total = json.loads(fleet("hot", "--format", "json", "--since", "2h"))["total"]
    check(total == 2 * PUSHES * 4000000000, f"both hosts have pushed {total}")
    check("2 services on 2 hosts" in text and "160 s" in text.replace("160.0 s", "160 s"), f"N, and whose it is: {text[:300]}")
    check(re.search(r"^ +56\.2 +\+18\.8 +56\.2 +\+18\.8 .*work_of_shop", text, re.M) is not None,
          f"a function's share, and what it can have more at most:\n{text}")
    text = fleet("top", "--service", "cart", "--window", "5m", "--host", "h1", "--since", "2h")
    check("1 service on 1 host" in text and "work_of_cart" in text and "shop" not in text and
          "the last 5m" in text, f"of a service and a host, with a window:\n{text}")
    check(fleet("top", "-b", "--iterations", "2", "-d", "0.1").count("2 services") == 2, "again and again")
    check("nothing was pushed" in fleet("top", "--service", "x", status=4), "nothing is there")
    check("--window '7s'" in fleet("top", "--window", "7s", status=2), "a window that there is none of")
    result = run([HCCT, "fleet", "top", "--url", server.url])
    check(result.status == 1 and b"--metric" in result.err, f"two metrics are not added up: {result.err.decode().strip()}")


def test_metric():
    """What profiles call alloc_space is alloc to users: in the list, and wherever they choose it."""
    listed = run([HCCT, "fleet", "list", "--url", server.url]).out.decode()
    check(re.search(r"^shop +alloc +\d", listed, re.M) is not None and "alloc_" not in listed, f"the list has it: {listed}")
    for name in "alloc", "alloc_space":
        top = fleet("top", "--since", "2h", "--metric", name)
        check("195.3 KiB" in top and "allocated" in top, f"top --metric {name}: {top[:200]}")
        total = json.loads(fleet("hot", "--format", "json", "--since", "2h", "--metric", name))["total"]
        check(total == 2 * PUSHES * 5000, f"hot --metric {name}: {total}")
    result = run([HCCT, "fleet", "hot", "--url", server.url])
    check(result.status == 2 and b"alloc" in result.err and b"cpu" in result.err, f"both are named: {result.err.decode().strip()}")


def test_screen():
    terminal.command(f"{HCCT} fleet top --since 2h --url {server.url} -d 0.3")
    for keys, pattern, what in (
            ("0", r"2 services on 2 hosts.*metric \d of 2.*calling context.*work_of_shop.*work_of_cart", "all"),
            ("M", r"metric \d of 2.*bytes|kB|KB|KiB", "another metric"), ("M", r"160\.?0? s of CPU", "and back"),
            ("P", r"samples  command.*all  processes together.*shop", "services stand for processes"),
            ("Down Enter", r"1 service on 2 hosts.*work_of", "one of them"),
            ("P Home Enter", r"2 services on 2 hosts", "all of them again"),
            ("t", r"what is pushed has no threads", "there are no threads"),
            ("t", r"calling context.*work_of", "back to contexts"),
            ("W", r"the last 1h", "a longer window"),
            (", , ,", r"\d\d:\d\d:00 - \d\d:\d\d:\d\d: [\d.]+ s of CPU", "a range of the time line"),
            ("w", r"wrote hcct-top-all-.*\.pb\.gz", "a copy")):
        terminal.press(keys, pattern, what)
    server.kill()
    terminal.press("Home", r"can't be reached", "no server: it is said")
    terminal.wait(r"work_of_shop", "and what was seen stays")
    server.start()
    terminal.wait(r"can't be reached", "the server is back", absent=True)
    terminal.keys("q")
    terminal.wait(r"calling context", "q ends it", absent=True)


server = clickhouse.ClickHouse(scratch("clickhouse"))
terminal = None


@atexit.register
def stop_all():
    server.kill()
    if terminal is not None:
        terminal.kill()


check(run([HCCT, "push", "--create", "clickhouse", server.url]).status == 0, "tables are made")
for at in "h1", "h2":
    for pushed in PUSHED:
        insert("hcct", *pushed, int(time.time()) - PUSHES * 60, at)
test_text()
test_metric()
if shutil.which("tmux"):
    os.chdir(scratch(""))
    terminal = Terminal(120, 30)
    test_screen()
else:
    print("the screen is left out: tmux is not installed")
finish()
