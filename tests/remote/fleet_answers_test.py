# SPDX-License-Identifier: LGPL-3.0-or-later
"""What hcct fleet makes of answers that no ClickHouse should give: a sentence, or a table in which
nothing steers a terminal."""

import http.server
import json
import os
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "e2e"), HERE]
from support import BUILD, HCCT, check, finish, run, skip  # noqa: E402

if not os.path.exists(os.path.join(BUILD, "client", "remote", "hcct-remote")):
    skip("hcct-remote is not made: libcurl is missing")

ROW = {"name": "shop", "metric": "cpu", "unit": "nanoseconds", "n": 1, "weight": 5000000000,
       "samples": 50, "lost_samples": 0, "pushes": 2, "last": 1700000000}
TOTALS = {"service": "shop", "number": 7, "metric": "cpu", "exe": "/bin/shop", "unit": "nanoseconds",
          "collector": "walks", "clock": "cpu", "period": 10000000, "total": 5000000000, "walks": 50,
          "complete": 50, "lost": 0, "lost_ns": 0, "cpu_ns": 5000000000, "unseen": 0, "hosts": 1,
          "runs": 1, "first": 1700000000, "last": 1700000060}
STACK = {"number": 7, "weight": 5000000000, "functions": ["main", "work"],
         "system_names": ["main", "work"], "files": ["", ""], "lines": [0, 0],
         "modules": ["/bin/shop", "/bin/shop"], "build_ids": ["", ""], "addresses": ["1", "2"],
         "kinds": [0, 0]}
WORDS = {"now": " AS now ", "columns": "system.columns", "pushes": "SELECT hour, sum(n)", "changes": "SELECT hour, sum(contexts)",
         "stacks": "system_names"}  # by which a question is known
TABLES = ({"table": "deltas"}, {"table": "totals", "name": "chance_most"}, {"table": "hours"}, {"table": "host_hours"})
STEERING = "\x1b]0;x\x07\x1bc"


class Server(http.server.ThreadingHTTPServer):
    """Answers by what is asked: totals and lists, of which hours there are sums, contexts. An answer that is a list
    is one for each time."""

    def __init__(self):
        self.answers = {}
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        query = self.rfile.read(int(self.headers["Content-Length"])).decode()
        kind = next((kind for kind, word in WORDS.items() if word in query), "totals")
        answer = self.server.answers[kind]
        if isinstance(answer, list):
            answer = answer.pop(0)
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *unused):
        pass


def rows(*them):
    return "".join(json.dumps(row) + "\n" for row in them).encode()


def ask(question, *options, **answers):
    server.answers = {"now": rows({"now": 1700000100}), "columns": rows(*TABLES), "pushes": b"", "changes": b"",
                      "totals": rows(TOTALS), "stacks": rows(STACK)} | answers
    result = run([HCCT, "fleet", question, "--url", server.url, *options])
    check(result.status >= 0, f"fleet {question} ends by itself: status {result.status}")
    check(b"\x1b" not in result.out + result.err, f"nothing of it steers a terminal: {result.out[-200:]}")
    return result


def test_list():
    """Names and kinds are what somebody has pushed, and times what the server says."""
    good = ask("list", totals=rows(ROW))
    check(good.status == 0 and b"shop" in good.out, "a list")
    for name in "name", "metric", "unit":
        steering = ask("list", totals=rows(ROW | {name: STEERING}))
        check(steering.status == 0, f"{name} with escapes: status {steering.status}")
    for last in 2**63 - 1, 2**64 - 1, -1, "soon", None:
        odd = ask("list", totals=rows(ROW | {"last": last}))
        check(odd.status == 0 and b"shop" in odd.out, f"last is {last}: status {odd.status}")
    for text in b"shop", b"[]", b"{}", b"{", b'{"name": 5}', b"\0", b"[" * 1000:
        ask("list", totals=text)


def test_hot():
    good = ask("hot")
    check(good.status == 0 and b"work" in good.out, f"contexts: {good.err.decode()}")
    for key in STACK:
        for value in None, [], ["a"], 5, [None, None], [STEERING, STEERING], [-1, 2**64], {}, STEERING:
            ask("hot", stacks=rows(STACK | {key: value}))
    for key in TOTALS:
        for value in None, [], -1, 2**64 - 1, STEERING:
            ask("hot", totals=rows(TOTALS | {key: value}))
    for text in b"{", b"[]", b"\xff\xff", rows(STACK)[:-20]:
        for kind in WORDS:
            ask("hot", **{kind: text})
    for now in None, [], -1, 0, 2**64 - 1, STEERING:
        ask("hot", now=rows({"now": now}))
    for version in None, [], -1, 26, "26.7.1.1", "999999999999.9", STEERING:
        check(ask("hot", now=rows({"now": 1700000100, "version": version})).status == 0, f"a server of version {version!r}")
    for n in None, [], -1, 2**64 - 1, STEERING:
        for hour, number in (n, 1), (472222, n):
            ask("hot", pushes=rows({"hour": hour, "n": number, "pushes": number, "sent": number, "contexts": number,
                                    "totals": number}),
                changes=rows({"hour": hour, "contexts": number, "totals": number}))


HOUR = 472221    # the one before `now`


def of_hour(pushes, rows_there, ids):
    return rows({"hour": HOUR, "n": rows_there, "pushes": pushes, "sent": pushes * 100, "contexts": ids, "totals": ids})


def test_while_asked():
    """A push that is inserted a second time between the questions: all is asked anew, or that is said."""
    def sums(ids):
        return rows({"hour": HOUR, "contexts": ids, "totals": ids})

    once, twice, doubled = of_hour(2, 2, 200), of_hour(2, 3, 300), STACK | {"weight": 7500000000}
    for name, pushes, changes, stacks in (
            ("nothing came", [once], [sums(200)], [STACK]),
            ("a new push", [once, of_hour(3, 3, 300)], [sums(300)], [STACK]),
            ("one for the second time", [once, twice, twice, twice, twice], [sums(300), sums(300)], [doubled, STACK]),
            ("of which one row is left", [once] + 4 * [of_hour(2, 2, 300)], [sums(300), sums(300)], [doubled, STACK])):
        answer = ask("hot", "--since", "24h", "--format", "json", pushes=pushes, changes=changes, stacks=[rows(one) for one in stacks])
        check(answer.status == 0 and json.loads(answer.out)["total"] == 5000000000,
              f"{name}: status {answer.status} {answer.err.decode().strip()} {json.loads(answer.out or '{}').get('total')}")
    answer = ask("hot", "--since", "24h", pushes=[once, twice, twice, twice] * 3, changes=[sums(300)] * 3, stacks=rows(doubled))
    check(answer.status == 1 and answer.out == b"" and answer.err.count(b"\n") == 1 and b"again and again" in answer.err,
          f"it never ends: {answer.err.decode().strip()}")


def test_clocks():
    """Pushes of a host whose clock is ahead are in all that is asked up to now: that is said."""
    for last, said in (1700000100, False), (1700000159, False), (1700086500, True):
        answer = ask("hot", totals=rows(TOTALS | {"last": last}))
        check(answer.status == 0 and answer.err.count(b"\n") == said and (b"is 86400 s ahead" in answer.err) == said,
              f"the last push was {last - 1700000100} s after now: {answer.err.decode().strip()}")


def test_sentences():
    """A server that is none of ours, has nothing of ours, or fails in the midst of an answer."""
    broken = rows(ROW) + b"Code: 241. DB::Exception: Memory limit exceeded\x1bc\n"
    for question, answers, sentence in (
            ("hot", {"now": b""}, "does not answer as ClickHouse does"),
            ("hot", {"now": b"OK"}, "can't be understood"),
            ("hot", {"columns": b""}, "has no tables of hcct push in the database hcct"),
            ("list", {"columns": rows({"table": "totals"})}, "'hcct push --create' makes them"),
            ("list", {"totals": broken}, "can't be understood: Code: 241. DB::Exception: Memory limit exceeded"),
            ("hot", {"stacks": rows(STACK) + broken}, "can't be understood: Code: 241")):
        for options in ("--format", "json"), ():
            answer = ask(question, *options, **answers)
            check(answer.status == 1 and answer.out == b"" and answer.err.count(b"\n") == 1 and sentence in answer.err.decode(),
                  f"{question} {options}: {answer.err.decode().strip()}")


server = Server()
test_sentences()
test_clocks()
test_list()
test_hot()
test_while_asked()
finish()
