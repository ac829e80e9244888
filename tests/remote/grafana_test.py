# SPDX-License-Identifier: LGPL-3.0-or-later
"""The dashboards are whole, and ask for metrics that hcctd has."""

import json
import os
import re
import socket
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "e2e"), HERE]
from support import Daemon, check, finish, target  # noqa: E402

GRAFANA = os.path.join(HERE, "..", "..", "contrib", "grafana")


def load(name):
    with open(os.path.join(GRAFANA, name), encoding="utf-8") as file:
        return json.load(file)


def test_form(name):
    board = load(name)
    inputs = {"${" + one["name"] + "}" for one in board["__inputs"]}
    check(len(inputs) == 1 and board["title"] and board["uid"] and board["schemaVersion"] >= 39,
          f"{name}: it has a title, and asks for its data source")
    ids = [panel["id"] for panel in board["panels"]]
    check(len(set(ids)) == len(ids) > 5, f"{name}: {len(ids)} panels")
    cells = set()
    for panel in board["panels"]:
        at = panel["gridPos"]
        mine = {(x, y) for x in range(at["x"], at["x"] + at["w"])
                for y in range(at["y"], at["y"] + at["h"])}
        check(panel["type"] in ("timeseries", "table") and panel["title"] and at["x"] + at["w"] <= 24 and
              not mine & cells, f"{name}: {panel['title']}")
        cells |= mine
        for one in panel["targets"]:
            check(one["datasource"]["uid"] in inputs, "its data source is that of the import")
            names = set(re.findall(r"\$\{(\w+)[:}]", one.get("rawSql", "") + one.get("expr", "")))
            names |= set(re.findall(r"\$(?!_)(\w+)", one.get("expr", "")))
            check(names <= {variable["name"] for variable in board["templating"]["list"]},
                  f"its variables are there: {names}")


def metrics(daemon):
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(daemon.socket)
        one.sendall(b"GET /metrics HTTP/1.0\r\nHost: x\r\n\r\n")
        text = b"".join(iter(lambda: one.recv(65536), b"")).decode()
    return set(re.findall(r"^(\w+)(?:\{| )", text, re.M))


def test_metrics():
    with Daemon() as daemon:
        app = subprocess.Popen([target("known_shares"), "20"], env=daemon.env(), stdout=subprocess.DEVNULL)
        daemon.wait_for(lambda p: p["walks"] > 0)
        there = metrics(daemon)
        app.kill()
        app.wait()
    for panel in load("prometheus.json")["panels"]:
        for one in panel["targets"]:
            asked = set(re.findall(r"\b(?:hcct|process)_\w+", one["expr"]))
            check(asked and asked <= there, f"hcctd has {sorted(asked)}")


test_form("clickhouse.json")
test_form("prometheus.json")
test_metrics()
finish()
