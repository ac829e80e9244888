# SPDX-License-Identifier: LGPL-3.0-or-later
"""Each function was called as many times as callgrind counts."""

import collections
import re

from calls_support import compare, plain, record_calls
from support import check, finish, need, run, scratch, target

need("valgrind")
COMMAND = [target("calls_mixed_plain"), "300"]
out = scratch("callgrind")
result = run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--compress-strings=no",
              *COMMAND])
check(result.status == 0, "the program runs under callgrind")
counted, callee = collections.Counter(), None
for line in open(out):
    if line.startswith("cfn="):
        callee = plain(re.sub(r"'\d+$", "", line[4:].strip()))
    elif line.startswith("calls="):
        counted[callee] += int(line[6:].split()[0])
result, profile = record_calls(COMMAND)
ours = profile.functions()
compare("calls", {function: counted[function] for function in ours}, ours)
check(len(ours) > 10, f"{len(ours)} functions")
finish()
