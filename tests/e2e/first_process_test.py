# SPDX-License-Identifier: LGPL-3.0-or-later
"""hcct record as the first process of a PID namespace, as a container's entry point is: its hcctd
does not take its parent, which is process 1, for a dead one."""

from support import HCCT, check, finish, need, report, run, scratch, skip, target

need("unshare")
INSIDE = ["unshare", "-Urpf", "--mount-proc"]
if run([*INSIDE, "true"]).status != 0:
    skip("no PID namespace can be made here")

for i in range(3):
    path = scratch(f"first{i}.pb.gz")
    result = run([*INSIDE, HCCT, "record", "-o", path, "--no-report", "--", target("known_shares"), "1"])
    check(result.status == 0, f"it ends with the program's status: {result.status} {result.err.decode()}")
    check(sum(p["walks"] for p in report(path)["processes"]) > 50, "the program was profiled")
finish()
