# SPDX-License-Identifier: LGPL-3.0-or-later
"""A thread that sleeps is left in peace: calls that sleep end as they would without the agent, and
when they would, however the thread is sampled."""

from support import Daemon, check, finish, run, target

SETTINGS = [
    ("by default", {}),
    ("1,000 walks a second", {"HCCT_RATE": "1000"}),
    ("in bursts", {"HCCT_BURST": "2ms/20ms", "HCCT_RATE": "5000"}),
    ("on the wall clock", {"HCCT_CLOCK": "wall", "HCCT_RATE": "1000"}),
    ("on the wall clock, often", {"HCCT_CLOCK": "wall", "HCCT_RATE": "10000"}),
]

sleeper = [target("sleeper")]
plain = run(sleeper)
lines = plain.out.decode().splitlines()
check(plain.status == 0 and len(lines) > 40, "it runs without the agent")
check(all(line.endswith("time ok") for line in lines), "all calls take the time that they should")
with Daemon() as daemon:
    for name, settings in SETTINGS:
        profiled = run(sleeper, env=daemon.env(**settings))
        same = profiled.out.decode().splitlines()
        for without, with_agent in zip(lines, same):
            if without != with_agent:
                print(f"without: {without}\nwith:    {with_agent}")
        check((profiled.status, profiled.out, profiled.err) == (0, plain.out, b""),
              f"profiled {name}: all calls end as without the agent")
        check(any(p["command"] == "sleeper" and p["walks"] > 0 for p in daemon.processes()),
              f"profiled {name}: walks were made")
finish()
