#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""fetch_packages.py LOCK INTO: fetches what an npm lock file names, without npm.

Each package that this machine can have is fetched from the registry (npm_config_registry, else
npm's own), compared with its checksum in the lock file, and unpacked below INTO. Nothing of it is
run. One sentence and status 1 where something can't be had or differs.
"""

import base64
import concurrent.futures
import hashlib
import io
import json
import os
import shutil
import sys
import tarfile
import urllib.request

REGISTRY = os.environ.get("npm_config_registry", "https://registry.npmjs.org").rstrip("/")
CPU = {"x86_64": "x64", "aarch64": "arm64"}
TRIES = 2
TIMEOUT_S = 30


class Refused(Exception):
    """Why a package can't be taken."""


def is_for_this_machine(package):
    return "linux" in package.get("os", ["linux"]) and CPU.get(os.uname().machine) in package.get(
        "cpu", CPU.values())


def fetch(name, version):
    url = f"{REGISTRY}/{name}/-/{name.split('/')[-1]}-{version}.tgz"
    for left in reversed(range(TRIES)):
        try:
            with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
                return answer.read()
        except OSError as error:
            if left == 0:
                raise Refused(f"{url}: {error}") from error
    return b""


def compare(name, data, integrity):
    """The lock file has one or more checksums, such as sha512-BASE64; the first is taken."""
    kind, _, expected = integrity.split()[0].partition("-")
    if hashlib.new(kind, data).digest() != base64.b64decode(expected):
        raise Refused(f"{name}: what was fetched is not what the lock file says ({kind} differs)")


def unpack(data, into):
    """All that is in a package is below one directory, whatever its name is."""
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            parts = member.name.split("/")[1:]
            if not member.isfile() or not parts or ".." in parts:
                continue
            path = os.path.join(into, *parts)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with archive.extractfile(member) as source, open(path, "wb") as target:
                shutil.copyfileobj(source, target)
            os.chmod(path, 0o755 if member.mode & 0o100 else 0o644)


def take(place, package, into):
    name = place.split("node_modules/")[-1]
    data = fetch(name, package["version"])
    compare(name, data, package["integrity"])
    unpack(data, os.path.join(into, place.removeprefix("node_modules/")))


def main():
    if len(sys.argv) != 3:
        print("usage: fetch_packages.py LOCK INTO", file=sys.stderr)
        return 2
    lock, into = sys.argv[1:]
    with open(lock, encoding="utf-8") as file:
        packages = json.load(file)["packages"]
    shutil.rmtree(into, ignore_errors=True)
    wanted = [(place, p) for place, p in packages.items() if place and is_for_this_machine(p)]
    try:
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for _ in pool.map(lambda item: take(*item, into), wanted):
                pass
    except Refused as why:
        print(f"fetch_packages.py: {why}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
