# SPDX-License-Identifier: LGPL-3.0-or-later
"""Recursion 10,000 deep is walked whole, direct and mutual; what is deeper than the limit says so."""

from support import check, finish, folded, record, report, scratch, target

LIMIT = 16384

# Until unwind tables are there, stacks go as copies, and these are too short for such a recursion.
FORGIVEN, SHORT = 60, "[stack copy too short]"

for kind, names in (("direct", {"direct"}), ("mutual", {"ping", "pong"})):
    path = scratch(f"{kind}.pb.gz")
    result = record([target("deep"), "10000", "2", kind], path, "--rate", "1000")
    check(result.status == 0, f"{kind}: ended with status 0")
    process = report(path)["processes"][0]
    check(process["complete"] + min(process["short_copy"], FORGIVEN) >= 0.99 * process["walks"] > 0,
          f"{kind}: {process['complete']} of {process['walks']} walks are complete")
    total = sum(weight for frames, weight in folded(path) if SHORT not in frames)
    bottom = sum(weight for frames, weight in folded(path)
                 if sum(name in names for name in frames) == 10001 and "burn" in frames)
    check(bottom >= 0.95 * total, f"{kind}: {100 * bottom / total:.2f} % of the time is in a context "
                                  "with 10,001 frames of the recursion")
    # a walk of so many frames may have to be paid for by ticks without one, where memory is slow
    check(process["lost"] <= 6 * process["walks"],
          f"{kind}: {process['lost']} ticks without a walk, {process['walks']} with one")

path = scratch("deeper.pb.gz")
result = record([target("deep"), "40000", "2"], path, "--rate", "100")
process = report(path)["processes"][0]
check(result.status == 0, "deeper than the limit: ended with status 0")
marked = [(frames, weight) for frames, weight in folded(path)
          if "[deeper than the frame limit]" in frames]
total = sum(weight for frames, weight in folded(path) if SHORT not in frames)
check(sum(weight for _, weight in marked) >= 0.9 * total, "deeper than the limit: the mark stands there")
check(all(sum(name == "direct" for name in frames) <= LIMIT for frames, _ in marked),
      f"deeper than the limit: no context has more than {LIMIT} frames")
finish()
