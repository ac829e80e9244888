# SPDX-License-Identifier: LGPL-3.0-or-later
"""fuzz.py - runs fuzz targets that libFuzzer is built into, one after the other, and says how far
they came.

    fuzz.py --programs DIR --sources tests/fuzz [--seconds N] TARGET...
    fuzz.py --programs DIR --sources tests/fuzz --merge TARGET...

What a target finds is kept in DIR/found/TARGET and used again by the next run, inputs that it dies
of or that take too long in DIR/crashes. With --merge, some of the found inputs that reach more code go to the corpus in
the sources.
"""

import argparse
import hashlib
import pathlib
import re
import subprocess
import sys

INPUT_BYTES = 8192
TIMEOUT_S = 20  # of one input
SEED = 1
CORPUS_FILE_BYTES = 2048  # larger ones stay out of the sources
CORPUS_BYTES = 20000  # of one target
CORPUS_FILES = 40  # that one target takes over from what was found
OPTIONS = {
    "options": ["-close_fd_mask=3"],
    "unwind": ["-len_control=0"],
}
COLUMNS = ("target", "executions", "per s", "edges", "of", "corpus", "crashes", "timeouts")
LEFT = re.compile(r"Test unit written to \S*-(crash|leak|oom|timeout|slow-unit)-[0-9a-f]+")


def last_number(pattern, text):
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def deaths(status, said):
    """How often it crashed (or leaked, or took too much memory), and how often an input took too
    long. It ends at the first; an input that was slow and no more is neither."""
    kinds = LEFT.findall(said)
    timeouts = kinds.count("timeout")
    crashes = sum(kinds.count(kind) for kind in ("crash", "leak", "oom"))
    if status != 0 and crashes + timeouts == 0:
        crashes = 1  # before it could leave an input
    return crashes, timeouts


class Target:
    def __init__(self, name, options):
        self.name = name
        self.program = options.programs / f"{name}_fuzz"
        self.corpus = options.sources / "corpus" / name
        self.kept_crashes = options.sources / "crashes" / name
        self.found = options.programs / "found" / name
        self.crashes = options.programs / "crashes"
        for directory in (self.found, self.crashes):
            directory.mkdir(parents=True, exist_ok=True)

    def corpora(self):
        kept = [self.corpus, self.kept_crashes]
        return [self.found] + [directory for directory in kept if directory.is_dir()]

    def call(self, *more):
        command = [
            self.program,
            f"-max_len={INPUT_BYTES}",
            f"-timeout={TIMEOUT_S}",
            f"-artifact_prefix={self.crashes}/{self.name}-",
            *OPTIONS.get(self.name, []),
            *more,
        ]
        result = subprocess.run(
            command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
        )
        return result.returncode, result.stderr.decode(errors="replace")

    def fuzz(self, seconds):
        """A row of the table, and the end of what it said when it died."""
        status, said = self.call(
            f"-max_total_time={seconds}", "-print_final_stats=1", f"-seed={SEED}", *self.corpora()
        )
        executions = last_number(r"stat::number_of_executed_units:\s+(\d+)", said)
        row = (
            self.name,
            executions or last_number(r"^#(\d+)\s", said),
            last_number(r"stat::average_exec_per_sec:\s+(\d+)", said),
            last_number(r" cov: (\d+) ", said),
            last_number(r"\((\d+) inline 8-bit counters\)", said),
            last_number(r" corp: (\d+)/", said),
            *deaths(status, said),
        )
        return row, said if status != 0 else ""

    def merge(self):
        """Copies to the corpus what the found inputs add to it; the number of files."""
        merged = self.found.with_suffix(".merged")
        merged.mkdir(exist_ok=True)
        self.corpus.mkdir(parents=True, exist_ok=True)
        for old in merged.iterdir():
            old.unlink()
        status, said = self.call("-merge=1", merged, *self.corpora()[1:], self.found)
        if status != 0:
            sys.exit(f"{self.name} can't be merged:\n{said[-2000:]}")
        kept = {path.read_bytes() for path in self.corpus.iterdir()}
        left = CORPUS_BYTES - sum(map(len, kept))
        found = [path.read_bytes() for path in merged.iterdir()]
        found = sorted({c for c in found if len(c) <= CORPUS_FILE_BYTES} - kept, key=len)
        added = 0
        for content in found[:: 1 + len(found) // CORPUS_FILES]:  # small ones and large ones
            if len(content) > left:
                break
            name = "found-" + hashlib.sha1(content).hexdigest()[:8]
            (self.corpus / name).write_bytes(content)
            left -= len(content)
            added += 1
        return added


def print_row(row):
    print(f"{row[0]:<14}" + "".join(f"{cell:>12}" for cell in row[1:]), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--sources", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--merge", action="store_true")
    parser.add_argument("targets", nargs="+")
    options = parser.parse_args()
    targets = [Target(name, options) for name in options.targets]
    if options.merge:
        for target in targets:
            print(f"{target.name}: {target.merge()} inputs added")
        return 0
    complaints = []
    print_row(COLUMNS)
    for target in targets:
        row, complaint = target.fuzz(options.seconds)
        print_row(row)
        if complaint:
            complaints.append(f"== {target.name}\n{complaint[-4000:]}")
    print("\n".join(complaints), file=sys.stderr)
    return 1 if complaints else 0


sys.exit(main())
