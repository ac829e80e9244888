# SPDX-License-Identifier: LGPL-3.0-or-later
"""stub_hcctd.py - stands where hcctd would listen, and answers hcct push with files."""

import http.server
import json
import os
import socketserver
import threading


class StubDaemon:
    """`profile`: what is counted so far, of processes of one kind, or `path`, a file that has it;
    `instance` tells one hcctd from the next, `restored` that it goes on from the state of the last."""

    def __init__(self, socket, kind):
        self.socket, self.kind, self.instance, self.restored, self.profile = socket, kind, 1, False, b""
        self.path = None
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                if self.path.startswith("/v1/processes"):
                    answer = json.dumps({"daemon": {"instance": outer.instance, "restored": outer.restored},
                                         "processes": [{"kind": outer.kind}]}).encode()
                elif outer.path:
                    with open(outer.path, "rb") as file:
                        answer = file.read()
                else:
                    answer = outer.profile
                self.send_response(200)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def address_string(self):
                return "a client"

            def log_message(self, *unused):
                pass

        if os.path.exists(socket):
            os.unlink(socket)
        self.server = socketserver.ThreadingUnixStreamServer(socket, Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
