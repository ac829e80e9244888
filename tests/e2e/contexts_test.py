# SPDX-License-Identifier: LGPL-3.0-or-later
"""hcct_context() and hcct decode: a program keeps a record of its own calls, and each path that its numbers are
decoded to is that one: with open calls and with walks, of threads below the context that has created them, after
longjmp, in children of fork, in signal handlers on any stack, in coroutines; live and from a file. Where there is
no agent, before its constructor and after a thread's end there is no number, and nothing else.

    usage: contexts_test.py [CALLS]     so many numbers in all from 8 threads, each time (400000)
"""

import os
import re
import subprocess
import sys

from support import HCCT, Daemon, check, finish, run, scratch, target

CONTEXTS = target("contexts")
CALLS = int(sys.argv[1]) if len(sys.argv) > 1 else 400000
COLLECTORS = (["--collector", "encode"], []) if os.uname().machine == "x86_64" else ([],)
AT_ONCE = 20000
ASKED = re.compile(r"asked (\d+) none (\d+) wrong (\d+)")
FRAME = re.compile(r"  (?:.*::|)(~?\w+)(?:\.\S+)?(?:\(.*\))?(?: \[inlined\])? "
                   r"\((?:.*/)?contexts(?:\.c|_cpp\.cc):(\d+)\)")
CALLER_OF_DESTRUCTOR = re.compile(r"passer:\d+;(?=~asker)")


def parse(out):
    """[(number, path)] of the program's own record, and the sums of asked, none and wrong."""
    paths, sums = [], [0, 0, 0]
    for line in out.decode().splitlines():
        counts = ASKED.fullmatch(line)
        if counts:
            sums = [a + int(b) for a, b in zip(sums, counts.groups())]
        elif line.startswith("0x"):
            paths.append(tuple(line.split(" ", 1)))
    return paths, sums


def decode(numbers, *where, env=None):
    """{number: path of the program's own frames}, and all lines of the last one."""
    decoded, everything = {}, {}
    for i in range(0, len(numbers), AT_ONCE):
        result = run([HCCT, "decode", *where, *numbers[i:i + AT_ONCE]], env=env)
        if result.status != 0:
            check(False, f"hcct decode: {result.err.decode()[:300]}")
        number = None
        for line in result.out.decode().splitlines():
            if line.startswith("0x"):
                number = line
                decoded[number], everything[number] = [], []
                continue
            everything[number].append(line)
            frame = FRAME.fullmatch(line)
            if frame:
                decoded[number].append(":".join(frame.groups()))
    return {number: CALLER_OF_DESTRUCTOR.sub("", ";".join(path)) for number, path in decoded.items()}, everything


def compare(what, out, *where, none=0, env=None):
    """`none`: so many of a thousand may have no number."""
    paths, (asked, no_number, wrong) = parse(out)
    check(asked > 0 and wrong == 0, f"{what}: asked {asked} times, {wrong} times another number on the same path")
    check(no_number <= none * asked / 1000, f"{what}: {no_number} of {asked} times there was no number")
    decoded, everything = decode(sorted({number for number, _ in paths}), *where, env=env)
    different = [(number, path, decoded.get(number)) for number, path in paths if decoded.get(number) != path]
    check(paths and not different,
          f"{what}: of {len(paths)} paths {len(different)} are decoded to another one: "
          + "".join(f"\n  {number} is {path}\n  and not {other}\n  {everything.get(number)}"
                    for number, path, other in different[:2]))
    of_number = {}
    for number, path in paths:
        of_number.setdefault(number, set()).add(path)
    check(all(len(of) == 1 for of in of_number.values()), f"{what}: no number stands for two paths")
    return everything


def record(what, *args, collector=(), program=CONTEXTS):
    path = scratch("profile.pb.gz")
    result = run([HCCT, "record", *collector, "--no-report", "-o", path, "--", program, *args])
    check(result.status == 0, f"{what}: ends with {result.status}: {result.err.decode()[-300:]}")
    return path, result.out


for collector in COLLECTORS:
    way = collector[1] if collector else "walks"
    path, out = record(f"{way}: threads", "random", "8", str(CALLS // 8), collector=collector)
    everything = compare(f"{way}: threads", out, path)
    check(any("  [thread created here]" in lines for lines in everything.values()),
          f"{way}: a thread's context continues the one that it was created in")
    for part in ("signals", "stacks"):
        path, out = record(f"{way}: {part}", part, "1", "20000", collector=collector)
        compare(f"{way}: {part}", out, path)
    path, out = record(f"{way}: fork", "forks", "1", "3000", collector=collector)
    child, parent = out.split(b"parent\n")
    compare(f"{way}: child of fork", child, path)
    compare(f"{way}: parent of it", parent, path)
    path, out = record(f"{way}: exceptions", "300", collector=collector, program=target("contexts_cpp"))
    compare(f"{way}: exceptions", out, path)
    path, out = record(f"{way}: early", "early", collector=collector)
    numbers = dict(re.findall(r"(\w+) (0x[0-9a-f]{16})", out.decode()))
    check(numbers["exit"] != "0x" + 16 * "0", f"{way}: a handler of exit has a number: {numbers}")
    known = [number for number in numbers.values() if int(number, 16) != 0]
    decoded, _ = decode(known, path)
    check(len(decoded) == len(known) and "at_the_end" in decoded[numbers["exit"]],
          f"{way}: early and late ones are decoded: {decoded}")

# ---- without an agent, and live ----

result = run([CONTEXTS, "random", "2", "1000"])
_, (asked, no_number, wrong) = parse(result.out)
check(result.status == 0 and asked == no_number > 0 and wrong == 0, "without the agent each number is 0")

with Daemon() as daemon:
    env = daemon.env(HCCT_COLLECTOR=COLLECTORS[0][1] if COLLECTORS[0] else "walk")
    process = subprocess.Popen([CONTEXTS, "waits", "2", "5000"], env={**os.environ, **env}, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    out, ends = b"", 0
    while ends < 3:  # two threads and main
        line = process.stdout.readline()
        ends += line.startswith(b"asked")
        out += line
    live = ("--socket", daemon.socket)
    compare("live", out, *live)
    process.stdin.close()
    check(process.wait() == 0, "the program ends")
    daemon.wait_for(lambda it: it["state"] != "live")
    compare("of a program that has ended", out, *live)
    first = parse(out)[0][0][0]
    by_decimal = run([HCCT, "decode", *live, str(int(first, 16))])
    by_digits = run([HCCT, "decode", *live, first[2:]])
    check(by_decimal.out == by_digits.out != b"", "numbers may be decimal, or digits alone")
    for bad, status, words in ((["0x4000000000000001"], 4, "is not known to hcctd"),
                               (["0"], 4, "no number to be had"),
                               (["-1"], 2, "option"), ([first, "x1"], 2, "16 hexadecimal digits"),
                               ([scratch("none.pb.gz"), first], 1, "none.pb.gz"), ([], 2, "say which contexts")):
        result = run([HCCT, "decode", *live, *bad])
        check(result.status == status and words in result.err.decode() and result.out == b"",
              f"decode {bad}: {result.status}, {result.err.decode().strip()}")
    answer = subprocess.run(["curl", "-s", "--unix-socket", daemon.socket, "http://h/v1/contexts?number=x"],
                            capture_output=True, check=False)
    check(b"give up to 64 hexadecimal numbers" in answer.stdout, f"a bad request: {answer.stdout}")
finish()
