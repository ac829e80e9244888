# SPDX-License-Identifier: LGPL-3.0-or-later
"""sources.py - the distribution's sources, unpacked and built once in the cache directory; what
fetches and unpacks them is contrib/paper's."""

import hashlib
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "contrib", "paper"))

import build  # noqa: E402  (of contrib/paper)
import fetch  # noqa: E402

Missing = fetch.Missing


def default_cache():
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(home, "hcct", "suites")


class Recipe:
    """A name, the package of its source, and what is done to the source once."""

    def __init__(self, name, package, commands=()):
        self.name, self.package, self.prepare, self.commands = name, package, (), commands


class Sources:
    """Trees in a cache directory."""

    def __init__(self, cache):
        self.cache = cache
        self.builder = build.Builder(cache, fetch.Archive(cache))

    def tree(self, recipe):
        """(a built tree, its version). It stays; the next call finds it, unless the commands
        have changed. Raises Missing."""
        source, version, _ = self.builder.source(recipe)
        key = hashlib.sha256("\n".join(recipe.commands).encode()).hexdigest()[:12]
        tree = os.path.join(self.cache, "built", f"{recipe.name}-{version}-{key}")
        if not os.path.exists(tree + ".done"):
            shutil.rmtree(tree, ignore_errors=True)
            shutil.copytree(source, tree, symlinks=True)
            log = self.builder.fresh_log(recipe.name, "build")
            for command in recipe.commands:
                build.shell(command, tree, log)
            open(tree + ".done", "w").close()
        return tree, version
