#!/usr/bin/env -S python3 -S
# SPDX-License-Identifier: LGPL-3.0-or-later
"""Stands in for hcctd in tests of the client: takes its options, speaks its protocol, says what the
environment tells it to say.

FAKE_LOG        file that gets one line for each request
FAKE_PROCESSES  JSON array for /v1/processes
FAKE_PROFILE    file with the answer to /v1/hot
FAKE_STATUS     status of /v1/hot and /v1/snapshot, with a sentence as its answer (200)
FAKE_SENTENCE  what is said with another status than 200 (a sentence from the daemon)
FAKE_PATHS      JSON array of the paths of /v1/snapshot
FAKE_TIMELINE   answer to /v1/timeline
FAKE_LEFT_OUT  metrics that /v1/snapshot leaves out (none)
FAKE_START      "fail": ends before it listens
FAKE_END        "early": ends when it is first asked for anything
"""
import json
import os
import signal
import socket
import sys
import threading

OPTIONS = ("--socket", "--report-dir", "--phi", "--epsilon", "--summary", "--trace", "--memory-limit", "--ready-fd",
           "--exit-with-parent")


class Handler:
    """Of one connection. (http.server, and argparse, take longer to load than most tests that need this.)"""

    def __init__(self, connection):
        with connection, connection.makefile("rwb") as self.stream:
            while line := self.stream.readline().decode():
                self.command, self.path, _ = line.split()
                while self.stream.readline().strip():
                    pass
                self.get() if self.command == "GET" else self.post()

    def answer(self, status, body):
        self.stream.write(b"HTTP/1.1 %d Said\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body))
        self.stream.flush()

    def refuse(self, status):
        sentence = os.environ.get("FAKE_SENTENCE", "a sentence from the daemon")
        self.answer(status, sentence.encode() + b"\n")

    def note(self):
        if os.environ.get("FAKE_END") == "early":
            os._exit(1)
        with open(os.environ["FAKE_LOG"], "a", encoding="ascii") as log:
            log.write(f"{self.command} {self.path}\n")

    def get(self):
        self.note()
        status = int(os.environ.get("FAKE_STATUS", "200"))
        if self.path == "/v1/processes":
            processes = json.loads(os.environ.get("FAKE_PROCESSES", "[]"))
            self.answer(200, json.dumps({"daemon": {}, "processes": processes}).encode())
        elif status != 200:
            self.refuse(status)
        elif self.path.startswith("/v1/timeline"):
            self.answer(200, os.environ.get("FAKE_TIMELINE", "{}").encode())
        else:
            with open(os.environ["FAKE_PROFILE"], "rb") as profile:
                self.answer(200, profile.read())

    def post(self):
        self.note()
        status = int(os.environ.get("FAKE_STATUS", "200"))
        if status != 200:
            self.refuse(status)
        else:
            paths = json.loads(os.environ.get("FAKE_PATHS", '["/reports/a", "/reports/b"]'))
            self.answer(200, json.dumps({"paths": paths,
                                         "left_out": os.environ.get("FAKE_LEFT_OUT", "")}).encode())


def parse(words):
    options = dict.fromkeys(OPTIONS)
    for word in (words := iter(words)):
        name, equals, value = word.partition("=")
        if name not in options:
            sys.exit(f"fake_hcctd: there is no option {word}")
        options[name] = value if equals else next(words)
    return options


def main(words):
    options = parse(words)
    with open(os.environ["FAKE_LOG"], "a", encoding="ascii") as log:
        log.write(f"hcctd phi={options['--phi']} epsilon={options['--epsilon']} {options['--report-dir']}\n")
        if options["--summary"] is not None or options["--trace"] is not None:
            log.write(f"summary={options['--summary']} trace={options['--trace']} "
                      f"memory={options['--memory-limit']}\n")
    if os.environ.get("FAKE_START") == "fail":
        sys.exit("fake_hcctd: asked to fail")
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(options["--socket"])
        server.listen()
        if options["--ready-fd"] is not None:
            os.write(int(options["--ready-fd"]), b"\n")
            os.close(int(options["--ready-fd"]))
        while True:
            threading.Thread(target=Handler, args=(server.accept()[0],), daemon=True).start()


if __name__ == "__main__":
    main(sys.argv[1:])
