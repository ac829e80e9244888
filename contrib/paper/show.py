# SPDX-License-Identifier: LGPL-3.0-or-later
"""show.py - the tables of sizes and accuracy, in the papers' order, the papers' figures beside."""

import accuracy
import published
import tables
from tables import count, percent, power


def of_key(dictionary, key):
    """The eval of (process, eval) pairs, or of evals alone; None where it was not measured."""
    found = dictionary.get(key)
    return found[1] if isinstance(found, tuple) else found


def grid(out, name, heads, studies, keys, values, text):
    """A column for each program, a row for each key. values(study, key): what goes into the TSV
    file, one line for each cell, or None; text(values): the cell."""
    long, rows = [], []
    for key, label in keys:
        cells = []
        for study in studies:
            found = values(study, key)
            cells.append("-" if found is None else text(*found))
            if found is not None:
                long.append([label, study.name, *found])
        rows.append([label, *cells])
    out.write(name, ["", "program", *heads], long)
    out.text(["", *(study.name for study in studies)], rows)


def phis(studies):
    return [(phi, "phi = " + power(phi)) for phi in accuracy.PHIS
            if any(phi in study.by_phi for study in studies)]


def table_1(out, studies, like):
    out.title("Table I: size of call graph and calling context tree")
    rows = [[s.name, s.exact.routines, s.exact.call_sites, s.exact.process["contexts"], s.calls,
             like[s.name]] for s in studies]
    out.table("table-1", ["ours", "call graph", "call sites", "CCT", "calls", "like"], rows,
              lambda row: [row[0], *map(count, row[1:])])
    out.table("table-1-paper", ["paper [1]", "call graph", "call sites", "CCT", "calls"],
              [list(row) for row in published.TABLE_1],
              lambda row: [row[0], *map(count, row[1:])])
    out.note("OOM: out of memory (32 bits, 4 GB). calls: the paper's \"call tree\".")


def exact_nodes(study):
    """Of the exact tree, as hcct eval counts them."""
    return next((answer["tree"]["exact_nodes"] for answer in study.by_phi.values()), None)


def table_2(out, studies):
    out.title("Table II: nodes of the HCCT by phi")
    known = [phi for phi, _ in phis(studies)]
    rows = [[s.name, *(s.by_phi[p]["tree"]["exact_hot_nodes"] if p in s.by_phi else None
                       for p in known), exact_nodes(s)] for s in studies]
    show = lambda row: [row[0], *("-" if n is None else count(n) for n in row[1:])]  # noqa: E731
    out.table("table-2", ["ours", *map(power, known), "CCT"], rows, show)
    out.table("table-2-paper", ["paper [1]", *map(power, published.TABLE_2_PHI), "CCT"],
              [[name, *nodes, cct] for name, nodes, cct in published.TABLE_2], show)
    out.note(f"-: a hot context would be less than {accuracy.FEWEST} calls.")


def figure_4(out, studies, summaries):
    out.title("Figure 4: contexts kept by the summaries, of all contexts (epsilon = phi / 5)")
    out.paper(published.FIGURE_4)
    keys = [((summary, phi), f"{summary}, {text}") for summary in summaries
            for phi, text in phis(studies) if any((summary, phi) in s.summary for s in studies)]

    def values(study, key):
        if key not in study.summary:
            return None
        process, whole = study.summary[key][0], study.exact.process
        return (process["contexts"], process["contexts"] / whole["contexts"],
                process["bytes"], process["bytes"] / whole["bytes"])

    grid(out, "figure-4", ["contexts", "of all", "bytes", "of all"], studies, keys, values,
         lambda contexts, share, size, part: f"{count(contexts)} = {percent(share)}")
    out.note("a small CCT fits into the 1 / epsilon counters whole: 100 % there is no loss.")


def figure_5(out, studies, lazy):
    out.title("Figure 5: bytes of the tree, of the exact tree's (bursts of 0.2 ms every 2 ms)")
    out.paper(published.FIGURE_5)
    burst = accuracy.BURSTS[0]
    keys = [(("bursts", burst, "exact"), "static bursting alone"),
            (("summary", lazy, accuracy.PHI), lazy),
            (("bursts", burst, lazy), f"{lazy} and bursting")]

    def values(study, key):
        found = getattr(study, key[0]).get(key[1:])
        if found is None:
            return None
        return found[0]["bytes"], found[0]["bytes"] / study.exact.process["bytes"]

    grid(out, "figure-5", ["bytes", "of the exact tree"], studies, keys, values,
         lambda size, share: f"{tables.size(size)} = {percent(share, 1)}")


def figures_7_and_8(out, studies):
    out.title("Figure 7: overlap of the exact HCCT, and the least tau with all hot edges covered")
    out.paper(published.FIGURE_7)
    grid(out, "figure-7", ["overlap", "least tau"], studies, phis(studies),
         lambda s, phi: (s.by_phi[phi]["overlap"], accuracy.least_full_coverage(s.by_phi[phi]))
         if phi in s.by_phi else None,
         lambda overlap, tau: f"{percent(overlap, 1)}, {'above 1' if tau is None else tau}")
    taus = sorted(accuracy.TAUS)
    out.note(f"tau of {', '.join(map(str, taus))} were tried.")
    out.title("Figure 8: hotness of contexts that are not in the tree, of the hottest one's count")
    out.paper(published.FIGURE_8)
    grid(out, "figure-8", ["largest", "average"], studies, phis(studies),
         lambda s, phi: (s.by_phi[phi]["uncovered"]["max"], s.by_phi[phi]["uncovered"]["average"])
         if phi in s.by_phi else None,
         lambda most, average: f"max {percent(most)}, avg {percent(average, 4)}")


def at_phi(summaries):
    return [((summary, accuracy.PHI), summary) for summary in summaries]


def figure_9(out, studies, summaries):
    out.title("Figure 9: nodes of the (phi, epsilon)-HCCT, phi = 1e-4, epsilon = phi / 5")
    out.paper(published.FIGURE_9)

    def values(study, key):
        answer = of_key(study.summary, key)
        tree = answer["tree"] if answer else None
        if not tree or not tree["nodes"]:
            return None
        return (tree["nodes"], *(tree[kind] / tree["nodes"]
                                 for kind in ("cold", "hot", "false_positives")))

    grid(out, "figure-9", ["nodes", "cold", "hot", "false positives"], studies, at_phi(summaries),
         values, lambda nodes, *shares: f"{nodes}: " + " ".join(percent(s, 1)[:-2] for s in shares))
    out.note("each cell: nodes of the tree: per cent cold, hot, false positives.")


def figure_10(out, studies):
    out.title("Figure 10: false positives, of the tree's nodes, by epsilon (phi = 1e-4)")
    out.paper(published.FIGURE_10)

    def values(study, parts):
        answer = of_key(study.by_epsilon, parts)
        tree = answer["tree"] if answer else None
        return (tree["false_positives"] / tree["nodes"],) if tree and tree["nodes"] else None

    keys = [(parts, f"phi / epsilon = {parts}") for parts in accuracy.EPSILON_PARTS]
    grid(out, "figure-10", ["false positives"], studies, keys, values, percent)


def error_of(answer, name="hot_error"):
    error = answer[name] if answer else {}
    return (error["average"], error["max"]) if "max" in error else None


def figure_11(out, studies, summaries):
    out.title("Figure 11: error of the counts of hot contexts (phi = 1e-4, epsilon = phi / 5)")
    out.paper(published.FIGURE_11)
    grid(out, "figure-11", ["average", "largest"], studies, at_phi(summaries),
         lambda s, key: error_of(of_key(s.summary, key)),
         lambda average, most: f"avg {percent(average)}, max {percent(most)}")
    broken = sum(of_key(s.summary, key).get("out_of_bounds", 0) for s in studies
                 for key, _ in at_phi(summaries) if key in s.summary)
    missed = sum(of_key(s.summary, key)["hot"]["false_negatives"] for s in studies
                 for key, _ in at_phi(summaries) if key in s.summary)
    out.note(f"counts outside of their bounds: {broken}; hot contexts missed: {missed}")


def figure_12(out, studies, lazy):
    out.title("Figure 12: bursts (length / period), the tree held against the exact one")
    out.paper(published.FIGURE_12)
    keys = [((burst, summary), f"{burst}, {summary}") for burst in accuracy.BURSTS
            for summary in ("exact", lazy) if any((burst, summary) in s.bursts for s in studies)]

    def values(study, key):
        if key not in study.bursts:
            return None
        process, answer = study.bursts[key]
        error, seen = error_of(answer), process["total"] / study.calls
        return (process.get("bursts", 0), seen, error[0] if error else None,
                answer["overlap"], accuracy.least_full_coverage(answer),
                answer["hot"]["false_negatives"], answer["hot"]["contexts"])

    grid(out, "figure-12",
         ["bursts", "calls seen", "average error of hot contexts", "overlap", "least tau",
          "false negatives", "hot contexts"], studies, keys, values,
         lambda bursts, seen, error, overlap, tau, missed, hot:
         f"{bursts}, {percent(seen, 0)}: {percent(error, 1)}, {tau or 'none'}")
    out.note("""\
each cell: bursts, calls that were seen: average error of hot contexts, least tau with
all hot edges covered. More in the TSV file. Few bursts, large errors.
A burst begins with a walk of the stack, which has no frames for functions that were compiled into
their callers; which of them are open at a place in the code is learned as the program goes, and
contexts from places that were never met before lack them.""")


def report_figures(out, studies):
    out.title("[2], figures 1 to 5: trees of one call in N, held against the exact one")
    out.paper(published.REPORT)
    keys = [((interval, credit), f"every {interval}, {credit}")
            for interval in sorted(accuracy.INTERVALS) for credit in ("last", "new")
            if any((interval, credit) in s.sampled for s in studies)]

    def values(study, key):
        if key not in study.sampled:
            return None
        process, answer = study.sampled[key]
        error = error_of(answer)
        return answer["overlap_shares"], error[0] if error else None, process["total"]

    grid(out, "sampled", ["overlap", "average error of hot contexts", "weight"], studies, keys,
         values, lambda overlap, error, total: f"{percent(overlap, 1)}, {percent(error, 0)}")
    out.note("each cell: overlap (the sum over all contexts of the smaller of their two shares of\n"
             "the calls), average error of contexts with phi >= 1e-4. last, new: which edges gain.")


def show(out, studies, summaries, like):
    table_1(out, studies, like)
    table_2(out, studies)
    figure_4(out, studies, summaries)
    figure_5(out, studies, summaries[0])
    figures_7_and_8(out, studies)
    figure_9(out, studies, summaries)
    figure_10(out, studies)
    figure_11(out, studies, summaries)
    figure_12(out, studies, summaries[0])
    report_figures(out, studies)
