# SPDX-License-Identifier: LGPL-3.0-or-later
"""The application can't tell the difference: the same text with and without the agent, with and
without a daemon, at the highest rate."""

from support import AGENT, Daemon, check, finish, run, scratch, target

program = [target("self_view")]
plain = run(program)
check(plain.status == 0 and plain.out != b"", "it runs without the agent")
alone = run(program, env={"LD_PRELOAD": AGENT, "HCCT_SOCKET": scratch("nobody"), "HCCT_RATE": "10000"})
check((alone.status, alone.out, alone.err) == (plain.status, plain.out, plain.err),
      "same output and status with the agent and no daemon")
with Daemon() as daemon:
    profiled = run(program, env=daemon.env(HCCT_RATE="10000"))
    check((profiled.status, profiled.out, profiled.err) == (plain.status, plain.out, plain.err),
          "same output and status with the agent and a daemon")
    processes = [p for p in daemon.processes() if p["command"] == "self_view"]
    check(any(p["walks"] > 0 for p in processes), "and it was profiled")
    # short children end before the tables of their modules are there: copies of stacks fill a ring
    check(all(p["lost"] <= 0.005 * p["walks"] for p in processes if p["walks"] > 2 * p["shipped"]),
          "next to nothing was lost")
    switched_off = run(program, env=daemon.env(HCCT_ENABLE="0"))
    check(switched_off.out == plain.out, "same output when switched off")
    check(len(daemon.processes()) == len(processes), "HCCT_ENABLE=0 is not profiled")
finish()
