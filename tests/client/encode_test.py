# SPDX-License-Identifier: LGPL-3.0-or-later
"""hcct encode: the figures of a trace that is known, and what it says of traces that are none."""
import json
import os
import subprocess
import unittest

import support

WRITE_TRACE = os.path.join(support.BUILD, "tests/trace/write_trace")


class Encode(support.ClientTest):

    def write(self, *how):
        subprocess.run([WRITE_TRACE, self.path("trace"), *how], check=True)

    def damage(self, change):
        with open(self.path("trace"), "rb") as file:
            data = file.read()
        with open(self.path("trace"), "wb") as file:
            file.write(change(data))

    def figures(self, *options):
        status, out, err = self.hcct("encode", "--format", "json", *options, "trace")
        self.assertEqual((status, err), (0, ""))
        answer = json.loads(out)
        self.assertEqual((answer["format"], answer["version"], len(answer["processes"])), ("hcct-encoding", 1, 1))
        return answer["processes"][0]

    def complaint(self, expected_status, *options):
        status, out, err = self.hcct("encode", *options, "trace")
        self.assertEqual((status, out), (expected_status, b""), err)
        self.assertEqual(len(err.splitlines()), 1, err)
        self.assertTrue(err.startswith("hcct: "), err)
        return err

    def test_figures(self):
        self.write()
        figures = self.figures("--every", "1")
        self.assertEqual((figures["command"], figures["pid"], figures["threads"]), ("server", 4711, 1))
        self.assertEqual((figures["functions"], figures["edges"]), (4, 4))
        calls = figures["calls"]
        self.assertEqual(calls["all"], 3701)
        self.assertEqual(calls["free"] + calls["added"] + calls["pushed"] + calls["repeated"], 3701)
        # no edge needs another code than 0; the codes are given as soon as samples say that it pays
        self.assertEqual((calls["added"], calls["unseen"], figures["max_id"]), (0, 0, 0))
        self.assertGreater(calls["free"], 3701 / 2)
        # the call of idle comes later, and too seldom for another time
        self.assertEqual((figures["encoded"], figures["newer"], figures["encodings"]), (3, 1, 1))
        self.assertEqual((figures["depth"]["max"], figures["depth"]["stack_max"]), (3, 3))
        checked = figures["checked"]
        self.assertGreater(checked["contexts"], 2 * 3701 - 4)
        self.assertEqual((checked["wrong"], checked["of_the_time"], checked["of_the_time_wrong"]), (0, 1, 0))

    def test_text_says_the_same(self):
        self.write()
        status, out, err = self.hcct("encode", "trace")
        self.assertEqual((status, err), (0, ""))
        text = out.decode()
        self.assertIn("server (pid 4711): 3,701 calls by 1 thread\n", text)
        self.assertIn("call graph   4 functions, 4 edges", text)
        self.assertRegex(text, r"checked      \d+ contexts, 0 decoded wrong")

    def test_reads_standard_input(self):
        self.write()
        with open(self.path("trace"), "rb") as file:
            done = subprocess.run([support.HCCT, "encode", "-"], stdin=file, env=self.environment,
                                  capture_output=True, check=True)
        self.assertIn(b"3,701 calls", done.stdout)

    def test_few_bits(self):
        self.write()
        self.assertEqual(self.figures("--id-bits", "2", "--every", "1")["checked"]["wrong"], 0)
        self.assertIn("--id-bits", self.complaint(2, "--id-bits", "1"))
        self.assertIn("--id-bits", self.complaint(2, "--id-bits", "65"))

    def test_trace_of_a_killed_daemon(self):
        self.write("killed")
        self.assertRegex(self.complaint(1), r"trace: the trace ends early, .*; --partial shows what is there")
        status, out, err = self.hcct("encode", "--partial", "trace")
        self.assertEqual(status, 0)
        self.assertIn(b" 0 decoded wrong", out)
        self.assertRegex(err, "^hcct: .*ends early.*; the figures are of these\n$")

    def test_what_is_no_trace_of_calls(self):
        self.assertIn("trace: it can't be opened: No such file", self.complaint(1))
        self.write("bare")
        self.assertIn("no call in it", self.complaint(4))
        self.write()
        self.damage(lambda data: data[:-2] + bytes([data[-2] ^ 1]) + data[-1:])
        self.assertIn("trace: the trace is corrupt: ", self.complaint(1, "--partial"))
        self.damage(lambda data: data[:100])
        self.assertIn("the trace ends early", self.complaint(1, "--partial"))
        with open(self.path("trace"), "wb") as file:
            file.write(support.small_profile())
        self.assertIn("trace: it is not a trace", self.complaint(1))
        self.assertIn("--format 'xml'", self.complaint(2, "--format", "xml"))
        status, _, err = self.hcct("encode")
        self.assertEqual(status, 2)
        self.assertIn("name a trace", err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
