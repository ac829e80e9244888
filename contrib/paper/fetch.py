# SPDX-License-Identifier: LGPL-3.0-or-later
"""fetch.py - sources of programs from the distribution's archive, by apt-get source.

apt works with lists, state and cache of our own below the cache directory: the machine's apt
configuration is read, for the archive's address and keys, and never written. Only the suites of the
release that runs are asked. What apt downloads it checks against the archive's signature.
"""

import glob
import hashlib
import os
import re
import shutil
import subprocess
import tarfile

APT_CONF = """Dir::State "{here}/state";
Dir::State::status "/var/lib/dpkg/status";
Dir::Cache "{here}/cache";
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "{here}/sources.list.d";
APT::Sandbox::User "";
"""
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}


class Missing(Exception):
    """Why there is no source."""


def release_name():
    with open("/etc/os-release") as file:
        found = re.search(r'^VERSION_CODENAME="?(\w+)', file.read(), re.M)
    return found.group(1) if found else None


def of_release(suite, release):
    return suite == release or suite.startswith(release + "-")


def deb822_sources(text, release):
    """Stanzas for packages, turned into ones for sources."""
    for stanza in re.split(r"\n\s*\n", text):
        lines = [line for line in stanza.splitlines() if not line.lstrip().startswith("#")]
        fields = dict(re.findall(r"^([\w-]+):[ \t]*(.*)$", "\n".join(lines), re.M))
        suites = [s for s in fields.get("Suites", "").split() if of_release(s, release)]
        if "deb" in fields.get("Types", "").split() and suites and "Components" in fields:
            kept = [line for line in lines if not re.match(r"(Types|Suites|Architectures):", line)]
            yield "\n".join(["Types: deb-src", "Suites: " + " ".join(suites), *kept]) + "\n"


def one_line_sources(text, release):
    for line in text.splitlines():
        found = re.match(r"deb\s+(?:\[(.*?)\]\s+)?(\S+)\s+(\S+)\s+(.+)", line.strip())
        if found and of_release(found.group(3), release):
            options = f"[{found.group(1)}] " if found.group(1) else ""
            yield f"deb-src {options}{found.group(2)} {found.group(3)} {found.group(4)}"


def write_sources(directory):
    """The machine's package sources, as sources of sources. False: there is none."""
    release, new, old = release_name() or "", [], []
    for path in glob.glob("/etc/apt/sources.list.d/*.sources"):
        with open(path) as file:
            new += deb822_sources(file.read(), release)
    for path in ["/etc/apt/sources.list", *glob.glob("/etc/apt/sources.list.d/*.list")]:
        if os.path.exists(path):
            with open(path) as file:
                old += one_line_sources(file.read(), release)
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, "paper.sources"), "w") as out:
        out.write("\n".join(new))
    with open(os.path.join(directory, "paper.list"), "w") as out:
        out.write("".join(line + "\n" for line in old))
    return bool(new or old)


class Archive:
    """The archive as apt sees it with a configuration of ours."""

    def __init__(self, cache):
        self.here = os.path.join(cache, "apt")
        self.downloads = os.path.join(cache, "downloads")
        self.env = {**os.environ, "APT_CONFIG": os.path.join(self.here, "apt.conf"),
                    "LC_ALL": "C"}
        self.updated = None

    def update(self):
        """Fetches the lists, once. The reason when it can't be."""
        if self.updated is None:
            self.updated = self.try_update()
        return self.updated

    def try_update(self):
        if shutil.which("apt-get") is None:
            return "there is no apt-get"
        for directory in ("state/lists/partial", "cache/archives/partial"):
            os.makedirs(os.path.join(self.here, directory), exist_ok=True)
        os.makedirs(self.downloads, exist_ok=True)
        if not write_sources(os.path.join(self.here, "sources.list.d")):
            return "apt knows no archive of this release"
        with open(self.env["APT_CONFIG"], "w") as out:
            out.write(APT_CONF.format(here=self.here))
        done = subprocess.run(["apt-get", "-q", "update"], env=self.env, timeout=300, **QUIET)
        lists = glob.glob(os.path.join(self.here, "state", "lists", "*_Sources*"))
        return "" if lists else "apt-get update failed: " + last_line(done.stderr)

    def download(self, package):
        """The .dsc file of a package, and beside it what belongs to it and was to be had."""
        dsc = self.known(package)
        if dsc is None:
            reason = self.update()
            if reason:
                raise Missing(reason)
            done = subprocess.run(["apt-get", "-q", "source", "--only-source", "--download-only",
                                   package], env=self.env, cwd=self.downloads, timeout=600, **QUIET)
            dsc = self.known(package)
            if dsc is None:
                raise Missing(last_line(done.stderr) or "apt-get source gave nothing")
        return dsc

    def known(self, package):
        found = glob.glob(os.path.join(self.downloads, package + "_*.dsc"))
        return max(found, key=os.path.getmtime) if found else None


def last_line(text):
    lines = text.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""


# ---- unpacking ----


def files_of(dsc):
    """{name: SHA-256} of what a .dsc file lists."""
    with open(dsc, errors="replace") as file:
        block = re.search(r"^Checksums-Sha256:\n((?: .*\n)+)", file.read(), re.M)
    lines = block.group(1).splitlines() if block else []
    return {line.split()[2]: line.split()[0] for line in lines}


def whole(path, digest):
    if not os.path.exists(path):
        return False
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest() == digest


def unpack(dsc, tree):
    """The source tree with the distribution's patches; without them where only the original is
    to be had. Gives a remark, or ""."""
    here, files = os.path.dirname(dsc), files_of(dsc)
    there = [name for name, digest in files.items() if whole(os.path.join(here, name), digest)]
    shutil.rmtree(tree, ignore_errors=True)
    if len(there) == len(files) and shutil.which("dpkg-source"):
        done = subprocess.run(["dpkg-source", "--no-check", "-x", dsc, tree], timeout=300, **QUIET)
        if done.returncode == 0:
            return ""
        shutil.rmtree(tree, ignore_errors=True)
    originals = [name for name in there if re.search(r"\.orig\.tar\.\w+$", name)]
    if not originals:
        raise Missing("the archive does not have its files")
    unpack_original(os.path.join(here, originals[0]), tree)
    return "without the distribution's patches"


def unpack_original(path, tree):
    """The tarball's only directory becomes the tree."""
    beside = tree + ".unpacked"
    shutil.rmtree(beside, ignore_errors=True)
    os.makedirs(beside)
    with tarfile.open(path) as tar:
        if hasattr(tarfile, "data_filter"):
            tar.extraction_filter = tarfile.data_filter
        tar.extractall(beside)
    inside = os.listdir(beside)
    os.rename(os.path.join(beside, inside[0]) if len(inside) == 1 else beside, tree)
    shutil.rmtree(beside, ignore_errors=True)
