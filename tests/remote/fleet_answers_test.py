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
WORDS = {"now": " AS now ", "once": " AS once ", "pushes": " AS sent ", "sums": " AS summed ",
         "stacks": "ARRAY JOIN"}  # by which a question is known
STEERING = "\x1b]0;x\x07\x1bc"


class Server(http.server.ThreadingHTTPServer):
    """Answers by what is asked: totals and lists, whether rows are there once, contexts."""

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
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *unused):
        pass


def rows(*them):
    return "".join(json.dumps(row) + "\n" for row in them).encode()


def ask(question, *options, **answers):
    server.answers = {"now": rows({"now": 1700000100}), "once": rows({"once": 1}), "pushes": b"", "sums": b"",
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
    for n in None, [], -1, 2**64 - 1, STEERING:
        for hour, number in (n, 1), (472222, n):
            ask("hot", pushes=rows({"hour": hour, "n": number, "pushes": number, "sent": number}),
                sums=rows({"hour": hour, "summed": number}))


server = Server()
test_list()
test_hot()
finish()
