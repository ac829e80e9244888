# SPDX-License-Identifier: LGPL-3.0-or-later
"""hcct record with a fake hcctd and an empty agent: what the command and its caller see."""
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import unittest
from urllib.parse import quote

import support


class Record(support.ClientTest):

    def tearDown(self):
        """Whatever happened, no private directory is left behind."""
        self.assertEqual(os.listdir(self.runtime), [])

    def asked(self):
        """The log, without the CPU time that the kernel counted for the command."""
        return [re.sub(r"&kernel_ns=[\d.e+]+", "", line) for line in self.log()]

    def names(self):
        return sorted(name for name in os.listdir(self.directory)
                      if name not in ("log", "profile", "runtime"))

    def test_writes_profile_and_report(self):
        status, out, err = self.hcct("record", "--", "sh", "-c", "echo out; echo err >&2; exit 7")
        self.assertEqual((status, out), (7, b"out\n"))
        self.assertTrue(err.startswith("err\n"), err)
        self.assertIn("work", err)
        self.assertEqual(err.splitlines()[-1], "hcct: the profile is in hcct.pb.gz")
        self.assertNotIn("\033", err)
        with open(self.path("hcct.pb.gz"), "rb") as file:
            self.assertEqual(file.read(), support.small_profile())
        self.assertEqual(self.names(), ["hcct.pb.gz"])
        self.assertEqual(self.asked(), ["hcctd phi=None epsilon=None none", "GET /v1/processes",
                                      "GET /v1/hot?format=pprof&symbols=complete&title=" +
                                      quote("sh -c 'echo out; echo err >&2; exit 7'")])

    def test_options_reach_daemon_and_agent(self):
        status, out, _ = self.hcct("record", "--phi", "0.01", "--epsilon", "0.002", "-F", "250",
                                   "--no-follow", "sh", "-c",
                                   "echo $HCCT_RATE $HCCT_FOLLOW $LD_PRELOAD; test -S $HCCT_SOCKET",
                                   environment={"LD_PRELOAD": support.EMPTY_AGENT})
        self.assertEqual(status, 0)
        self.assertEqual(out.decode().split(),
                         ["250", "no", f"{support.EMPTY_AGENT}:{support.EMPTY_AGENT}"])
        self.assertEqual(self.log()[0], "hcctd phi=0.01 epsilon=0.002 none")
        self.assertEqual(self.asked()[2], "GET /v1/hot?format=pprof&symbols=complete&title=" + quote(
            "sh -c 'echo $HCCT_RATE $HCCT_FOLLOW $LD_PRELOAD; test -S $HCCT_SOCKET'"))

    def test_no_report(self):
        _, _, err = self.hcct("record", "--no-report", "true")
        self.assertEqual(err, "hcct: the profile is in hcct.pb.gz\n")

    def test_exit_status(self):
        self.assertEqual(self.hcct("record", "true")[0], 0)
        self.assertEqual(self.hcct("record", "sh", "-c", "kill -9 $$")[0], 128 + 9)
        self.assertEqual(self.hcct("record", "sh", "-c", "kill -SEGV $$")[0], 128 + 11)

    @support.needs_signals
    def test_command_sees_no_difference(self):
        """Descriptors, signal mask and dispositions, even odd ones."""
        def odd():
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGUSR1])
        probe = ["sh", "-c", "grep -E 'Sig(Blk|Ign)' /proc/self/status; ls /proc/self/fd"]
        for prepare in (None, odd):
            plain = subprocess.run(probe, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, preexec_fn=prepare, check=True)
            status, out, _ = self.hcct("record", "--", *probe, preexec_fn=prepare)
            self.assertEqual(status, 0)
            self.assertEqual(out, plain.stdout)

    def test_command_that_is_not_there(self):
        status, _, err = self.hcct("record", "no-such-command-anywhere")
        self.assertEqual(status, 127)
        self.assertIn("there is no command 'no-such-command-anywhere'", err)
        self.assertEqual(len(err.splitlines()), 1)
        self.assertEqual(self.names(), [])

    def test_command_that_can_not_run(self):
        with open(self.path("script"), "w", encoding="ascii") as file:
            file.write("#!/no/such/interpreter\n")
        status, _, err = self.hcct("record", "./script")
        self.assertEqual(status, 126)
        self.assertEqual(err, "hcct: ./script can't be run: Permission denied\n")
        os.chmod(self.path("script"), 0o755)
        status, _, err = self.hcct("record", "./script")
        self.assertEqual(status, 127)
        self.assertIn("its interpreter", err)

    def test_unwritable_output_stops_before_command(self):
        for output in ("no/such/directory/x", ".", "runtime/", "", "/proc/x", "%q", "%p/x"):
            with self.subTest(output):
                status, _, err = self.hcct("record", "-o", output, "touch", "was-run")
                self.assertEqual(status, 125)
                self.assertEqual(len(err.splitlines()), 1, err)
                self.assertEqual(self.names(), [])

    def test_output_pattern(self):
        status, out, _ = self.hcct("record", "-o", "%e-%p-100%%.pb.gz", "--no-report", "sh", "-c",
                                   "echo $$")
        self.assertEqual(status, 0)
        self.assertEqual(self.names(), [f"sh-{int(out)}-100%.pb.gz"])

    def test_output_keeps_the_old(self):
        with open(self.path("x.pb.gz"), "w", encoding="ascii") as file:
            file.write("old")
        self.hcct("record", "-o", "x.pb.gz", "--no-report", "true")
        self.assertEqual(self.names(), ["x.pb.gz", "x.pb.gz.old"])
        with open(self.path("x.pb.gz.old"), encoding="ascii") as file:
            self.assertEqual(file.read(), "old")

    def test_output_to_stdout(self):
        _, out, err = self.hcct("record", "-o", "-", "true")
        self.assertEqual(out, support.small_profile())
        self.assertEqual(err.splitlines()[-1], "hcct: the profile is in standard output")

    def test_output_to_pipe_or_device_stays_one(self):
        os.mkfifo(self.path("pipe"))
        with subprocess.Popen(["cat", "pipe"], cwd=self.directory,
                              stdout=subprocess.PIPE) as reader:
            self.assertEqual(self.hcct("record", "-o", "pipe", "--no-report", "true")[0], 0)
            self.assertEqual(reader.stdout.read(), support.small_profile())
        self.assertEqual(self.names(), ["pipe"])

    def test_format_by_suffix_or_name(self):
        self.hcct("record", "-o", "x.folded", "--no-report", "true")
        with open(self.path("x.folded"), encoding="ascii") as file:
            self.assertIn("main;work 3000000000", file.read())
        self.hcct("record", "--format", "json", "-o", "y", "--no-report", "true")
        with open(self.path("y"), encoding="ascii") as file:
            json.load(file)

    def test_options_that_can_not_be(self):
        for words in (["--phi", "2"], ["--phi", "0"], ["--epsilon", "-1"], ["-F", "0"],
                      ["--phi", "0.01", "--epsilon", "0.01"], ["--format", "xml"],
                      ["--by", "color"], ["--color", "red"], ["--no-such"]):
            with self.subTest(words):
                status, _, err = self.hcct("record", *words, "touch", "was-run")
                self.assertEqual(status, 2)
                self.assertEqual(len(err.splitlines()), 1, err)
        self.assertEqual(self.hcct("record")[0], 2)
        self.assertEqual(self.names(), [])

    def test_process_that_is_not_there(self):
        for command in (("record", "-p", "99999999"), ("attach", "99999999"), ("doctor", "-p", "99999999")):
            with self.subTest(command):
                status, out, err = self.hcct(*command)
                self.assertNotEqual(status, 0)
                self.assertEqual((out, err), (b"", "hcct: there is no process 99999999\n"))

    @support.needs_signals
    def test_term_reaches_command(self):
        process = self.start("record", "--no-report", "sh", "-c",
                             "trap 'exit 42' TERM; touch ready; while :; do sleep 0.01; done")
        self.wait_for_file("ready")
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 42, err)
        self.assertIn("hcct.pb.gz", self.names())

    @support.needs_signals
    def test_unhandled_term(self):
        process = self.start("record", "--no-report", "sh", "-c", "touch ready; exec sleep 60")
        self.wait_for_file("ready")
        process.send_signal(signal.SIGHUP)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGHUP)
        self.assertIn("hcct.pb.gz", self.names())

    def not_profiled(self, *command):
        status, _, err = self.hcct("record", *command, environment={"FAKE_PROCESSES": "[]"})
        self.assertEqual(status, 0)
        self.assertEqual(len(err.splitlines()), 1, err)
        self.assertFalse(os.path.exists(self.path("hcct.pb.gz")))
        return err

    def test_no_agent_static(self):
        self.assertIn("statically linked", self.not_profiled(support.STATIC_TARGET))

    def test_no_agent_static_script(self):
        with open(self.path("script"), "w", encoding="utf-8") as file:
            file.write(f"#!{support.STATIC_TARGET}\n")
        os.chmod(self.path("script"), 0o755)
        self.assertIn("statically linked", self.not_profiled("./script"))

    def test_no_agent_setuid(self):
        shutil.copy("/bin/true", self.path("privileged"))
        os.chmod(self.path("privileged"), 0o4755)
        self.assertIn("setuid", self.not_profiled("./privileged"))

    def test_no_agent_other(self):
        self.assertIn("/true ended, or cleared its environment", self.not_profiled("true"))

    def test_no_room(self):
        processes = json.dumps([{**support.LIVE, "walks": 0, "threads_without_room": 3,
                                 "without_room_ns": 804_000_000}])
        status, _, err = self.hcct("record", "true", environment={"FAKE_PROCESSES": processes})
        self.assertEqual(status, 0)
        self.assertEqual(err, "hcct: true has no sample, and no profile is written: 3 threads had too "
                              "small a stack for the agent's signal, and used 804.0 ms of CPU time\n")
        self.assertEqual(self.names(), [])

    def test_too_short_to_be_sampled(self):
        processes = json.dumps([{**support.LIVE, "walks": 0, "cpu_ns": 1000000}])
        status, _, err = self.hcct("record", "true", environment={"FAKE_PROCESSES": processes})
        self.assertEqual(status, 0)
        self.assertEqual(err, "hcct: true used too little CPU time to be sampled: no profile is "
                              "written\n")
        self.assertEqual(self.names(), [])

    def test_out_of_reach(self):
        """What the command has started has used the time, and nobody has seen it."""
        processes = json.dumps([{**support.LIVE, "walks": 0, "cpu_ns": 1000000}])
        work = "import time\nwhile time.process_time() < 0.3: pass"
        status, _, err = self.hcct("record", "python3", "-c", work,
                                   environment={"FAKE_PROCESSES": processes})
        self.assertEqual(status, 0)
        self.assertRegex(err, r"used too little CPU time to be sampled, and what it ran "
                              r"\([\d.]+ m?s\) could not load the agent or reach hcctd: no profile")

    def test_seen_without_a_sample(self):
        """Who has used much CPU time, and was heard of, has not used too little."""
        for more, words in (({"threads_confined": 2}, "2 threads forbade themselves system calls "
                             "(seccomp) before the first one"),
                            ({}, "its threads used 3.00 s of CPU time, and no signal of the agent "
                             "reached them; see \"hcct doctor true\"")):
            with self.subTest(words):
                processes = json.dumps([{**support.LIVE, "walks": 0, "cpu_ns": 3000000000, **more}])
                status, _, err = self.hcct("record", "true",
                                           environment={"FAKE_PROCESSES": processes})
                self.assertEqual((status, err), (0, "hcct: true has no sample, and no profile is "
                                                    f"written: {words}\n"))

    def test_daemon_that_does_not_start(self):
        status, _, err = self.hcct("record", "touch", "was-run",
                                   environment={"FAKE_START": "fail"})
        self.assertEqual(status, 125)
        self.assertIn("hcct: the private hcctd ended before it was ready", err)
        self.assertEqual(self.names(), [])

    def test_daemon_that_ends_early(self):
        status, _, err = self.hcct("record", "true", environment={"FAKE_END": "early"})
        self.assertEqual(status, 125)
        self.assertEqual(err.splitlines()[-1], "hcct: the profile of true is lost")
        self.assertEqual(self.hcct("record", "false", environment={"FAKE_END": "early"})[0], 1)
        self.assertEqual(self.names(), [])

    def test_daemon_that_answers_nonsense(self):
        with open(self.path("profile"), "wb") as file:
            file.write(b"nonsense")
        status, _, err = self.hcct("record", "true")
        self.assertEqual(status, 125)
        self.assertIn("hcctd's answer: ", err)
        self.assertEqual(self.names(), [])

    def test_pieces_that_are_missing(self):
        for variable in ("HCCT_AGENT", "HCCT_DAEMON"):
            status, _, err = self.hcct("record", "touch", "was-run",
                                       environment={variable: "/no/such/file"})
            self.assertEqual(status, 125)
            self.assertIn(f"{variable} is '/no/such/file'", err)
        self.assertEqual(self.names(), [])


class RecordCalls(support.ClientTest):
    """--collector calls, where the fake hcctd says what was counted."""

    def setUp(self):
        super().setUp()
        self.environment["FAKE_PROCESSES"] = json.dumps([support.CALLING])

    def variables(self, *words):
        """The agent's settings that the command gets."""
        status, out, err = self.hcct("record", *words, "--no-report", "sh", "-c",
                                     "env | grep ^HCCT_ || :")
        self.assertEqual(status, 0, err)
        settings = dict(line.split("=", 1) for line in out.decode().splitlines())
        return {name: settings.get(f"HCCT_{name}") for name in
                ("COLLECTOR", "EVERY", "CREDIT", "BURST", "RATE")}

    def test_options_reach_agent(self):
        self.assertEqual(self.variables("--collector", "calls"),
                         {"COLLECTOR": "calls", "EVERY": None, "CREDIT": None, "BURST": None,
                          "RATE": None})
        self.assertEqual(self.variables("--collector", "calls", "--every", "100/routine",
                                        "--credit", "new", "--burst", "2ms/20ms"),
                         {"COLLECTOR": "calls", "EVERY": "100/routine", "CREDIT": "new",
                          "BURST": "2ms/20ms", "RATE": None})
        self.assertEqual(self.variables("--collector", "calls", "--burst",
                                        "2ms/20ms,adaptive=2.5%")["BURST"],
                         "2ms/20ms,adaptive=2.5%")
        self.assertEqual(self.variables("--collector", "walks"),
                         {"COLLECTOR": "walks", "EVERY": None, "CREDIT": None, "BURST": None,
                          "RATE": "1000"})

    def test_collector_of_environment(self):
        self.environment["HCCT_COLLECTOR"] = "calls"
        self.assertIsNone(self.variables("--every", "7")["RATE"])
        self.assertEqual(self.variables("--collector", "walks")["COLLECTOR"], "walks")

    def test_options_reach_daemon(self):
        self.hcct("record", "--collector", "calls", "--summary", "exact", "--trace", "t.hcct",
                  "true")
        self.assertEqual(self.log()[1], f"summary=exact trace=t.hcct memory={4 << 30}")

    def test_contradictions(self):
        calls = ["--collector", "calls"]
        for words, sentence in (
                (["--every", "10"], "--every is for --collector calls"),
                (["--credit", "new"], "--credit is for --collector calls"),
                ([*calls, "-F", "100"], "--rate says how often stacks are sampled"),
                (["--burst", "2ms/20ms,adaptive"], "with adaptive is for --collector calls"),
                ([*calls, "--burst", "2ms/20ms,adaptive", "--budget", "1%"],
                 "one of them follows from the other"),
                ([*calls, "--burst", "2ms/20ms,adaptive=0"], "is no LENGTH/PERIOD"),
                ([*calls, "--burst", "2ms/20ms,adapt"], "is no LENGTH/PERIOD"),
                ([*calls, "--burst", "2ms/20ms,adaptive=5%%"], "is no LENGTH/PERIOD"),
                ([*calls, "--burst", "2ms/20ms,"], "is no LENGTH/PERIOD"),
                ([*calls, "--check"], "--check is for samples"),
                ([*calls, "--clock", "wall"], "--clock is for samples"),
                (["--trace", "t", "--socket", "s"], "does not go with --socket"),
                (["--summary", "exact", "--socket", "s"], "--summary is for a private hcctd"),
                (["--trace", "t", "-o", "t"], "name the same file"),
                ([*calls, "--phi", "0.01", "--epsilon", "0.02"], "must be below --phi"),
                (["--collector", "magic"], "no collector 'magic': --collector takes walks, encode or"),
                (["--collector", "encode", "--metric", "heap"], "--metric is for --collector walks"),
                (["--collector", "encode", "--python"], "--python is for --collector walks"),
                ([*calls, "--credit", "all"], "no credit 'all'"),
                (["--metric", ""], "there is no metric '': --metric takes one or more of cpu"),
                (["--summary", "none-such"],
                 "no algorithm 'none-such'; there are: filtered-space-saving, space-saving"),
                ([*calls, "--burst", "20ms/2ms"], "--burst '20ms/2ms' is no"),
                *(([*calls, "--every", every], f"--every '{every}' is neither N nor N/routine")
                  for every in ("0", "", "-1", "1/", "10/call", "1000000001", "99999999999999"))):
            with self.subTest(words):
                status, out, err = self.hcct("record", *words, "touch", "was-run")
                self.assertEqual((status, out), (2, b""), err)
                self.assertEqual(len(err.splitlines()), 1, err)
                self.assertIn(sentence, err)
        self.assertFalse(os.path.exists(self.path("was-run")))

    def first_line(self, *command, **more):
        _, _, err = self.hcct("record", "--collector", "calls", "--no-report", *command, **more)
        self.assertEqual(err.splitlines()[-1], "hcct: the profile is in hcct.pb.gz")
        return err.splitlines()[0] if len(err.splitlines()) > 1 else ""

    def test_program_whose_calls_cannot_be_followed(self):
        if platform.machine() == "x86_64":
            self.assertEqual(self.first_line("true"), "")
        else:
            self.assertRegex(self.first_line("true"), r"no calls of \S*/true can be followed")
        line = self.first_line("--modules", "no-such-module", "true")
        self.assertRegex(line, r"no calls of \S*/true in the modules that --modules names can be followed")
        with open(self.path("script"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n")
        os.chmod(self.path("script"), 0o755)
        self.assertIn("no calls of /bin/sh in", self.first_line("--modules", "x", "./script"))
        # walks need none of that
        self.assertEqual(len(self.hcct("record", "--no-report", "true")[2].splitlines()), 1)

    def test_program_that_is_instrumented(self):
        self.assertEqual(self.first_line(support.INSTRUMENTED), "")
        self.assertEqual(self.first_line(support.LIBRARY_USER,
                                         environment={"LD_LIBRARY_PATH": support.LIBRARIES}), "")
        self.assertEqual(self.first_line(support.STATIC_TARGET), "") # another matter

    def test_no_call_at_all(self):
        self.environment["FAKE_PROCESSES"] = json.dumps([{**support.CALLING, "calls": 0}])
        status, _, err = self.hcct("record", "--collector", "calls", support.INSTRUMENTED)
        self.assertEqual(status, 0)
        self.assertEqual(len(err.splitlines()), 1, err)
        self.assertIn("no call of", err)
        self.assertIn("hcct doctor", err)
        self.assertFalse(os.path.exists(self.path("hcct.pb.gz")))
        _, _, err = self.hcct("record", "--collector", "calls", "--burst", "2ms/20ms",
                              support.INSTRUMENTED)
        self.assertIn("used too little CPU time for a burst", err)


class RecordWithRunningDaemon(support.ClientTest):

    def test_socket(self):
        path = self.serve()
        status, _, err = self.hcct("record", "--socket", path, "sh", "-c", "exit 3")
        self.assertEqual(status, 3, err)
        self.assertIn("not profiled", err) # the fake one lists another pid
        self.assertEqual(len(self.log()), 3)

    def test_nobody_there(self):
        status, _, err = self.hcct("record", "--socket", "/no/such/socket", "touch", "was-run")
        self.assertEqual(status, 125)
        self.assertIn("no hcctd listens at /no/such/socket", err)
        self.assertFalse(os.path.exists(self.path("was-run")))


if __name__ == "__main__":
    unittest.main()
