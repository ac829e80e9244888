# SPDX-License-Identifier: LGPL-3.0-or-later
"""Above HZ, in bursts and on the wall clock our signal is blocked in calls that sleep: the program
sees nothing of it, whichever way it leaves such a call, and is seen afterwards as before."""

import re

from support import HCCT, check, finish, folded, record, run, scratch, target

masked = [target("masked")]
plain = run(masked)
check(plain.status == 0, "it runs without the agent")
path = scratch("masked.pb.gz")
for name, options in (("10,000 a second", ["--rate", "10000"]),
                      ("in bursts", ["--rate", "5000", "--burst", "2ms/20ms"]),
                      ("on the wall clock", ["--rate", "10000", "--clock", "wall"])):
    profiled = record(masked, path, *options)
    for without, with_agent in zip(plain.out.decode().splitlines(),
                                   profiled.out.decode().splitlines()):
        if without != with_agent:
            print(f"without: {without}\nwith:    {with_agent}")
    check(profiled.status == 0 and profiled.out.startswith(plain.out), f"{name}: the same output")
    if len(options) > 2:
        continue
    for after in ("after_longjmp", "after_siglongjmp", "after_fork"):
        seen = sum(weight for frames, weight in folded(path) if after in frames) / 1e6
        check(70 <= seen <= 130, f"{name}: {after} had {seen:.1f} ms of 100")

# Short calls, nearer to each other than a tick may be late.
path = scratch("short.pb.gz")
result = record([target("short_calls"), "2"], path, "--rate", "1000")
read_ns, total = map(int, result.out.split())
stacks = folded(path)
agent = [frames for frames, _ in stacks
         if any("libhcctagent" in frame or frame.startswith("sleep_") for frame in frames)]
check(agent == [], f"the agent's frames do not stand between the program's: {agent[:2]}")
check(all("[hcct]" not in frames[:-1] for frames, _ in stacks), "nor below what it takes itself")
wrappers = sum(weight for frames, weight in stacks if frames[-1] == "[hcct]")
summary = run([HCCT, "report", path]).out.decode()
shown = re.search(r"([\d.]+) % in its wrappers of calls that can sleep, and labels \(\[hcct\]\)", summary)
share = 100 * wrappers / sum(weight for _, weight in stacks)
check(share < 0.05 or (shown is not None and abs(float(shown.group(1)) - share) < 0.1),
      f"{share:.2f} % in its wrappers is part of the cost: {shown and shown.group(0)}")
in_read = ("read", "__read", "__libc_read", "[read(2)]")
seen = sum(weight for frames, weight in stacks
           if frames[-1] in in_read or (frames[-1] == "[hcct]" and "read_some" in frames))
share, true = seen / sum(weight for _, weight in stacks), read_ns / total
check(abs(share - true) <= 0.1, f"short calls: {100 * share:.1f} % in read, {100 * true:.1f} % is true")
finish()
