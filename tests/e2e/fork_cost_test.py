# SPDX-License-Identifier: LGPL-3.0-or-later
"""What a fork costs is shown in fork: not in what libc calls after it on behalf of the agent, which
is not there without it."""

from support import check, finish, record, report, scratch

# In the beginning, while the daemon makes tables, there may be samples of the other kind.
SHELL = "sleep 2; for i in $(seq 800); do (exit 3); done; echo $?"
path = scratch("forks.pb.gz")
result = record(["bash", "-c", SHELL], path)
check(result.status == 0 and result.out == b"3\n", "the shell's output is as without the agent")
own = {}
for function in report(path)["functions"]:
    own[function["function"]] = own.get(function["function"], 0) + function["self"]
total = sum(own.values())
forks = sum(own.get(name, 0) for name in ("fork", "__fork", "__libc_fork", "[clone(2)]"))
after = own.get("__run_postfork_handlers", 0)
check(forks > total / 10, f"{forks / total:.1%} of the time is in fork")  # half of it or so
check(after < forks / 2, f"{after / total:.1%} in what runs after it")
finish()
