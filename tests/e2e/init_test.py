# SPDX-License-Identifier: LGPL-3.0-or-later
"""Functions that _init and _fini call are seen with all of their callers, though no
unwind entry covers _init and _fini: those of the program, and of a shared object that it loads and
unloads."""

from support import check, finish, folded, record, report, scratch, target

path = scratch("init.pb.gz")
result = record([target("init"), target("init_shared")], path, "--rate", "1000", "--check")
check(result.status == 0, "ended with status 0")
process = report(path)["processes"][0]
check(process["complete"] >= 0.99 * process["walks"] > 0,
      f"{process['complete']} of {process['walks']} walks are complete")
check(process["checked"] > 0 and process["different"] == 0,
      f"{process['checked']} walks made twice, {process['different']} differ")

contexts = folded(path)
total = sum(weight for _, weight in contexts)
for function, caller in (("burn_in_init", "_init"), ("burn_in_fini", "_fini"),
                         ("burn_in_shared_init", "_init"), ("burn_in_shared_fini", "_fini")):
    seen = [(frames, weight) for frames, weight in contexts if function in frames]
    weight = sum(weight for _, weight in seen)
    check(weight > 0.1 * total, f"{function}: {100 * weight / total:.1f} % of the time")
    check(all(caller in frames[:frames.index(function)] for frames, _ in seen),
          f"{function} is called by {caller}")
    check(all(frames[1] == "_start" and frames.index(caller) >= 4 for frames, _ in seen),
          f"{function}: from _start on, {caller} is called by the C library or the dynamic linker: "
          + "; ".join({" ".join(frames[1:]) for frames, _ in seen[:1]}))
finish()
