# SPDX-License-Identifier: LGPL-3.0-or-later
"""A sample that was taken in the kernel is in a frame of the system call's name, below the function
that made it, whatever the clock, and however the call is made; code of the program's own is in
none."""

from support import check, finish, folded, record, report, scratch, target

WAYS = {"in_write": "[write(2)]", "in_pread": "[pread64(2)]", "in_syscall": "[pread64(2)]",
        "in_instruction": "[pread64(2)]", "in_own_code": None}


def look(path, how):
    for function, call in WAYS.items():
        total = called = kernel = 0
        for frames, weight in folded(path):
            if function not in frames:
                continue
            total += weight
            called += weight * (frames[-1] in (call, "[hcct]"))  # the wrapper's part is as good
            kernel += weight * frames[-1].endswith(("(2)]", "[hcct]"))
        check(total > 0, f"{how}: {function} was sampled")
        share = 100 * called / max(total, 1)
        if call is not None:
            check(share >= 90, f"{how}: {share:.1f} % of {function} is in {call}")
        else:
            check(kernel <= 0.02 * total, f"{how}: {function} is in no call")


for options in (), ("--rate", "100"), ("--clock", "wall"), ("--lines",), ("--clock", "perf"):
    path = scratch("calls.pb.gz")
    result = record([target("kernel_time"), "2"], path, *options)
    check(result.status == 0, f"{options}: the program ended with status 0")
    look(path, " ".join(options) or "by default")

check("[kernel]" in report(path, "--by", "module", form="text"), "their module is [kernel]")
names = report(path, "--no-system-calls", form="text")
check("(2)]" not in names and "in_pread" in names, "--no-system-calls leaves them out")
total = {how: sum(weight for _, weight in folded(path, *how)) for how in ((), ("--no-system-calls",))}
check(len(set(total.values())) == 1, f"and no weight: {total}")
finish()
