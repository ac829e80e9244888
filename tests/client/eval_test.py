# SPDX-License-Identifier: LGPL-3.0-or-later
"""eval: what is computed, how it is shown, and how what can't be compared is said."""
import gzip
import json
import subprocess
import unittest

import support
from support import block, number, varint


class Writer:
    """A profile in the format of pprof: stacks of "f:1" (call site 1 of f) and "f" (f itself)."""

    def __init__(self, exe="/opt/app/server", command="server", kind="calls", unit="count",
                 build="c0ffee",
                 comments=("hcct: profile 1 phi=0.1 epsilon=0.02 summary=space-saving",)):
        self.strings = {"": 0}
        self.locations, self.functions = {}, {}
        self.samples = []
        self.exe, self.kind, self.unit, self.build = exe, kind, unit, build
        self.comments = list(comments)
        if comments:
            self.comments.append(f"hcct: process 1 command={command} exe={exe} pid=7 runs=1 "
                                 "contexts=400 monitored=20 bytes=6400")

    def string(self, text):
        return self.strings.setdefault(text, len(self.strings))

    def add(self, stack, count, error=0):
        ids = [self.locations.setdefault(frame, len(self.locations) + 1)
               for frame in stack.split("/")]
        for frame in stack.split("/"):
            self.functions.setdefault(frame.split(":")[0], len(self.functions) + 1)
        self.samples.append((list(reversed(ids)), count, error))
        return self

    def location(self, frame, number_of):
        name, _, site = frame.partition(":")
        function = self.functions[name]
        data = number(1, number_of) + block(4, number(1, function))
        if name[0] != "[":
            data += number(2, 1) + number(3, 0x1000 * function + int(site or 0))
        return data if site else data + number(1000, 1)

    def bytes(self):
        text = self.string
        data = block(1, number(1, text(self.kind)) + number(2, text(self.unit)))
        data += block(1, number(1, text(self.kind + "_error")) + number(2, text(self.unit)))
        data += number(14, text(self.kind))
        for ids, count, error in self.samples:
            sample = b"".join(number(1, i) for i in ids)
            sample += block(2, varint(count) + varint(error))
            if self.comments:
                sample += block(3, number(1, text("process")) + number(2, text("server")))
                sample += block(3, number(1, text("pid")) + number(3, 7))
            data += block(2, sample)
        data += block(3, number(1, 1) + number(3, 0x100000) + number(5, text(self.exe)) +
                      number(6, text(self.build)))
        for frame, i in self.locations.items():
            data += block(4, self.location(frame, i))
        for name, i in self.functions.items():
            data += block(5, number(1, i) + number(2, text(name)) + number(3, text(name)))
        for comment in self.comments:
            data += number(13, text(comment))
        for string in self.strings:
            data += block(6, string.encode())
        return gzip.compress(data, mtime=0)


def exact(**how):
    """N = 1000"""
    return (Writer(**how).add("main", 1).add("main:1/f", 99).add("main:1/f:1/g", 500)
            .add("main:1/f:2/g", 200).add("main:2/h", 150).add("main:3/k", 50))


def approx(**how):
    """Hot at 0.1 are f (which isn't), g, g; h (which is) is not."""
    return (Writer(**how).add("main", 0).add("main:1/f", 110, 20).add("main:1/f:1/g", 510, 10)
            .add("main:1/f:2/g", 200).add("main:2/h", 90).add("[~]", 90))


class Eval(support.ClientTest):

    def write(self, name, writer):
        with open(self.path(name), "wb") as file:
            file.write(writer.bytes())
        return name

    def setUp(self):
        super().setUp()
        self.write("exact", exact(
            comments=("hcct: profile 1 phi=1e-07 epsilon=2e-08 summary=exact",)))
        self.write("approx", approx())

    def eval(self, *words, a="exact", b="approx"):
        return self.hcct("eval", "--exact", a, "--approx", b, *words)

    def json(self, *words, **files):
        status, out, err = self.eval("--format", "json", *words, **files)
        self.assertEqual((status, err), (0, ""))
        return json.loads(out)

    def expect_error(self, status, sentence, *words, **files):
        got, out, err = self.eval(*words, **files)
        self.assertEqual((got, out), (status, b""), err)
        self.assertEqual(len(err.splitlines()), 1, err)
        self.assertIn(sentence, err)

    def test_json(self):
        got = self.json("--tau", "0.25,1")
        self.assertEqual((got["format"], got["version"], got["by"]), ("hcct-eval", 1, "site"))
        self.assertEqual((got["phi"], got["epsilon"], got["scaled"]), (0.1, 0.02, False))
        self.assertEqual(got["exact"]["total"], 1000)
        self.assertEqual(got["approx"]["pruned"], 120)  # a file of version 1: 30 are errors
        self.assertEqual((got["approx"]["monitored"], got["approx"]["bytes"]), (20, 6400))
        self.assertAlmostEqual(got["overlap"], 0.8)  # main, f, g, g
        self.assertAlmostEqual(got["overlap_shares"], 0.099 + 0.5 + 0.2 + 0.09)
        self.assertEqual(got["coverage"], [
            {"tau": 0.25, "hot": 3, "covered": 2, "share": 2 / 3},
            {"tau": 1.0, "hot": 1, "covered": 1, "share": 1.0}])
        self.assertEqual(got["uncovered"], {"contexts": 2, "max": 0.3, "average": 0.2,
                                            "hottest": "main > h"})
        self.assertEqual(got["hot"], {
            "contexts": 3, "reported": 3, "false_positives": 1, "false_negatives": 1,
            "false_positive_share": 1 / 3, "false_negative_share": 1 / 3,
            "hottest_missed": "main > h"})
        self.assertAlmostEqual(got["hot_error"]["max"], 0.4)
        self.assertAlmostEqual(got["hot_error"]["average"], (0.02 + 0 + 0.4) / 3)
        self.assertAlmostEqual(got["error"]["average"], (0.02 + 0 + 0.4 + 1 / 9) / 4)
        self.assertEqual(got["out_of_bounds"], 1)
        self.assertEqual(got["tree"], {"nodes": 4, "cold": 1, "hot": 2, "false_positives": 1,
                                       "exact_hot_nodes": 5, "exact_nodes": 6,
                                       "kept_share": 1.0, "bytes_share": 1.0})

    def test_text(self):
        status, out, err = self.eval()
        self.assertEqual((status, err), (0, ""))
        text = out.decode()
        self.assertNotIn("\033", text)
        for words in ("server: 1,000 calls", "by site", "80.00 %", "88.90 %", "missed: main > h",
                      "1 false positive (33.3 % of those reported)",
                      "1 false negative (33.3 % of the hot ones)", "14.0 % on average",
                      "40.0 % at most", "25.0 % cold, 50.0 % hot, 25.0 % false positives"):
            self.assertIn(words, text)
        self.assertLessEqual(max(map(len, text.splitlines())), 120)

    def test_names_are_data(self):
        """What a profile calls its functions does nothing to a terminal."""
        for name in ("exact", "approx"):
            writer = Writer(exe="/opt/a\x1b[2Jb", command="a\x1b[2Jb")
            writer.add("main:1/f\x1b[2J" + "é" * 200, 10 if name == "exact" else 5)
            self.write(name, writer.add("main", 100))
        status, out, _ = self.eval()
        self.assertEqual(status, 0)
        self.assertNotIn(b"\033", out)
        self.assertIn("worst: main > f [2J", out.decode("utf-8"))
        self.write("approx", Writer(exe="/x", comments=()).add("main", 1))
        self.expect_error(1, "the exact profile has no executable q; it has a [2Jb", "--exe", "q")

    def test_itself(self):
        got = self.json("--phi", "1e-8", b="exact")
        self.assertEqual((got["overlap"], got["uncovered"]["contexts"]), (1.0, 0))
        self.assertEqual({c["share"] for c in got["coverage"]}, {1.0})
        self.assertEqual(got["hot"]["false_positives"] + got["hot"]["false_negatives"], 0)
        self.assertEqual((got["error"]["max"], got["out_of_bounds"]), (0, 0))

    def test_standard_input(self):
        with open(self.path("approx"), "rb") as file:
            process = subprocess.run([support.HCCT, "eval", "--exact", self.path("exact"),
                                      "--approx", "-"], stdin=file, stdout=subprocess.PIPE,
                                     check=False)
        self.assertEqual((process.returncode, process.stdout), (0, self.eval()[1]))
        self.expect_error(2, "only one of the profiles can be standard input", a="-", b="-")

    def test_another_tool(self):
        """Its contexts are compared by function, and scaled: what it counts is another thing."""
        self.write("foreign", approx(kind="cpu", unit="nanoseconds", comments=()))
        got = self.json(b="foreign")
        self.assertEqual((got["by"], got["scaled"], got["phi"]), ("function", True, 0.0001))
        self.assertEqual(got["approx"]["collector"], "")
        self.assertEqual(self.json("--by", "site", b="foreign")["by"], "site")
        self.expect_error(1, "can't be compared without scaling", "--scale", "no", b="foreign")

    def test_another_build(self):
        self.write("rebuilt", approx(build="decaf"))
        self.expect_error(1, "no context in common", b="rebuilt")
        self.assertEqual(self.json("--by", "function", b="rebuilt")["exact"]["total"], 1000)

    def test_what_can_not_be_compared(self):
        self.write("other", Writer().add("start:1/work", 10))
        self.write("empty", Writer())
        self.write("coarse", approx(
            comments=("hcct: profile 1 phi=0.01 epsilon=0.01 summary=space-saving",)))
        self.expect_error(1, "no context in common: they are of different programs", b="other")
        self.expect_error(1, "empty", b="empty")
        self.expect_error(1, "empty", a="empty")
        self.expect_error(1, "phi = 0.01 must be above the approximate profile's epsilon = 0.01",
                          b="coarse")
        self.expect_error(1, "leaves out what is below phi = 0.1", "--phi", "0.03")
        self.expect_error(1, "the exact profile has no executable nobody; it has server", "--exe",
                          "nobody")
        self.expect_error(1, "missing can't be read: No such file", b="missing")
        self.expect_error(1, "log: it is not a pprof profile", a=self.text_file())

    def text_file(self):
        with open(self.path("log"), "w", encoding="ascii") as file:
            file.write("hello, world\n")
        return "log"

    def test_options_that_can_not_be(self):
        for words, sentence in ((("--by", "line"), "--by 'line': it must be site or function"),
                                (("--scale", "yes"), "--scale 'yes': it must be auto or no"),
                                (("--format", "pprof"), "it must be text or json"),
                                (("--tau", "0.1,2"), "--tau '0.1,2': it must be numbers above 0"),
                                (("--tau", "0.1,"), "--tau '0.1,'"),
                                (("--tau", ",".join(["1"] * 33)), "at most 32 numbers"),
                                (("--phi", "1"), "--phi '1'"),
                                (("more",), "unexpected argument")):
            with self.subTest(words):
                self.expect_error(2, sentence, *words)
        status, _, err = self.hcct("eval", "--exact", "exact")
        self.assertEqual(status, 2)
        self.assertIn("name two profiles", err)

    def test_help(self):
        status, out, err = self.hcct("help", "eval")
        self.assertEqual((status, err), (0, ""))
        self.assertIn(b"examples:\n", out)
        self.assertLessEqual(max(map(len, out.decode().splitlines())), 100)


if __name__ == "__main__":
    unittest.main()
