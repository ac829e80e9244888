# SPDX-License-Identifier: LGPL-3.0-or-later
"""HCCT_CHECK=1: every walk is made twice, memoized and in full, and no two differ; nearly all reach the
root, and the rest is counted by cause.

    usage: check_test.py [ROUNDS [RATE]]   each program so many times at least, and those that would give a hundred
                                           times ENOUGH walks with all that they have to do, as in `make hazards`;
                                           0: once, with a part of it. At so many walks a second (10,000)
"""

import platform
import shutil
import sys

import workloads
from support import check, finish, record, report, scratch, target

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 0
RATE = sys.argv[2] if len(sys.argv) > 2 else "10000"
FUNCTIONS, MOVES, REQUESTS = (300, "14", "25000") if ROUNDS > 0 else (100, "6", "5000")  # cc1's, gnugo's, redis-server's
CAUSES = ("truncated", "no_module", "no_rule", "bad_stack", "short_copy")

# Of all walks, so many must be complete. A compiler of its own makes code as it goes in node; and the
# storm is made of instants that no table describes; luajit's code has no unwind data. Where the machine gives few signals, the moments
# before main are a larger share of them: a few walks are forgiven.
LEAST, LEAST_NODE, LEAST_STORM = 0.999, 0.997, 0.98
LEAST_LUAJIT = 0.9 if platform.machine() == "x86_64" else 0  # doc/limits.md: the stack pointer of its callers
FORGIVEN = 20

# A busy machine gives few signals: a program is run until so many of its walks were made twice.
ENOUGH, ROUNDS_MAX = 1000, 12


# Generated code that has neither unwind data nor frame pointers.
LUA = """
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local function sum(t) local x = 0 for i = 1, #t do x = x + t[i] * 1.5 end return x end
local began, s, t = os.clock(), 0, {}
for i = 1, 2000 do t[i] = i end
while os.clock() - began < 2 do
  s = s + fib(20)
  for k = 1, 200 do s = s + sum(t) end
  local parts = {}
  for i = 1, 3000 do parts[#parts + 1] = tostring(i) .. ":" end
  for w in table.concat(parts):gmatch("%d+:") do s = s + #w end
end
"""

# A server, and what keeps it busy: SOCKET SERVER REQUESTS.
REDIS = """
"$2" --port 0 --unixsocket "$1" --save '' >/dev/null &
until redis-cli -s "$1" ping >/dev/null 2>&1; do sleep 0.1; done
redis-benchmark -s "$1" -q -P 16 -r 10000 -n "$3" -t set,get,lpush,lrange_100,zadd >/dev/null
redis-cli -s "$1" shutdown nosave
wait
"""


def cases():
    sql = workloads.write(scratch, "work.sql", workloads.SQL)
    yield "sqlite3", ["sqlite3", ":memory:"], sql, LEAST
    yield "python3", ["/usr/bin/python3", workloads.write(scratch, "work.py", workloads.PYTHON)], None, LEAST
    source = workloads.write(scratch, "big.c", workloads.c_source(FUNCTIONS))
    yield "cc1", [workloads.cc1() or "cc1", "-quiet", "-O2", source, "-o", scratch("cc1.s")], None, LEAST
    yield "gnugo", [workloads.gnugo() or "gnugo", "--mode", "ascii", "--seed", "1",
                    "--benchmark", MOVES, "--level", "10"], None, LEAST
    yield "node", ["node", workloads.write(scratch, "work.js", workloads.NODE)], None, LEAST_NODE
    yield "luajit", ["luajit", workloads.write(scratch, "work.lua", LUA)], None, LEAST_LUAJIT
    yield "redis-server", ["sh", workloads.write(scratch, "redis.sh", REDIS), scratch("redis.socket"),
                           workloads.redis_server(scratch) or "", REQUESTS], None, LEAST
    yield "C++, exceptions", [target("oracle_cxx"), "4"], None, LEAST
    yield "C++, exceptions and coroutines", [target("storm"), "60"], None, LEAST_STORM
    yield "Rust", [workloads.rust_program(scratch) or "rust_program"], None, LEAST


walks = checked = different = 0
for name, command, stdin_path, least in cases():
    if shutil.which(command[0]) is None or "" in command:
        print(f"{name} is not installed: left out")
        continue
    sums = dict.fromkeys(("walks", "complete", "checked", "different", *CAUSES), 0)
    rounds = 0
    while rounds < max(ROUNDS, 1) or (sums["checked"] <= ENOUGH and rounds < ROUNDS_MAX):
        rounds += 1
        path = scratch("check.pb.gz")
        stdin = open(stdin_path) if stdin_path else None
        record(command, path, "--check", "--rate", RATE, "--no-report", stdin=stdin)
        for process in report(path)["processes"]:
            for key in sums:
                sums[key] += process[key]
    checked += sums["checked"]
    different += sums["different"]
    causes = ", ".join(f"{sums[c]} {c}" for c in CAUSES)
    check(sums["checked"] > ENOUGH, f"{name}: {sums['checked']} walks made twice in {rounds} runs")
    check(sums["different"] == 0, f"{name}: {sums['different']} differ")
    check(sums["complete"] + FORGIVEN * rounds >= least * sums["walks"],
          f"{name}: {100 * sums['complete'] / max(1, sums['walks']):.3f} % of {sums['walks']} walks complete"
          f" ({causes})")
print(f"{checked} walks made twice, {different} differ")
finish()
