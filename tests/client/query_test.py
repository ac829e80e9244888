# SPDX-License-Identifier: LGPL-3.0-or-later
"""hot, list, snapshot and report: what is asked, what is shown, and how errors are said."""
import json
import os
import shutil
import signal
import socket
import subprocess
import unittest

import support

PROCESSES = json.dumps([support.LIVE, support.FINISHED, {**support.LIVE, "pid": 5},
                        {**support.LIVE, "pid": 6, "exe": "/opt/x", "command": "a\x1b[2Jb"}])


class Queries(support.ClientTest):

    def expect_error(self, status, sentence, *words, **more):
        got, out, err = self.hcct(*words, **more)
        self.assertEqual((got, out), (status, b""), err)
        self.assertEqual(len(err.splitlines()), 1, err)
        self.assertTrue(err.startswith("hcct: "), err)
        self.assertIn(sentence, err)

    def test_hot_passes_all_on(self):
        self.serve()
        status, out, _ = self.hcct("hot", "-p", "12", "--phi", "0.001", "-n", "5", "--by", "line",
                                   "--cut", "0", "--top", "3", "--color", "always")
        self.assertEqual((status, out), (0, support.small_profile()))
        self.assertEqual(self.log()[-1], "GET /v1/hot?pid=12&format=text&by=line&phi=0.001&n=5&"
                                         "cut=0&top=3&color=1")
        self.hcct("hot", "--exe", "/a b&c", "-o", "x.json")
        self.assertEqual(self.log()[-1], "GET /v1/hot?exe=/a%20b%26c&format=json&symbols=complete")
        self.assertTrue(os.path.exists(self.path("x.json")))

    def test_hot_by_name(self):
        self.serve(FAKE_PROCESSES=PROCESSES)
        self.hcct("hot", "-p", "x")
        self.assertEqual(self.log()[-1], "GET /v1/hot?pid=6&format=text")
        self.hcct("hot", "-p", "cc1")
        self.assertEqual(self.log()[-1], "GET /v1/hot?exe=/usr/bin/cc1&format=text")
        self.expect_error(2, "by its pid: 4711, 5", "hot", "-p", "server")
        self.expect_error(4, "no process called 'nobody'", "hot", "-p", "nobody")

    def test_errors_of_the_daemon(self):
        for http_status, status in ((400, 2), (404, 4), (403, 1), (500, 1)):
            with self.subTest(http_status):
                self.setUp()
                self.serve(FAKE_STATUS=str(http_status))
                self.expect_error(status, "a sentence from the daemon", "hot")
                self.expect_error(status, "a sentence from the daemon", "snapshot")

    def test_errors_name_what_was_typed(self):
        for said, shown, words in (
                ("window=5x is not possible: give a time", "--window '5x' is not possible: give a time",
                 ("hot", "--window", "5x")),
                ("window=5x is not possible: give a time", "'@5x' is not possible: give a time",
                 ("diff", "@5x", "profile")),
                ("collector=foo is not possible: give cpu", "--metric 'foo' is not possible: give cpu",
                 ("diff", "--metric", "foo", "@now", "profile")),
                ("exe= is not possible: give a path", "--exe '' is not possible: give a path",
                 ("hot", "--exe", "")),
                ("tag=pid= n= is not possible: give KEY=VALUE",
                 "--tag 'pid= n=' is not possible: give KEY=VALUE", ("hot", "--tag", "pid= n=")),
                ("window= and since= or until= exclude each other: give one of them",
                 "--window and --since or --until exclude each other: give one of them", ("hot",)),
                ("ask for one process (pid=), executable (exe=) or metric (collector=)",
                 "ask for one process (-p), executable (--exe) or metric (--metric)", ("hot",)),
                ("hcctd has no memory: ask for less (n=, phi=, pid=), or give it more",
                 "hcctd has no memory: ask for less (-n, --phi, -p), or give it more", ("hot",)),
                ("no time lies between since= and until=: the first must be before the second",
                 "no time lies between the first moment and the second: the first must be before the",
                 ("diff", "@03:10..03:05", "profile")),
                ("nothing is called x=1 or span=2", "nothing is called x=1 or span=2", ("hot",)),
                ("a\x1b[2J window=5x", "a?[2J window=5x", ("hot",))):
            with self.subTest(said):
                self.setUp()
                self.serve(FAKE_STATUS="400", FAKE_SENTENCE=said)
                self.expect_error(2, shown, *words)

    def test_moment_that_is_none(self):
        self.serve()
        self.expect_error(2, "--since '25:99': give a moment", "diff", "--since", "25:99")
        self.expect_error(2, "@25:99..03:10: '25:99' is no moment: give a moment", "diff", "@25:99..03:10",
                          "profile")

    def test_question_that_is_too_long(self):
        self.serve()
        self.expect_error(2, "longer than the 8191 bytes of a question", "hot", "--focus", "x" * 9000)
        self.assertEqual(self.hcct("hot", "--focus", "x" * 8000)[0], 0)

    def test_no_daemon(self):
        for command in ("hot", "list", "snapshot"):
            self.expect_error(3, f"no hcctd listens at {self.runtime}/hcct/hcctd.sock: start one",
                              command)

    def test_stale_socket(self):
        path = self.path("stale")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
        self.expect_error(3, "no hcctd listens at", "list", "--socket", path)

    def test_not_a_socket(self):
        self.expect_error(3, "no hcctd listens at", "list", "--socket", self.path("profile"))

    def test_socket_path_too_long(self):
        path = "/tmp/" + "x" * 103
        self.expect_error(2, "the socket path has 108 bytes, more than the 107", "list", "--socket",
                          path)
        self.expect_error(2, "108 bytes", "list", environment={"HCCT_SOCKET": path})
        self.expect_error(3, "no hcctd", "list", "--socket", path[:-1])

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root and setpriv")
    def test_no_permission(self):
        path = self.serve()
        os.chmod(path, 0o600)
        for directory in (self.directory, self.runtime):
            os.chmod(directory, 0o755)
        shutil.copy(support.HCCT, self.path("hcct"))
        run = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                              self.path("hcct"), "list", "--socket", path],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual(run.returncode, 1)
        self.assertIn(f"you may not use the hcctd at {path}", run.stderr.decode())

    def test_list(self):
        self.serve(FAKE_PROCESSES=PROCESSES)
        status, out, _ = self.hcct("list")
        lines = out.decode().splitlines()
        self.assertEqual(status, 0)
        self.assertEqual(lines[0].split(), ["PID", "COMMAND", "STATE", "CPU", "SEEN", "CONTEXTS",
                                            "MEMORY", "LOST", "METRIC"])
        self.assertEqual(lines[1].split(), ["4711", "server", "live", "12.34s", "1234", "samples",
                                            "321", "120.6K", "5", "cpu"])
        self.assertEqual(lines[2].split()[:3], ["-", "cc1", "finished"])
        self.assertIn("a [2Jb", lines[4])
        status, out, _ = self.hcct("list", "--format", "json")
        self.assertEqual(json.loads(out)["processes"], json.loads(PROCESSES))
        self.expect_error(2, "a list is text or json", "list", "--format", "pprof")

    def test_list_of_calls(self):
        self.serve(FAKE_PROCESSES=json.dumps([support.CALLING]))
        _, out, _ = self.hcct("list")
        self.assertEqual(out.decode().splitlines()[1].split()[4:6], ["262143112", "calls"])

    def test_list_of_nonsense(self):
        for processes in ("7", "[7]", '{"a":1}'):
            with self.subTest(processes):
                self.setUp()
                self.serve(FAKE_PROCESSES=processes)
                self.expect_error(1, "can't be read", "list")

    def test_live_without_a_number(self):
        """It can't be asked for by its number: it is as if it had ended."""
        self.serve(FAKE_PROCESSES=json.dumps([{**support.LIVE, "pid": 0}]))
        status, _, err = self.hcct("hot", "-p", support.LIVE["command"])
        self.assertEqual((status, err), (0, ""))
        self.assertIn(f"exe={support.LIVE['exe']}", self.log()[-1])

    def test_marks_of_nonsense(self):
        """A moment that no calendar has is shown as none is: as the beginning of 1970."""
        for moment, shown in (("1e999", "01 Jan"), ("NaN", "01 Jan"), ("1e300", "01 Jan"),
                              ('"x"', "01 Jan"), ("1700000000", "14 Nov")):
            with self.subTest(moment):
                self.setUp()
                self.serve(FAKE_TIMELINE='{"marks":[{"time":%s,"pid":7,"command":"a",'
                                         '"name":"b"}]}' % moment)
                status, out, err = self.hcct("list", "--marks", environment={"TZ": "UTC"})
                self.assertEqual((status, err), (0, ""))
                self.assertIn(shown, out.decode().splitlines()[1])

    def test_snapshot_of_nonsense(self):
        self.serve(FAKE_PATHS='[null, 7, "/reports/a", {}]')
        self.assertEqual(self.hcct("snapshot"), (0, b"/reports/a\n", ""))

    def test_snapshot(self):
        self.serve(FAKE_PROCESSES=PROCESSES)
        self.assertEqual(self.hcct("snapshot"), (0, b"/reports/a\n/reports/b\n", ""))
        self.assertEqual(self.log()[-1], "POST /v1/snapshot?")
        self.hcct("snapshot", "-p", "x")
        self.assertEqual(self.log()[-1], "POST /v1/snapshot?pid=6")
        self.expect_error(4, "cc1 has finished", "snapshot", "-p", "cc1")

    def test_snapshot_leaves_out(self):
        self.serve(FAKE_LEFT_OUT="heap, calls")
        self.assertEqual(self.hcct("snapshot", "--since", "10m"),
                         (0, b"/reports/a\n/reports/b\n",
                          "hcct: left out is what has no windows: heap, calls\n"))

    def test_report(self):
        status, out, err = self.hcct("report", "profile")
        self.assertEqual((status, err), (0, ""))
        self.assertIn("work", out.decode())
        self.assertNotIn(b"\033", out)
        status, out, _ = self.hcct("report", "--format", "folded", "profile")
        self.assertIn(b"main;work 3000000000", out)
        status, out, _ = self.hcct("report", "-o", "x.json", "profile")
        self.assertEqual((status, out), (0, b""))
        with open(self.path("x.json"), encoding="utf-8") as file:
            json.load(file)
        self.assertIn(b"\033", self.hcct("report", "--color", "always", "profile")[1])

    def test_report_phi(self):
        _, out, _ = self.hcct("report", "--format", "folded", "--phi", "0.5", "profile")
        self.assertIn(b"work", out)

    def test_report_of_bad_files(self):
        whole = support.small_profile()
        bad = {"empty": b"", "truncated": whole[:-20], "text": b"hello, world\n" * 10,
               "gzipped": whole[:30], "elf": b"\x7fELF" + bytes(100)}
        for name, data in bad.items():
            with self.subTest(name):
                with open(self.path(name), "wb") as file:
                    file.write(data)
                self.expect_error(1, f"{name}: ", "report", name)
        self.expect_error(1, "can't be read: No such file", "report", "missing")
        self.expect_error(1, "can't be read: Is a directory", "report", "runtime")

    def test_report_options_that_can_not_be(self):
        self.expect_error(2, "there is no format 'xml'; there are: text", "report", "--format",
                          "xml", "profile")
        self.expect_error(2, "--by 'x'", "report", "--by", "x", "profile")
        self.expect_error(2, "--phi '1'", "report", "--phi", "1", "profile")
        self.expect_error(2, "name a profile", "report")
        self.expect_error(2, "unexpected argument", "report", "a", "b")
        self.expect_error(2, "did you mean --format?", "report", "--fromat=json", "profile")
        self.expect_error(2, "did you mean 'report'?", "reprot")
        self.expect_error(2, "there are: record", "x")
        self.expect_error(1, "can't be written", "report", "-o", "no/x", "profile")

    def test_report_shows_what_record_wrote(self):
        shutil.copy(self.path("profile"), self.path("hcct.pb.gz"))
        named = self.hcct("report", "profile")
        self.assertEqual(named[0], 0)
        self.assertEqual(self.hcct("report"), named)

    def test_unwritable_output_is_an_error(self):
        with open("/dev/full", "wb") as full:
            process = subprocess.run([support.HCCT, "report", self.path("profile")], stdout=full,
                                     stderr=subprocess.PIPE, check=False)
        self.assertEqual(process.returncode, 1)
        self.assertIn(b"No space left", process.stderr)

    def test_closed_pipe_is_quiet(self):
        read_end, write_end = os.pipe()
        os.close(read_end)
        process = subprocess.run([support.HCCT, "report", self.path("profile")], stdout=write_end,
                                 stderr=subprocess.PIPE, check=False)
        os.close(write_end)
        self.assertEqual((process.returncode, process.stderr), (-signal.SIGPIPE, b""))


class Words(support.ClientTest):

    def test_help(self):
        for words in (["--help"], ["help"], ["-h"]):
            status, out, err = self.hcct(*words)
            self.assertEqual((status, err), (0, ""))
            self.assertIn(b"hcct record -- ./app args", out)
        for command in ("record", "hot", "list", "snapshot", "report", "replay", "eval"):
            first = self.hcct("help", command)
            self.assertEqual(first, self.hcct(command, "--help"))
            self.assertEqual(first[0], 0)
            self.assertIn(b"examples:\n", first[1])

    def test_version(self):
        self.assertRegex(self.hcct("--version")[1].decode(), r"^hcct \d+\.\d+\.\d+\n$")

    def test_unknown(self):
        status, _, err = self.hcct("perf")
        self.assertEqual((status, err), (2, "hcct: there is no command 'perf'; there are: "
                                            "record, attach, detach, hot, top, list, start, stop, set, "
                                            "snapshot, replay, report, annotate, doctor, diff, merge, "
                                            "decode, encode, push, fleet, eval, help\n"))
        self.assertEqual(self.hcct("help", "recrod")[0], 2)
        self.assertEqual(self.hcct()[0], 2)


if __name__ == "__main__":
    unittest.main()
