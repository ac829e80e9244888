# SPDX-License-Identifier: LGPL-3.0-or-later
"""clickhouse.py - a ClickHouse server of its own, on loopback, in the test's directory.

It is clickhouse-server where that is installed, or, where HCCT_CHDB says in which directory
`npm install chdb` has put it, that: a current ClickHouse in a process of node (HCCT_NODE, or node).
"""

import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request

CONFIG = """<yandex><logger><level>error</level><log>{dir}/log</log><errorlog>{dir}/errors</errorlog>
</logger><http_port>{http}</http_port><tcp_port>{tcp}</tcp_port><listen_host>127.0.0.1</listen_host>
<path>{dir}/data/</path><tmp_path>{dir}/tmp/</tmp_path><mark_cache_size>100000000</mark_cache_size>
<users_config>users.xml</users_config><default_profile>default</default_profile>
<default_database>default</default_database></yandex>"""
# beside the usual user others, each with a profile of its name
USERS = """<yandex><profiles><default><max_memory_usage>2000000000</max_memory_usage></default>{profiles}</profiles>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile>
<quota>default</quota></default>{users}</users><quotas><default></default></quotas></yandex>"""
USER = """<{name}><password></password><networks><ip>127.0.0.1</ip></networks><profile>{name}</profile>
<quota>default</quota></{name}>"""


HERE = os.path.dirname(os.path.abspath(__file__))
CHDB = os.environ.get("HCCT_CHDB")


def server():
    return shutil.which("clickhouse-server", path=os.environ["PATH"] + ":/usr/sbin")


def found():
    return CHDB or server()


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class ClickHouse:
    """`profiles`: settings by the name of a user who has them (not of chdb, which has one user)."""

    def __init__(self, directory, profiles=()):
        self.directory, self.port = directory, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        for name in "", "data", "tmp":
            os.makedirs(os.path.join(directory, name), exist_ok=True)
        settings = {name: "".join(f"<{key}>{value}</{key}>" for key, value in dict(profiles)[name].items()) for name in dict(profiles)}
        texts = {"profiles": "".join(f"<{name}>{text}</{name}>" for name, text in settings.items()),
                 "users": "".join(USER.format(name=name) for name in settings)}
        for name, text in ("config.xml", CONFIG), ("users.xml", USERS):
            with open(os.path.join(directory, name), "w") as file:
                file.write(text.format(dir=directory, http=self.port, tcp=free_port(), **texts))
        self.start()

    def start(self):
        command = [server(), "--config-file=" + os.path.join(self.directory, "config.xml")]
        if CHDB:
            command = [os.environ.get("HCCT_NODE", "node"), os.path.join(HERE, "chdb_server.js"),
                       os.path.join(self.directory, "chdb"), str(self.port)]
        env = {**os.environ, "NODE_PATH": os.path.join(CHDB or "", "node_modules")}
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=env,
                                        stderr=subprocess.DEVNULL, cwd=self.directory)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                return self.ask("SELECT 1")
            except OSError:
                time.sleep(0.1)
        raise SystemExit("clickhouse-server did not start")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def ask(self, query):
        """The answer as lists of words, one for each row."""
        try:
            with urllib.request.urlopen(self.url, data=query.encode(), timeout=600) as answer:
                text = answer.read().decode()
        except urllib.error.HTTPError as error:
            raise SystemExit(f"{query[:200]}: {error.read().decode()[:500]}")
        return [line.split("\t") for line in text.splitlines()]
