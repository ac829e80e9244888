#!/usr/bin/env python3
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
import argparse
import http.server
import json
import os
import signal
import socketserver
import sys


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def address_string(self):
        return "client"

    def log_message(self, *_):
        pass

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status):
        sentence = os.environ.get("FAKE_SENTENCE", "a sentence from the daemon")
        self.answer(status, sentence.encode() + b"\n")

    def note(self):
        if os.environ.get("FAKE_END") == "early":
            os._exit(1)
        with open(os.environ["FAKE_LOG"], "a", encoding="ascii") as log:
            log.write(f"{self.command} {self.path}\n")

    def do_GET(self):
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

    def do_POST(self):
        self.note()
        status = int(os.environ.get("FAKE_STATUS", "200"))
        if status != 200:
            self.refuse(status)
        else:
            paths = json.loads(os.environ.get("FAKE_PATHS", '["/reports/a", "/reports/b"]'))
            self.answer(200, json.dumps({"paths": paths,
                                         "left_out": os.environ.get("FAKE_LEFT_OUT", "")}).encode())


def main(words):
    parser = argparse.ArgumentParser()
    for name in ("--socket", "--report-dir", "--phi", "--epsilon", "--summary", "--trace",
                 "--memory-limit"):
        parser.add_argument(name)
    parser.add_argument("--ready-fd", type=int)
    parser.add_argument("--exit-with-parent", type=int)
    options = parser.parse_args(words)
    with open(os.environ["FAKE_LOG"], "a", encoding="ascii") as log:
        log.write(f"hcctd phi={options.phi} epsilon={options.epsilon} {options.report_dir}\n")
        if options.summary is not None or options.trace is not None:
            log.write(f"summary={options.summary} trace={options.trace} "
                      f"memory={options.memory_limit}\n")
    if os.environ.get("FAKE_START") == "fail":
        sys.exit("fake_hcctd: asked to fail")
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    with Server(options.socket, Handler) as server:
        if options.ready_fd is not None:
            os.write(options.ready_fd, b"\n")
            os.close(options.ready_fd)
        server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1:])
