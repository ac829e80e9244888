# SPDX-License-Identifier: LGPL-3.0-or-later
"""Users of ClickHouse have profiles, in which somebody has set limits, and that what goes beyond them is left
out. hcct fleet answers all that was asked for, or nothing, with a sentence; hcct push stores all."""

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
if clickhouse.CHDB or not clickhouse.found():
    skip("clickhouse-server is not installed")

HOST_TREES = os.path.join(BUILD, "tests", "remote", "host_trees")
# each with which an answer is cut
CUTS = {
    "read": {"max_rows_to_read": 3, "read_overflow_mode": "break"},
    "bytes": {"max_bytes_to_read": 100, "read_overflow_mode": "break"},
    "groups": {"max_rows_to_group_by": 3, "group_by_overflow_mode": "any"},
    "result": {"max_result_rows": 2, "result_overflow_mode": "break", "max_block_size": 2},
    "join": {"max_rows_in_join": 2, "join_overflow_mode": "break"},
}
CUT_TOO = {"readonly": 1, **CUTS["read"]}
PROFILES = {**CUTS, "reader": {"readonly": 1}, "reader2": {"readonly": 2, **CUTS["groups"]}, "cutreader": CUT_TOO,
            "writer": {"input_format_allow_errors_num": 1000000}}
QUESTIONS = (("hot", "--since", "1h", "--format", "json"), ("hot", "--since", "24h", "--format", "json"),
             ("list", "--format", "json"), ("diff", "--format", "json", "host=h0", "host=h1"))


def ask(user, question):
    return run([HCCT, "fleet", *question, "--url", server.url], env={"HCCT_PUSH_CREDENTIALS": f"{user}:" if user else ""})


def fill():
    directory = scratch("trees")
    os.makedirs(directory)
    check(run([HOST_TREES, "make", directory, "5", "space-saving", "0.02", "0"]).status == 0, "trees are made")
    check(run([HCCT, "push", "--create", "clickhouse", server.url]).status == 0, "tables are made")
    for host in 0, 1:
        for number in 0, 1:
            with open(os.path.join(directory, f"{host}-{number}.pb.gz"), "rb") as file:
                daemon.profile = file.read()
            pushed = run([HCCT, "push", "--once", "--socket", daemon.socket, "--host", f"h{host}", "--spool", scratch(f"h{host}"),
                          "clickhouse", server.url], env={"HCCT_PUSH_CREDENTIALS": "writer:"})
            check(pushed.status == 0, f"a push: {pushed.err.decode().strip()}")


def numbers(question, answer):
    """Of an answer, what does not change from one moment to the next."""
    if question[0] == "list":
        return sorted(answer.out.splitlines())
    found = json.loads(answer.out)
    return found.get("total", found.get("beyond")), len(found["nodes"] if "nodes" in found else found["rows"] if "rows" in found else [])


def test_profiles():
    for question in QUESTIONS:
        whole = ask("", question)
        check(whole.status == 0, f"{question}: {whole.err.decode().strip()}")
        want = numbers(question, whole)
        for user in PROFILES:
            got = ask(user, question)
            if got.status == 0:
                check(numbers(question, got) == want, f"{user} {question}: the same answer")
            else:
                check(got.status == 1 and got.out == b"" and got.err.count(b"\n") == 1 and b"answers with status" in got.err,
                      f"{user} {question}: {got.err.decode().strip()}")
            check(got.status == 0 or user not in ("reader", "writer"), f"{user}: is answered")
        check(any(ask(user, question).status for user in CUTS), f"{question}: limits are met")
        said = ask("cutreader", question)
        check(said.status == 1 and b"readonly" in said.err, f"who may change no settings is told: {said.err.decode().strip()}")


def test_names():
    """What is no UTF-8 is stored with U+FFFD in its place, and found by what was given."""
    name = b"sh\xffop"
    daemon.profile = open(os.path.join(scratch("trees"), "2-0.pb.gz"), "rb").read()
    pushed = run([HCCT, "push", "--once", "--socket", daemon.socket, "--service", name, "--host", name, "--spool", scratch("names"),
                  "clickhouse", server.url])
    check(pushed.status == 0, f"a push of {name}: {pushed.err.decode().strip()}")
    for options in ("--service", name), ("--host", name), ("--service", "sh\ufffdop"):
        found = run([HCCT, "fleet", "hot", "--format", "json", "--url", server.url, *options])
        check(found.status == 0, f"{options}: {found.err.decode(errors='replace').strip()}")


server = clickhouse.ClickHouse(scratch("clickhouse"), PROFILES)
daemon = StubDaemon(scratch("hcctd.sock"), "calls")
try:
    fill()
    test_profiles()
    test_names()
finally:
    daemon.close()
    server.kill()
finish()
