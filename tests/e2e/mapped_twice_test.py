# SPDX-License-Identifier: LGPL-3.0-or-later
"""Code of a file that a program has mapped a second time has the name that it has where the loader
has mapped it, as node's builtins are next to the code that it generates."""

from support import check, finish, folded, record, scratch, target

path = scratch("twice.pb.gz")
result = record([target("mapped_twice"), "1"], path, "--lines", "-F", "1000", "--no-report")
check(result.status == 0 and result.out == b"turned\n", "the program does what it does")
contexts = folded(path)
total = sum(weight for _, weight in contexts)
there = sum(weight for frames, weight in contexts if any(f.startswith("turn") for f in frames))
nameless = sum(weight for frames, weight in contexts if "[generated code]" in frames)
check(there >= 0.8 * total, f"{100 * there / total:.1f} % of the time is in the function")
check(nameless == 0, f"{100 * nameless / total:.1f} % in code without a name")
finish()
