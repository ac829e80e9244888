# SPDX-License-Identifier: LGPL-3.0-or-later
"""parsers.py - what test suites print, as {name of the test: outcome}.

The outcomes are "passed", "failed" and "skipped". A name that comes again gets a number, so that
tests that a suite repeats are compared one by one.
"""

import glob
import os
import re
import xml.etree.ElementTree

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class Outcomes(dict):
    """By name, without addresses; the second one of a name is "name #2"."""

    def __init__(self):
        super().__init__()
        self.seen = {}

    def add(self, name, outcome):
        name = re.sub(r"\s+", " ", re.sub(r"\b0x[0-9a-f]+", "0x...", name)).strip()
        self.seen[name] = self.seen.get(name, 0) + 1
        if self.seen[name] > 1:
            name += f" #{self.seen[name]}"
        self[name] = outcome


def lines_of(text):
    return COLOUR.sub("", text).splitlines()


def matching(text, pattern, outcome_of):
    """Each line that matches is a test: the pattern's groups are `name` and `word`."""
    outcomes = Outcomes()
    for line in lines_of(text):
        found = re.match(pattern, line)
        if found:
            outcomes.add(found["name"], outcome_of(found["word"]))
    return outcomes


def tap(text, _directory):
    """ok 1 - name; not ok 2 - name; ok 3 - name # SKIP why"""
    outcomes = Outcomes()
    for line in lines_of(text):
        found = re.match(r"(not ok|ok) \d+ - (.*?)(\s+# SKIP.*)?$", line)
        if found:
            failed = found[1] == "not ok"
            outcomes.add(found[2], "failed" if failed else "skipped" if found[3] else "passed")
    return outcomes


def redis(text, _directory):
    """[ok]: name (12 ms). A name that carries a measured time is cut before it."""
    words = {"ok": "passed", "skip": "skipped", "ignore": "skipped"}
    outcomes = Outcomes()
    for line in lines_of(text):
        found = re.match(r"\[(ok|err|exception|timeout|skip|ignore)\]: (.*)", line)
        if found:
            name = re.sub(r"\s\(\d+ ms\)$| in tests/\S+\.tcl$", "", found[2])
            outcomes.add(re.sub(r"\d+", "N", name), words.get(found[1], "failed"))
    return outcomes


def sqlite(text, _directory):
    """name... Ok, behind dots of progress; and a total of errors"""
    def outcome(word):
        return "passed" if word == "Ok" else "skipped" if word == "Omitted" else "failed"
    return matching(text, r"\.*(?P<name>[\w*()-][\w.*()-]*)\.\.\. ?(?P<word>\w*)", outcome)


def zstd_numbered(text, _directory):
    """test 12 : what is tried : OK (numbers), or just numbers; and at the end so many random tests. It
    ends at the first error."""
    outcomes = matching(text, r"\s*test\s*(?P<name>\d+ : .*?) : *(?P<word>OK.*|Error.*|[^:]*)$",
                        lambda word: "failed" if "rror" in word else "passed")
    for found in re.finditer(r"^(\d+ fuzzer tests completed)", "\n".join(lines_of(text)), re.M):
        outcomes.add(found[1], "passed")
    return outcomes


def zstd_pool(text, _directory):
    """SUCCESS: what was tried"""
    return matching(text, r"(?P<word>SUCCESS|FAIL): (?P<name>.*)",
                    lambda word: "passed" if word == "SUCCESS" else "failed")


def sections(text, _directory):
    """A script that ends at the first failure: what it says before each thing that it tries. Which
    was the last is to be seen, and how it ended is the exit status."""
    outcomes = Outcomes()
    for line in lines_of(text):
        found = re.match(r"(?:===> *|test : |- )(.*)", line)
        if found:
            outcomes.add(re.sub(r"\d+", "N", found[1]), "passed")
    return outcomes


def tcl(text, _directory):
    """++++ name PASSED; ==== name what it does FAILED"""
    outcomes = Outcomes()
    for line in lines_of(text):
        found = re.match(r"\+\+\+\+ (\S+) (PASSED|SKIPPED)|==== (\S+) .* FAILED$", line)
        if found:
            outcomes.add(found[1] or found[3], (found[2] or "FAILED").lower())
    return outcomes


def junit(_text, directory):
    """The XML files of Python's own runner, one for each file of tests. A file of tests that came to
    no end has none."""
    outcomes = Outcomes()
    for path in sorted(glob.glob(os.path.join(directory, "*.xml"))):
        for case in xml.etree.ElementTree.parse(path).iter("testcase"):
            kinds = {child.tag for child in case}
            failed = kinds & {"failure", "error"}
            outcomes.add(case.get("name", "?"), "failed" if failed else
                         "skipped" if "skipped" in kinds else "passed")
    return outcomes
