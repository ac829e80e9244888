# SPDX-License-Identifier: LGPL-3.0-or-later
"""build.py - builds each program three times: plain, with hooks in every function, and for gprof.

Everything stays in the cache directory, under the program's version and a digest of the commands,
so that a second run builds nothing.
"""

import concurrent.futures
import hashlib
import os
import shutil
import subprocess

import fetch

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FLAVOURS = {"native": "-O2", "hooks": "-O2 -finstrument-functions", "gprof": "-O2 -pg"}
BUILD_SECONDS = 1800


class Built:
    """A program that can be run: its three binaries."""

    def __init__(self, program, version, remark, directory):
        self.program, self.name = program, program.name
        self.version, self.remark = version, remark
        self.directory = directory

    def path(self, flavour):
        return os.path.join(self.directory, flavour, os.path.basename(self.program.binary))


def shell(command, cwd, log):
    """One command of a build; its output goes into a log."""
    with open(log, "ab") as out:
        out.write(f"$ {command}\n".encode())
        out.flush()
        done = subprocess.run(["sh", "-c", command], cwd=cwd, stdin=subprocess.DEVNULL, stdout=out,
                              stderr=subprocess.STDOUT, timeout=BUILD_SECONDS)
    if done.returncode != 0:
        raise fetch.Missing(f"the build failed, see {log}")


class Builder:
    def __init__(self, cache, archive):
        self.cache, self.archive = cache, archive
        self.logs = os.path.join(cache, "logs")
        os.makedirs(self.logs, exist_ok=True)

    def source(self, program):
        """(tree to copy, version, remark)"""
        if program.package is None:
            return None, "ours", ""
        dsc = self.archive.download(program.package)
        version = os.path.basename(dsc)[:-len(".dsc")].partition("_")[2]
        tree = os.path.join(self.cache, "sources", f"{program.package}-{version}")
        remark = self.unpacked(program, dsc, tree)
        return tree, version, remark

    def unpacked(self, program, dsc, tree):
        """The file beside the tree says that it is complete, and what is to be remarked."""
        done = tree + ".done"
        key = digest(program.prepare)
        if os.path.exists(done):
            with open(done) as file:
                known, _, remark = file.read().partition("\n")
            if known == key:
                return remark
        os.makedirs(os.path.dirname(tree), exist_ok=True)
        remark = fetch.unpack(dsc, tree)
        log = self.fresh_log(program.name, "prepare")
        for command in program.prepare:
            shell(command, tree, log)
        with open(done, "w") as out:
            out.write(f"{key}\n{remark}")
        return remark

    def fresh_log(self, *words):
        path = os.path.join(self.logs, "-".join(words) + ".log")
        open(path, "w").close()
        return path

    def flavour(self, program, tree, directory, flavour):
        """One binary; nothing to do when it is there."""
        target = os.path.join(directory, flavour, os.path.basename(program.binary))
        if os.path.exists(target):
            return
        work = os.path.join(self.cache, "work", f"{program.name}-{flavour}")
        shutil.rmtree(work, ignore_errors=True)
        if tree is None:
            os.makedirs(work)
        else:
            shutil.copytree(tree, work, symlinks=True)
        log = self.fresh_log(program.name, flavour)
        link = "-pg" if flavour == "gprof" else ""
        for command in program.build:
            shell(command.format(flags=FLAVOURS[flavour], link=link, root=ROOT), work, log)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy2(os.path.join(work, program.binary), target + ".new")
        os.rename(target + ".new", target)
        shutil.rmtree(work)

    def directory(self, program, version):
        recipe = digest([*program.prepare, *program.build, *FLAVOURS.values()])
        return os.path.join(self.cache, "built", f"{program.name}-{version}-{recipe}")


def digest(lines):
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


def one_program(builder, pool, program):
    """[(future)] of the flavours, and what they make."""
    tree, version, remark = builder.source(program)
    directory = builder.directory(program, version)
    made = Built(program, version, remark, directory)
    return made, [pool.submit(builder.flavour, program, tree, directory, flavour)
                  for flavour in FLAVOURS]


def build_all(programs, cache, say):
    """([Built], [(program, why it is left out)]); builds as many at a time as there are
    processors."""
    builder = Builder(cache, fetch.Archive(cache))
    started, built, left_out = [], [], []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for program in programs:
            say(f"source of {program.name}")
            try:
                started.append(one_program(builder, pool, program))
            except (fetch.Missing, OSError, subprocess.SubprocessError) as reason:
                left_out.append((program, str(reason)))
        for made, futures in started:
            try:
                for future in futures:
                    future.result()
                say(f"built {made.name} {made.version}")
                built.append(made)
            except (fetch.Missing, OSError, subprocess.SubprocessError) as reason:
                left_out.append((made.program, str(reason)))
    return built, left_out
