#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""Calls of coroutines, and of who goes on when one has ended or has gone to another stack, are in their own contexts.
A burst knows what is open on the stack that it begins on: on another one contexts begin with what is called there, and
have no caller that is not theirs."""

from calls_support import EXACT, PATHS, compare, path_of, record_calls
from support import check, finish, target

TIMES = 50
BURSTS = ("--collector", "calls", "--burst", "1ms/2ms", "--summary", "exact", "--phi", "1e-12", "--no-report")


def paths(own, coroutine, more):
    """{path: calls} of inner() and outer(), on either stack."""
    return {path_of("main"): 1, path_of("main", "inner"): 1, path_of("main", own): 1,
            path_of("main", own, "inner"): TIMES + more, path_of("main", own, "outer"): TIMES,
            path_of("main", own, "outer", "inner"): TIMES, path_of(coroutine, "inner"): TIMES}


WANTED = {"ends": {**paths("ends", "ending", 0), path_of("ending"): TIMES},
          "symmetric": {**paths("symmetric", "there", 1), path_of("there"): 1,
                        path_of("main", "symmetric", "go"): TIMES + 1, path_of("there", "go"): TIMES}}

for kind, wanted in WANTED.items():
    result, profile = record_calls([target("calls_coroutines"), kind, str(TIMES)], *EXACT)
    check(result.status == 0 and profile.sum("lost") == 0, f"{kind}: it ends as it would, and nothing is lost")
    compare(kind, wanted, profile.paths())
    result, profile = record_calls([target("calls_coroutines"), kind, "300000"], *BURSTS)
    true = [PATHS.names(path) for path in wanted]
    false = {path: calls for path, calls in profile.paths().items()
             if not any(names[-len(PATHS.names(path)):] == PATHS.names(path) for names in true)}
    check(result.status == 0 and not false,
          f"{kind}, bursts: {sum(profile.paths().values())} calls, "
          f"{ {';'.join(PATHS.names(path)): calls for path, calls in false.items()} } of them in false contexts")
finish()
