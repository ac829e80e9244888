# SPDX-License-Identifier: LGPL-3.0-or-later
"""What the suites print is read, and what differs with the agent is found."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import compare  # noqa: E402
import execs  # noqa: E402
import parsers  # noqa: E402

failed = 0


def check(is_so, what):
    global failed
    print(("ok      " if is_so else "NOT SO  ") + what)
    failed += not is_so


def reads(parser, text, expected):
    found = dict(parser(text, ""))
    check(found == expected, f"{parser.__name__} reads {found}")


reads(parsers.tap, "1..3\nok 1 - tcp_open\nnot ok 2 - poll\n# why\nok 3 - tty # SKIP no terminal\n",
      {"tcp_open": "passed", "poll": "failed", "tty": "skipped"})
reads(parsers.redis, "\x1b[32m[ok]\x1b[0m: SET (12 ms)\n[err]: GET in tests/unit/a.tcl\n[ok]: SET (3 ms)\n"
      "Testing unit/type/list\n[ignore]: large memory\n",
      {"SET": "passed", "GET": "failed", "SET #2": "passed", "large memory": "skipped"})
reads(parsers.sqlite, "select1-1.1... Ok\n....wal-2.0...\n! wal-2.0 expected: [1]\nwal-3... Omitted\n",
      {"select1-1.1": "passed", "wal-2.0": "failed", "wal-3": "skipped"})
reads(parsers.zstd_numbered, "test  0 : name : OK \ntest  1 : dict : OK (3 bytes : 1.5%)\n"
      "test  2 : stream : Error : 7\n     1/  2 \r     2/  2 \r2 fuzzer tests completed  \n",
      {"0 : name": "passed", "1 : dict": "passed", "2 : stream": "failed",
       "2 fuzzer tests completed": "passed"})
reads(parsers.zstd_pool, "SUCCESS: order\nqueueSize==1\nFAIL: wait\n",
      {"order": "passed", "wait": "failed"})
reads(parsers.sections, "\n===>  simple tests \ntest : 12 files\nanything\n",
      {"simple tests": "passed", "N files": "passed"})
reads(parsers.tcl, "---- a-1.0 start\n++++ a-1.0 PASSED\n==== a-1.1 adds FAILED\n==== Contents of\n"
      "++++ a-1.2 SKIPPED: unix\n==== a-1.1 FAILED\n",
      {"a-1.0": "passed", "a-1.1": "failed", "a-1.2": "skipped"})


class Trial:
    def __init__(self, **outcomes):
        self.outcomes = outcomes

    def failed(self):
        return {name for name, outcome in self.outcomes.items() if outcome == "failed"}


one = compare.Comparison({"without": [Trial(a="passed", b="failed", c="passed")],
                          "with": [Trial(a="passed", b="failed", d="passed")]})
check(set(one.different) == {"c", "d"}, "tests that only one side has differ")
check(one.failures("with") == 1 and not one.by_chance, "what fails anyway does not")
two = compare.Comparison({"without": [Trial(a="passed", b="passed")] * 2,
                          "with": [Trial(a="failed", b="failed"), Trial(a="failed", b="passed")]})
check(set(two.different) == {"a"}, "what always fails with the agent differs")
check(set(two.by_chance) == {"b"}, "what fails once is by chance")

PYTHON = os.path.realpath(sys.executable)
log = (f'10 execve("{PYTHON}", ["a", "execve(\\"b\\", ) = 0"], 0x7ffd /* 9 vars */) = 0\n'
       "10 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD, child_tidptr=0x7f) = 11\n"
       "10 clone(child_stack=0x7f, flags=CLONE_VM|CLONE_FS|CLONE_THREAD, tls=0x7f) = 12\n"
       '11 chdir("of") = 0\n'
       "10 clone3({flags=CLONE_VM|CLONE_VFORK, exit_signal=SIGCHLD}, 88) = 13\n"
       '11 fork() = 14\n14 execve("no/such", ["no/such"], 0x7ffd) = 0\n'
       f'13 execve("{PYTHON}", ["a"], 0x7ffd /* 9 vars */) = 0\n')
count = execs.Count(log, "/tree")
check(count.started == {PYTHON: 2, "/tree/of/no/such": 1}, f"programs: {dict(count.started)}")
check(count.forked == {PYTHON: 2}, f"forks, not threads nor vforks: {dict(count.forked)}")
check(count.unseen({PYTHON: 3, "/tree/of/no/such": 0}.get) == [("/tree/of/no/such", 1, 0)],
      "what was seen less often is reported")
here = os.path.dirname(os.path.abspath(__file__))
check(execs.program_of("run.sh", here) == os.path.realpath("/bin/sh"),
      "a script's program is its interpreter")
sys.exit(1 if failed else 0)
