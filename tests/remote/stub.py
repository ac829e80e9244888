# SPDX-License-Identifier: LGPL-3.0-or-later
"""stub.py - servers on loopback that take what hcct push sends, check it and keep it.

What they keep is by the identifier of each profile, so that one that comes twice is seen.
"""

import base64
import gzip
import http.server
import json
import os
import re
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "report")]
import otlp_rules  # noqa: E402
import prototext  # noqa: E402

ROOT = os.path.join(HERE, "..", "..")
PPROF_PROTO = os.path.join(ROOT, "common", "render", "profile.proto")
OTLP_PROTO = os.path.join(ROOT, "common", "render", "otlp.proto")
PUSH_PROTO = os.path.join(ROOT, "client", "remote", "push.proto")

# A directory that has the definitions of Pyroscope and OpenTelemetry as they publish them, where somebody has put
# them there (push/v1/push.proto, google/v1/profile.proto, opentelemetry/proto/profiles/v1development/profiles.proto
# and what they import, without annotations for others): what comes must say the same by those.
UPSTREAM = os.environ.get("HCCT_UPSTREAM_PROTOS")
PUBLISHED = {PPROF_PROTO: ("google/v1/profile.proto", "google.v1.Profile"),
             PUSH_PROTO: ("push/v1/push.proto", "push.v1.PushRequest"),
             OTLP_PROTO: ("opentelemetry/proto/profiles/v1development/profiles.proto",
                          "opentelemetry.proto.profiles.v1development.ProfilesData")}


def common(message):
    """Without what is ours alone, which others skip: numbers above 999."""
    if isinstance(message, dict):
        return {name: [common(one) for one in values] for name, values in message.items()
                if not name.startswith("hcct_") and not name.isdigit()}
    return message


def decode(data, proto, message):
    ours = prototext.decode(data, proto, message)
    if UPSTREAM:
        path, name = PUBLISHED[proto]
        theirs = prototext.decode(data, os.path.join(UPSTREAM, path), name, UPSTREAM, 999)
        if common(theirs) != common(ours):
            raise ValueError(f"{path} gives another {message}")
    return ours


def number(message, name):
    return message.get(name, [0])[0]


class Profile:
    """What a target has of one: labels, and by type the sum of weights."""

    def __init__(self, labels, weights, body=b"", begin=0):
        self.labels, self.weights, self.body, self.begin = labels, weights, body, begin


def read_pprof(body, labels):
    message = decode(gzip.decompress(body), PPROF_PROTO, "perftools.profiles.Profile")
    strings = [text.decode() for text in message["string_table"]]
    types = [strings[number(one, "type")] for one in message["sample_type"]]
    weights = dict.fromkeys(types, 0)
    for sample in message.get("sample", []):
        for kind, value in zip(types, sample["value"], strict=True):
            weights[kind] += value
    return Profile(labels, weights, body, number(message, "time_nanos") / 1e9)


class Server:
    """`fail`: how many requests are answered with `status` after all; `cut`: the connection ends
    before the answer, but what came is kept. `says`: what is answered to what was taken."""

    path = None

    def __init__(self, port=0):
        self.kept, self.twice, self.wrong, self.requests = {}, [], [], 0
        self.fail, self.cut, self.status, self.headers = 0, 0, 503, []
        self.type, self.refusal, self.says = "text/plain", b"not now\n", b""
        self.lock = threading.Lock()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with outer.lock:
                    status, answer = outer.serve(self.path, self.headers, body)
                if status is None:
                    self.close_connection = True
                    return
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.send_header("Content-Type", outer.type)
                self.end_headers()
                self.wfile.write(answer)

            protocol_version = "HTTP/1.1"

            def log_message(self, *unused):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.http.daemon_threads = True
        self.port = self.http.server_port
        self.url = f"http://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def close(self):
        self.http.shutdown()
        self.http.server_close()

    def serve(self, path, headers, body):
        self.requests += 1
        self.headers.append(dict(headers))
        if self.fail > 0:
            self.fail -= 1
            return self.status, self.refusal
        try:
            self.take(path, headers, body)
        except Exception as error:  # pylint: disable=broad-except
            self.wrong.append(repr(error))
            return 400, repr(error).encode()
        if self.cut > 0:
            self.cut -= 1
            return None, b""
        return 200, self.says

    def keep(self, name, profile):
        if name in self.kept:
            self.twice.append(name)
            if self.kept[name].weights != profile.weights:
                self.wrong.append(f"{name} comes again, and is another one")
        self.kept[name] = profile

    def expect(self, holds, what):
        if not holds:
            self.wrong.append(what)

    def sum(self, kind):
        return sum(one.weights.get(kind, 0) for one in self.kept.values())


class Pyroscope(Server):
    path = "/push.v1.PusherService/Push"

    def take(self, path, headers, body):
        self.expect(path == self.path, f"path {path}")
        self.expect(headers["Content-Type"] == "application/proto", "content type")
        request = decode(body, PUSH_PROTO, "push.PushRequest")
        for series in request["series"]:
            labels = {pair["name"][0].decode(): pair["value"][0].decode()
                      for pair in series["labels"]}
            self.expect(all(re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]*", name) for name in labels),
                        f"labels {labels}")
            self.expect({"__name__", "service_name", "host"} <= set(labels), f"labels {labels}")
            self.expect(len(labels) == len(series["labels"]) <= 30, f"labels {labels}")  # as it is by default
            for sample in series["samples"]:
                profile = read_pprof(sample["raw_profile"][0], labels)
                self.expect(abs(time.time() - profile.begin) < 3600, f"begun {time.time() - profile.begin} s ago")
                self.expect(not any("-" in kind for kind in profile.weights), f"types {set(profile.weights)}")
                self.keep(sample["ID"][0], profile)


class Parca(Server):
    path = "/api/profiles/writeraw"

    def take(self, path, headers, body):
        self.expect(path == self.path, f"path {path}")
        self.expect(headers["Content-Type"] == "application/json", "content type")
        request = json.loads(body)
        self.expect(set(request) == {"tenant", "series", "normalized"}, f"members {set(request)}")
        for series in request["series"]:
            labels = {pair["name"]: pair["value"] for pair in series["labels"]["labels"]}
            for sample in series["samples"]:
                raw = base64.b64decode(sample["rawProfile"], validate=True)
                self.keep(raw, read_pprof(raw, labels))


class Otlp(Server):
    path = "/v1development/profiles"

    def take(self, path, headers, body):
        self.expect(path == self.path, f"path {path}")
        self.expect(headers["Content-Type"] == "application/x-protobuf", "content type")
        data = decode(body, OTLP_PROTO, "otlp.ProfilesData")
        self.wrong += otlp_rules.broken_rules(data)
        strings = [text.decode() for text in data["dictionary"][0]["string_table"]]
        for resource in data["resource_profiles"]:
            labels = {pair["key"][0].decode(): list(pair["value"][0].values())[0][0]
                      for pair in resource["resource"][0]["attributes"]}
            for profile in resource["scope_profiles"][0]["profiles"]:
                kind = strings[number(profile["sample_type"][0], "type_strindex")]
                weight = sum(sum(one["values"]) for one in profile.get("samples", []))
                self.expect(len(profile["profile_id"][0]) == 16, "an identifier has 16 bytes")
                self.keep(profile["profile_id"][0], Profile(labels, {kind: weight}))
