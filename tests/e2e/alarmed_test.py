# SPDX-License-Identifier: LGPL-3.0-or-later
"""By the wall clock, a call that sleeps for ever is ended by the program's own timer, as without the
agent; and what follows a sleep that was left by siglongjmp has its time.

The kernel makes read, recv and futexes again for the agent's handler, by itself. A signal that came while that ran
had its handler run before the call, which then slept on: 4 to 8 of 100 calls, and programs hung. A handler that comes
between the agent's last look and the call is met by its entry: 1 of 400 calls without that."""

from support import check, finish, record, run, scratch, target, weights

ROUNDS = 60  # of three calls each

path = scratch("alarmed.pb.gz")
plain = run([target("alarmed"), "ends", "5"])
check(plain.out == b"0\n", "without the agent all end")
result = record([target("alarmed"), "ends", str(ROUNDS)], path, "--clock", "wall", "--rate", "1000")
missed = int(result.out)
check(missed <= 1, f"{missed} of {3 * ROUNDS} calls did not end at the first signal")

# A write that a tick has cut short is finished, but not where a handler has run since: that was so in 10 of 1,200.
result = record([target("alarmed"), "writes", "1200"], path, "--rate", "1000")
check(result.status == 0 and int(result.out) <= 4, f"{result.out} of 1200 writes did not end at the signal")

result = record([target("alarmed"), "leaves", "250"], path, "--clock", "wall", "--rate", "1000")
true = {name: int(ns) for ns, name in (line.split() for line in result.out.decode().splitlines())}
seen = weights(path, true)
for name, ns in true.items():
    check(0.82 * ns <= seen[name] <= 1.1 * ns,
          f"{name}: {seen[name] / 1e9:.3f} s, {ns / 1e9:.3f} is true ({100 * seen[name] / ns:.1f} %)")
finish()
