# SPDX-License-Identifier: LGPL-3.0-or-later
"""diff and merge: how they are asked for, what they write, other tools' profiles, bad input."""
import gzip
import json
import shutil
import subprocess
import unittest

import support
from support import block, number, varint

GO_PROGRAM = r"""
package main

import (
	"os"
	"runtime"
	"runtime/pprof"
	"time"
)

var state uint64 = 1

//go:noinline
func heavy(n int) {
	for i := 0; i < n; i++ {
		state = state*6364136223846793005 + 1442695040888963407
	}
}

func main() {
	cpu, _ := os.Create(os.Args[1])
	pprof.StartCPUProfile(cpu)
	// until it has surely been sampled, however slow the machine is
	for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); {
		heavy(1 << 16)
	}
	pprof.StopCPUProfile()
	cpu.Close()
	runtime.GC()
	heap, _ := os.Create(os.Args[2])
	pprof.Lookup("allocs").WriteTo(heap, 0)
	heap.Close()
}
"""


class PerfProfile:
    """As converters from perf.data write it: samples and time, mappings without build-ids, kernel
    frames in a mapping of their own, addresses without functions where no symbol was found."""

    def __init__(self, exe="/usr/bin/app", base=0x400000, kinds=(("samples", "count"),
                                                                 ("cpu", "nanoseconds"))):
        self.exe, self.base, self.kinds = exe, base, kinds
        self.samples, self.frames, self.strings = [], {}, {"": 0}

    def string(self, text):
        return self.strings.setdefault(text, len(self.strings))

    def add(self, stack, samples, period=1_000_000):
        ids = [self.frames.setdefault(frame, len(self.frames) + 1) for frame in stack.split("/")]
        self.samples.append((list(reversed(ids)), samples, samples * period))
        return self

    def bytes(self):
        text, data = self.string, b""
        for kind, unit in self.kinds:
            data += block(1, number(1, text(kind)) + number(2, text(unit)))
        for ids, samples, weight in self.samples:
            values = varint(samples) + varint(weight) if len(self.kinds) == 2 else varint(weight)
            data += block(2, b"".join(number(1, i) for i in ids) + block(2, values))
        data += block(3, number(1, 1) + number(2, self.base) + number(3, self.base + 0x100000) +
                      number(5, text(self.exe)))
        data += block(3, number(1, 2) + number(2, 1 << 40) + number(3, (1 << 40) + 0x100000) +
                      number(5, text("[kernel.kallsyms]")))
        for frame, i in self.frames.items():
            kernel = frame.startswith("k:")
            address = ((1 << 40) if kernel else self.base) + 0x10 * i
            place = number(1, i) + number(2, 2 if kernel else 1) + number(3, address)
            data += block(4, place if frame[0] == "?" else place + block(4, number(1, i)))
            if frame[0] != "?":
                data += block(5, number(1, i) + number(2, text(frame.removeprefix("k:"))))
        return gzip.compress(data + b"".join(block(6, s.encode()) for s in self.strings), mtime=0)


def before():
    return (PerfProfile().add("main/work", 5000).add("main/read/k:sys_read", 3000)
            .add("main/gone", 1000).add("main", 1000))


def after():
    return (PerfProfile(base=0x7000000).add("main", 1020).add("main/read/k:sys_read", 2980)
            .add("main/come/k:sys_read", 500).add("main/work", 6000))


class DiffTest(support.ClientTest):
    def setUp(self):
        super().setUp()
        self.write("before.pb.gz", before())
        self.write("after.pb.gz", after())

    def write(self, name, profile):
        with open(self.path(name), "wb") as file:
            file.write(profile if isinstance(profile, bytes) else profile.bytes())

    def ok(self, *words, **more):
        status, out, err = self.hcct(*words, **more)
        self.assertEqual(status, 0, err)
        return out.decode()

    def diff(self, *words):
        return json.loads(self.ok("diff", "--format", "json", *words))

    def expect_error(self, status, sentence, *words):
        got, out, err = self.hcct(*words)
        self.assertEqual((got, out), (status, b""), err)
        self.assertEqual(len(err.splitlines()), 1, err)
        self.assertIn(sentence, err)

    def paths(self, diff):
        """{"main/work": node}; the root of the process is left out."""
        names, found = [], {}
        for node in diff["nodes"]:
            above = names[node["parent"]] if node["parent"] is not None else None
            names.append("" if above is None else f"{above}/{node['function']}".lstrip("/"))
            found[names[-1]] = node
        return found

    def test_json(self):
        got = self.diff("--shares", "before.pb.gz", "after.pb.gz")
        self.assertEqual((got["format"], got["version"], got["by"]), ("hcct-diff", 2, "function"))
        self.assertEqual((got["mode"], got["why"], got["sampling"]), ("shares", "asked", "sampled"))
        self.assertEqual((got["before"]["total"], got["after"]["total"]),
                         (10_000_000_000, 10_500_000_000))
        self.assertEqual((got["before"]["samples"], got["after"]["samples"]), (10_000, 10_500))
        self.assertAlmostEqual(got["scale"], 1.05)
        paths = self.paths(got)
        self.assertEqual({path for path, node in paths.items() if node["self"]["beyond"]},
                         {"main/work", "main/gone", "main/come/sys_read"})
        work = paths["main/work"]["self"]
        self.assertEqual((work["before"], work["after"]), (5_250_000_000, 6_000_000_000))
        variance = 1.05 ** 2 * 1e6 * 5e9 * 0.5 + 1e6 * 6e9 * (1 - 6 / 10.5)
        self.assertAlmostEqual(work["interval"] / 1e6,
                               1.96 * variance ** 0.5 / 1e6 + (1.05 + 1) / 2, places=3)
        self.assertEqual(paths["main/read/sys_read"]["module"], "[kernel.kallsyms]")
        self.assertTrue(paths["main/come"]["inclusive"]["beyond"])
        self.assertFalse(paths["main/come"]["self"]["beyond"])
        self.assertEqual(got["beyond"], sum(n["self"]["beyond"] for n in got["nodes"]))

    def test_absolute(self):
        self.assertEqual(self.diff("before.pb.gz", "after.pb.gz")["why"], "no common factor")
        got = self.diff("--absolute", "before.pb.gz", "after.pb.gz")
        self.assertEqual((got["mode"], got["why"], got["scale"]), ("absolute", "asked", 1))
        total = got["total"]
        self.assertEqual((total["before"], total["after"]), (10_000_000_000, 10_500_000_000))
        self.assertTrue(total["beyond"])
        self.assertAlmostEqual(total["interval"] / 1e6, 1.96 * (20_500 ** 0.5), places=3)
        paths = self.paths(got)
        self.assertEqual({path for path, node in paths.items() if node["self"]["beyond"]},
                         {"main/work", "main/gone", "main/come/sys_read"})
        work = paths["main/work"]["self"]
        self.assertEqual((work["before"], work["after"]), (5_000_000_000, 6_000_000_000))
        self.assertAlmostEqual(work["points"], 100 * (6 / 10.5 - 0.5))

    def test_text(self):
        text = self.ok("diff", "--absolute", "before.pb.gz", "after.pb.gz",
                       environment={"LC_ALL": "C"})
        self.assertNotIn("\033", text)
        for words in ("before    before.pb.gz: app, 10.00 s of CPU time, worth 10,000 independent samples\n",
                      "total     10.00 s -> 10.50 s, +5.0 % (+-2.8 %)\n",
                      "weights as they are by function: as asked for",
                      "3 of 5 contexts with enough samples changed beyond", "+7.14 pt",
                      "Contexts beyond their error\n",
                      "Contexts that appeared\n", "Contexts that vanished\n", "main > gone\n",
                      "main > come > sys_read\n"):
            self.assertIn(words, text)
        rows = [line for line in text.splitlines() if line.startswith("* ")]
        self.assertTrue(rows[0].endswith("  work  (app)") or rows[0].endswith("gone  (app)"),
                        rows[0])
        lists = text[text.index("Contexts beyond"):]
        self.assertLess(lists.index("main > work"), lists.index("appeared"))
        self.assertNotIn("  main\n", lists)
        self.assertIn("  main\n", self.ok("diff", "--all", "before.pb.gz", "after.pb.gz"))

    def test_itself(self):
        text = self.ok("diff", "before.pb.gz", "before.pb.gz")
        self.assertIn("0 of 4 contexts with enough samples changed", text)
        self.assertNotIn("\n* ", text)

    def test_more_work(self):
        """All but one have four times their weight: more work was done, by one factor."""
        names = [f"f{i}" for i in range(12)]
        one, four = PerfProfile(), PerfProfile()
        for name in names:
            one.add(f"main/{name}", 2000)
            four.add(f"main/{name}", 12000 if name == "f3" else 8000)
        self.write("one.pb.gz", one)
        self.write("four.pb.gz", four)
        got = self.diff("one.pb.gz", "four.pb.gz")
        self.assertEqual((got["mode"], got["why"], got["scale"]), ("scaled", "other work", 4))
        self.assertEqual([path for path, node in self.paths(got).items() if node["self"]["beyond"]],
                         ["main/f3"])
        status, _, err = self.hcct("diff", "--fail-above", "5%", "one.pb.gz", "four.pb.gz")
        self.assertEqual(status, 5)
        self.assertIn("the self weight of f3 rose by 50.0 %, surely by more than 5 %", err)

    def test_fail_above(self):
        def fails(*words):
            status, _, err = self.hcct("diff", *words)
            self.assertIn(status, (0, 5), err)
            self.assertEqual("surely by more than" in err, status == 5, err)
            return status == 5
        two = ("before.pb.gz", "after.pb.gz")
        self.assertTrue(fails("--fail-above", "5%", *two))
        self.assertTrue(fails("--fail-above", "5", "--fail-contexts", *two))
        self.assertFalse(fails("--fail-above", "0%", "before.pb.gz", "before.pb.gz"))
        self.assertFalse(fails(*two))
        self.write("slow.pb.gz", before().add("main/work", 1000))  # 20 % of it
        slow = ("before.pb.gz", "slow.pb.gz")
        self.assertTrue(fails("--fail-above", "10%", *slow))
        self.assertFalse(fails("--fail-above", "19%", *slow))  # not surely
        self.assertFalse(fails("--fail-above", "10%", *reversed(slow)))  # it fell
        for bad in ("5x", "", "-1%", "%", "nan", "5%%"):
            self.expect_error(2, "--fail-above takes a percentage from 0% to 100000%, such as 5%",
                              "diff", f"--fail-above={bad}", *two)
        self.expect_error(2, "--fail-contexts says what --fail-above judges", "diff",
                          "--fail-contexts", *two)

    def test_files(self):
        self.ok("diff", "-o", "d.json", "before.pb.gz", "after.pb.gz")
        with open(self.path("d.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["format"], "hcct-diff")
        self.ok("diff", "-o", "d.html", "before.pb.gz", "after.pb.gz")
        with open(self.path("d.html"), encoding="utf-8") as file:
            self.assertIn("<html", file.read(1000).lower())

    def test_names_are_data(self):
        self.write("evil.pb.gz", PerfProfile().add("main/\033[2Jf", 5000))
        out = self.ok("diff", "before.pb.gz", "evil.pb.gz")
        self.assertNotIn("\033", out)

    def test_without_symbols(self):
        self.write("a.pb.gz", PerfProfile().add("?a/?b", 4000).add("?a", 4000))
        self.write("b.pb.gz", PerfProfile().add("?a/?b", 6000).add("?a", 4000))
        got = self.diff("a.pb.gz", "b.pb.gz")
        self.assertEqual((got["compared"], got["beyond"]), (2, 1))

    def test_unknown_samples(self):
        for name, weight in (("a", 5), ("b", 9)):
            self.write(f"{name}.pb.gz", PerfProfile(kinds=[("alloc_space", "bytes")])
                       .add("main", weight))
        self.assertEqual(self.diff("a.pb.gz", "b.pb.gz")["sampling"], "unknown")
        self.assertIn("the number of samples is not known",
                      self.ok("diff", "a.pb.gz", "b.pb.gz"))

    def test_daemon(self):
        self.serve(FAKE_PROFILE=self.path("after.pb.gz"))
        got = self.diff("--exe", "app", "before.pb.gz", "@now")
        self.assertEqual(got["after"]["total"], 10_500_000_000)
        self.ok("diff", "before.pb.gz", "@60s")
        self.assertEqual([line.replace("&symbols=complete", "") for line in self.log()
                          if "/v1/hot" in line],
                         ["GET /v1/hot?format=pprof&exe=app", "GET /v1/hot?format=pprof&window=60s"])

    def test_bad_input(self):
        self.expect_error(2, "name two profiles", "diff", "before.pb.gz")
        self.expect_error(2, "only one of the profiles can be standard input", "diff", "-", "-")
        self.expect_error(2, "exclude each other", "diff", "--absolute", "--shares",
                          "before.pb.gz", "after.pb.gz")
        self.expect_error(2, "can't be written as folded", "diff", "--format", "folded",
                          "before.pb.gz", "after.pb.gz")
        self.expect_error(1, "nothing can't be read: No such file", "diff", "before.pb.gz",
                          "nothing")
        self.write("text", b"this is no profile\n")
        self.expect_error(1, "text: it is not a pprof profile", "diff", "text", "after.pb.gz")
        self.write("bytes.pb.gz", PerfProfile(kinds=[("space", "bytes")]).add("main", 5))
        self.expect_error(1, "these can't be compared", "diff", "before.pb.gz", "bytes.pb.gz")
        self.expect_error(3, "hcctd", "diff", "before.pb.gz", "@now")

    # ---- merge ----

    def test_merge(self):
        status, out, err = self.hcct("merge", "-o", "sum.pb.gz", "before.pb.gz", "after.pb.gz",
                                     "before.pb.gz")
        self.assertEqual((status, out), (0, b""), err)
        self.assertIn("3 profiles added up to 30.50 s of CPU time, written to sum.pb.gz", err)
        lines = self.ok("report", "--format", "folded", "sum.pb.gz").splitlines()
        self.assertEqual(sorted(lines), [
            "app;main 3020000000", "app;main;come;sys_read 500000000",
            "app;main;gone 2000000000", "app;main;read;sys_read 8980000000",
            "app;main;work 16000000000"])
        diff = self.diff("before.pb.gz", "sum.pb.gz")
        self.assertAlmostEqual(diff["after"]["samples"], 30500)

    def test_merge_formats(self):
        text = self.ok("merge", "before.pb.gz", "before.pb.gz")
        self.assertIn("20.00 s of CPU time", text)
        got = json.loads(self.ok("merge", "--format", "json", "before.pb.gz", "after.pb.gz"))
        self.assertEqual(got["total"], 20_500_000_000)
        self.ok("merge", "-o", "sum", "before.pb.gz", "after.pb.gz")
        with open(self.path("sum"), "rb") as file:
            self.assertEqual(file.read(2), b"\x1f\x8b")

    def test_merge_bad_input(self):
        self.expect_error(2, "name profiles", "merge")
        self.expect_error(2, "only one of the profiles", "merge", "-", "-")
        self.write("bytes.pb.gz", PerfProfile(kinds=[("space", "bytes")]).add("main", 5))
        self.expect_error(1, "bytes.pb.gz: it counts space in bytes, the first one cpu", "merge",
                          "before.pb.gz", "bytes.pb.gz")
        self.expect_error(1, "nothing can't be read", "merge", "before.pb.gz", "nothing")

    # ---- Go ----

    @unittest.skipIf(shutil.which("go") is None, "go is not installed")
    def test_go(self):
        with open(self.path("main.go"), "w", encoding="ascii") as file:
            file.write(GO_PROGRAM)
        subprocess.run(["go", "build", "-o", "prog", "main.go"], cwd=self.directory, check=True,
                       env={**self.environment, "GOPROXY": "off", "GO111MODULE": "off",
                            "GOCACHE": self.path("gocache"), "HOME": self.directory})
        for name in ("1", "2"):
            subprocess.run([self.path("prog"), f"cpu{name}", f"heap{name}"], cwd=self.directory,
                           check=True, stdin=subprocess.DEVNULL)
        got = self.diff("cpu1", "cpu2")
        self.assertEqual((got["type"], got["sampling"]), ("cpu", "sampled"))
        self.assertEqual(got["before"]["samples"] * 10_000_000, got["before"]["total"])
        self.assertTrue(any("main.heavy" in path for path in self.paths(got)))
        self.assertEqual(self.diff("heap1", "heap2")["type"], "alloc_space")
        status, _, err = self.hcct("merge", "-o", "sum.pb.gz", "cpu1", "cpu2")
        self.assertEqual(status, 0, err)
        total = self.diff("sum.pb.gz", "sum.pb.gz")["before"]["total"]
        self.assertEqual(total, got["before"]["total"] + got["after"]["total"])
        top = subprocess.run(["go", "tool", "pprof", "-top", "sum.pb.gz"], cwd=self.directory,
                             capture_output=True, check=True, text=True,
                             env={**self.environment, "HOME": self.directory})
        self.assertIn("main.heavy", top.stdout)


if __name__ == "__main__":
    unittest.main()
