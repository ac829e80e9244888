# SPDX-License-Identifier: LGPL-3.0-or-later
"""Calls are counted exactly, context by context: the profile of a program is the same as the tree that
a naive counter builds in its place, whether functions are inlined or not, and none is lost."""

import sys

from calls_support import compare, naive_paths, record_calls
from support import check, finish, need, target

need("nm")
SHARED = [target("calls_shared")]
PROGRAMS = (
    ("calls_oracle", ["1"], []), ("calls_recursive", ["1"], []),
    ("calls_mixed_plain", ["1000"], SHARED), ("calls_mixed", ["1000"], SHARED),
)
for name, arguments, libraries in PROGRAMS:
    if sys.argv[1:] and name not in sys.argv[1:]:
        continue
    command = [target(name), *arguments]
    bare, want, naming = naive_paths(command, [target(name), *libraries])
    result, profile = record_calls(command)
    check(result.status == 0 and result.out == bare.out, f"{name}: as without hcct")
    compare(f"{name}: contexts", want, profile.paths(naming))
    check(profile.sum("lost") == 0 and profile.all["total"] == sum(want.values()),
          f"{name}: nothing lost of {profile.all['total']} calls")
    check(profile.sum("jumped") == 0 and profile.sum("stray") == 0, f"{name}: each call returned")
finish()
