# SPDX-License-Identifier: LGPL-3.0-or-later
"""hcct replay: the profile of a trace, and what it says of traces that are none."""
import json
import os
import shutil
import subprocess
import unittest

import support

WRITE_TRACE = os.path.join(support.BUILD, "tests/trace/write_trace")
FOLDED = ["server;main 1", "server;main;idle 100", "server;main;work 600",
          "server;main;work;leaf 3000"]


class Replay(support.ClientTest):

    def write(self, *how):
        subprocess.run([WRITE_TRACE, self.path("trace"), *how], check=True)

    def damage(self, change):
        with open(self.path("trace"), "rb") as file:
            data = file.read()
        with open(self.path("trace"), "wb") as file:
            file.write(change(data))

    def folded(self, *options):
        status, out, err = self.hcct("replay", "--format", "folded", *options, "trace")
        self.assertEqual(status, 0, err)
        return sorted(out.decode().splitlines()), err

    def complaint(self, expected_status, *options):
        status, out, err = self.hcct("replay", *options, "trace")
        self.assertEqual((status, out), (expected_status, b""), err)
        self.assertEqual(len(err.splitlines()), 1, err)
        self.assertTrue(err.startswith("hcct: "), err)
        return err

    def test_shows_contexts_with_their_names(self):
        self.write()
        status, out, err = self.hcct("replay", "trace")
        self.assertEqual((status, err), (0, ""))
        self.assertIn("server (pid 4711): 3,701 calls", out.decode())
        self.assertIn("write_trace.c:", out.decode())
        self.assertEqual(self.folded(), (FOLDED, ""))

    def test_each_summary_finds_what_is_hot(self):
        self.write()
        usage = self.complaint(2, "--summary", "none")
        kinds = usage.split("there are: ")[1].strip().split(", ")
        self.assertIn("exact", kinds)
        for kind in kinds:
            lines, _ = self.folded("--summary", kind, "--phi", "0.01", "--epsilon", "0.001")
            self.assertIn("server;main;work;leaf 3000", lines, kind)

    def test_writes_a_profile_like_record(self):
        self.write()
        status, out, err = self.hcct("replay", "--phi", "0.1", "-o", "p.pb.gz", "trace")
        _, epsilon, _ = self.hcct("report", "--format", "json", "p.pb.gz")
        self.assertIn(b'"epsilon":2.0000000000000002e-05', epsilon)
        self.assertEqual((status, out), (0, b""))
        self.assertIn("leaf", err)
        self.assertEqual(err.splitlines()[-1], "hcct: the profile is in p.pb.gz")
        status, out, _ = self.hcct("report", "--format", "folded", "p.pb.gz")
        self.assertEqual(status, 0)
        lines = out.decode().splitlines()
        self.assertIn("server;main;work;leaf 3000", lines)
        self.assertIn("server;main;idle 100", lines)  # less than phi: a file is not cut
        lines = self.hcct("report", "--format", "folded", "--phi", "0.1", "p.pb.gz")[1].decode().splitlines()
        self.assertIn("server;main;[~];idle 100", lines)  # but what is shown may be
        self.assertIn("server;main;work;leaf 3000", lines)
        status, _, err = self.hcct("replay", "--no-report", "-o", "p.json", "trace")
        self.assertEqual((status, err), (0, ""))
        with open(self.path("p.json"), "rb") as file:
            json.load(file)

    def test_two_replays_are_equal(self):
        self.write()
        outputs = []
        for name in ("a.pb.gz", "b.pb.gz"):
            self.assertEqual(self.hcct("replay", "--no-report", "-o", name, "trace")[0], 0)
            with open(self.path(name), "rb") as file:
                outputs.append(file.read())
        self.assertEqual(outputs[0], outputs[1])

    def test_reads_standard_input(self):
        self.write()
        with open(self.path("trace"), "rb") as file:
            done = subprocess.run([support.HCCT, "replay", "--format", "folded", "-"], stdin=file,
                                  env=self.environment, capture_output=True, check=True)
        self.assertEqual(sorted(done.stdout.decode().splitlines()), FOLDED)

    def test_trace_of_a_killed_daemon(self):
        self.write("killed")
        err = self.complaint(1)
        self.assertRegex(err, r"trace: the trace ends early, in record [1-9]\d*: [1-9]\d* events are in it; .*--partial")
        lines, err = self.folded("--partial")
        self.assertRegex(err, "ends early, in record .*; the profile is of these\n")
        leaf = [line for line in lines if line.startswith("server;main;work;leaf ")]
        calls = int(leaf[0].split()[1])
        self.assertTrue(0 < calls < 200 * 3000, leaf)

    def test_what_is_no_trace(self):
        self.assertIn("trace: it can't be opened: No such file", self.complaint(1))
        self.write("bare")
        self.assertIn("nothing was counted", self.complaint(4))
        self.damage(lambda data: data + b"x")
        size = os.path.getsize(self.path("trace"))
        self.assertIn(f"trace: the trace is corrupt: something follows its end (at byte {size - 1})",
                      self.complaint(1))
        self.write()
        self.damage(lambda data: data[:-2] + bytes([data[-2] ^ 1]) + data[-1:])
        self.assertIn("trace: the trace is corrupt: ", self.complaint(1, "--partial"))
        self.write()
        self.damage(lambda data: data[:100])
        self.assertIn("the trace ends early, in record 1: 0 events", self.complaint(1, "--partial"))
        self.damage(lambda data: data[:8] + b"\x09" + data[9:])
        self.assertIn("format version 9, and this hcct reads versions 1 to 2", self.complaint(1))
        with open(self.path("trace"), "wb") as file:
            file.write(support.small_profile())
        self.assertIn("trace: it is not a trace", self.complaint(1))

    def test_options_that_can_not_be(self):
        self.write()
        self.assertIn("--epsilon 0.1 must be below --phi 0.05",
                      self.complaint(2, "--phi", "0.05", "--epsilon", "0.1"))
        self.assertIn("must be below", self.complaint(2, "--epsilon", "0.0001"))
        status, _, err = self.hcct("replay")
        self.assertEqual(status, 2)
        self.assertIn("name a trace", err)

    def test_program_that_is_gone(self):
        copy = self.path("program")
        shutil.copy(WRITE_TRACE, copy)
        subprocess.run([copy, self.path("trace")], check=True)
        os.unlink(copy)
        lines, _ = self.folded()
        self.assertEqual([line.rsplit(" ", 1)[1] for line in lines if "+0x" in line].count("3000"),
                         1, lines)
        self.assertNotIn("leaf", " ".join(lines))


if __name__ == "__main__":
    unittest.main(verbosity=2)
