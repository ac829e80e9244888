# SPDX-License-Identifier: LGPL-3.0-or-later
"""--collector encode: each context that is found by the calls that are open is the one that a walk of the whole
stack finds, whatever the program does to its stacks; the program says the same as without; and what a walk had to
find is counted, with its reason. Calls that cost much are left alone after a while.

    usage: encode_contexts_test.py [ROUNDS]     each program so many times (1)
"""

import os
import shutil
import sys

import workloads
from support import HCCT, check, finish, folded, record, report, run, scratch, skip, target

if os.uname().machine != "x86_64":
    skip("calls are led through slots on x86-64 only")
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 1
KEPT = ("--collector", "encode", "--check", "--rate", "10000", "--no-report")
WALKED = ("encode_unkept", "encode_foreign", "encode_rule")
# Where a walk had to tell, of all samples: what throws is in libgcc, whose frames are not all simple, and so is each
# first call through the loader, which in a short child may be most of it; and coroutines have stacks of their own.
MOST, MOST_THROWN, MOST_BEGUN, MOST_STACKS = 0.01, 0.05, 0.5, 1

LUA = """
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local s = fib(24)
for i = 1, 20000 do
  local ok, e = pcall(function(x) if x % 2 == 0 then error("e" .. x) end return x end, i)
  if not ok then s = s + #e end
end
local next = coroutine.wrap(function() for i = 1, 50000 do coroutine.yield(i) end end)
for i = 1, 49999 do s = s + next() end
print(s)
"""

GTP = "boardsize 9\nlevel 8\n" + "genmove b\ngenmove w\n" * 3 + "showboard\nquit\n"

TORTURE = target("usual/calls_torture")
PARTS = (("jumps", 3000, MOST), ("exceptions", 2000, MOST_THROWN), ("deep", 1000, MOST), ("threads", 2000, MOST),
         ("coroutines", 200, MOST_STACKS), ("plugins", 40, MOST), ("children", 5, MOST_BEGUN), ("handlers", 2000, MOST),
         ("ticks", 20, MOST), ("tails", 3000, MOST))


def cases():
    for part, times, most in PARTS:
        yield f"torture: {part}", [TORTURE, part, str(times)], None, most
    yield "exceptions and coroutines", [target("storm"), "20"], None, MOST_STACKS
    yield "calls that end in all ways", [target("open_calls"), "1"], None, MOST_THROWN
    yield "sqlite3", ["sqlite3", ":memory:"], workloads.write(scratch, "work.sql", workloads.SQL), MOST
    yield "lua5.4", ["lua5.4", workloads.write(scratch, "work.lua", LUA)], None, MOST
    yield "python3", ["/usr/bin/python3", workloads.write(scratch, "work.py", workloads.PYTHON)], None, MOST
    yield "gnugo", [workloads.gnugo() or "gnugo", "--mode", "gtp", "--seed", "1"], \
        workloads.write(scratch, "work.gtp", GTP), MOST


def once(command, stdin_path, *options):
    stdin = open(stdin_path) if stdin_path else None
    path = scratch("profile.pb.gz")
    result = record(command, path, *options, stdin=stdin, env={"LD_BIND_NOW": "1"})
    return result, report(path)["processes"]


all_sums = dict.fromkeys(("checked", "different", "encoded", "encoded_frames", *WALKED), 0)
for name, command, stdin_path, most in cases():
    if shutil.which(command[0]) is None:
        print(f"{name} is not installed: left out")
        continue
    plain = run(command, stdin=open(stdin_path) if stdin_path else None)
    sums = dict.fromkeys(all_sums, 0)
    for _ in range(ROUNDS):
        result, processes = once(command, stdin_path, *KEPT)
        same = result.out == plain.out and result.status == plain.status
        check(same, f"{name}: it says the same, and ends with {result.status}")
        for process in processes:
            for key in sums:
                sums[key] += process[key]
    walked = sum(sums[key] for key in WALKED)
    check(sums["different"] == 0, f"{name}: of {sums['checked']} contexts {sums['different']} differ from a walk's")
    check(walked <= most * (sums["encoded"] + walked) + 20,
          f"{name}: {sums['encoded']} by open calls, {walked} by walks: "
          + ", ".join(f"{sums[key]} {key}" for key in WALKED))
    for key in sums:
        all_sums[key] += sums[key]
check(all_sums["encoded"] > 1000 and all_sums["encoded_frames"] > 1000, f"of all: {all_sums}")

result = run([HCCT, "record", "--collector", "encode", "--rate", "10000", "--no-report", "-o", scratch("dear.pb.gz"),
              "--", target("dear_calls")])
check(result.out == b"left alone\n" and result.status == 0,
      f"calls that are made very often are left alone: {result.out.decode().strip()}")


def path_is_there(path, lines):
    return any(";" + ";".join(path) + ";" in ";" + ";".join(frames) + ";" for frames, _ in lines)


run([HCCT, "record", "--collector", "encode", "--rate", "10000", "--no-report", "-o", scratch("known.pb.gz"), "--",
     target("open_calls"), "1"])
lines = [([frame.split(" [")[0].split("(")[0] for frame in frames], weight)
         for frames, weight in folded(scratch("known.pb.gz"))]
for path in (("catcher", "thrower_again", "thrower"), ("on_alarm", "in_handler", "in_handler"),
             ("jump", "jumper", "jumper"), ("fib",) * 12, ("deep",) * 2000 + ("work",)):
    check(path_is_there(path, lines), f"the profile has {' > '.join(path[:3])} ...")
text = run([HCCT, "record", "--collector", "encode", "-o", scratch("known.pb.gz"), "--", target("open_calls"), "1"])
check(b"of the contexts by the calls that were open" in text.err, "the report says by what contexts were found")
finish()
