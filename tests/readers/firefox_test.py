# SPDX-License-Identifier: LGPL-3.0-or-later
"""firefox_test.py - does the Firefox Profiler take our files, with all names and all of the weight?
"""

import json

import contexts
import firefox
from npm import check, finish, sample_total, scratch, write_sample

SCALE = {"nanoseconds": 1e-6, "count": 1}  # of the viewer's unit


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def is_near(a, b):
    """Equal, but for what adding doubles up in another order makes of it."""
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b))


def check_columns(name, profile):
    """Each column of a table is as long as the table says."""
    tables = [table for table in profile["shared"].values() if isinstance(table, dict)]
    for thread in profile["threads"]:
        tables += [thread["samples"], thread["markers"]]
    check(all(len(column) == table["length"] for table in tables for column in table.values()
              if isinstance(column, list)), f"{name}: columns are as long as their tables")


def check_weights(name, got, want):
    """Contexts of one thread: all paths, with their weights."""
    check(set(got) == set(want), f"{name}: all {len(want)} contexts are there, name by name "
          f"{list(set(got) ^ set(want))[:2]}")
    check(all(is_near(got[path], want[path]) for path in want), f"{name}: their weights are right")
    check(is_near(got.total(), want.total()), f"{name}: they are {got.total()} together")


def check_sample(sample):
    ours = read(write_sample(sample, "json", scratch(sample + ".json")))
    path = write_sample(sample, "firefox", scratch(sample + ".firefox.json"))
    profile = read(path)
    check_columns(sample, profile)
    scale = SCALE[ours["unit"]]
    weights = [weight for thread in profile["threads"] for weight in thread["samples"]["weight"]]
    check(round(sum(weights) / scale) == sample_total(sample), f"{sample}: the weights make up N")
    want = [contexts.cut(contexts.scaled(part, scale), firefox.DEPTH)
            for part in contexts.of_json(ours)]
    with firefox.Session(path) as session:
        threads = session.threads()
        check(len(threads) == len(ours["processes"]), f"{sample}: each process is a thread")
        trees = [contexts.of_tree(session.tree(thread)) for thread in threads]
        for got, expected in zip(contexts.heaviest_first(trees), want, strict=True):
            check_weights(sample, got, expected)
        return profile, session.functions(threads[0]), session.ask("profile", "meta")


def check_shell():
    profile, functions, meta = check_sample("shell")
    shared, strings = profile["shared"], profile["shared"]["stringArray"]
    by_name = {function["name"]: function for function in functions}
    check(by_name["sqlite3VdbeExec"]["library"] == "libsqlite3.so.0", "functions have a library")
    check(is_near(by_name["sqlite3VdbeExec"]["selfSamples"], 3412) and
          is_near(by_name["sqlite3VdbeExec"]["totalSamples"], 7860), "and their weights in ms")
    frames, names = shared["frameTable"], shared["funcTable"]["name"]
    inlined = {strings[names[frames["func"][i]]] for i in range(frames["length"])
               if frames["inlineDepth"][i] > 0}
    check(inlined == {"sqlite3VdbeSerialGet"}, f"what was inlined is known: {inlined}")
    lines = {line for i, line in enumerate(frames["line"])
             if strings[names[frames["func"][i]]] == "shell_exec"}
    check(lines == {18020, 18100}, f"call sites have their lines: {lines}")
    check(all(len(lib["codeId"]) == 40 and len(lib["breakpadId"]) == 33 for lib in profile["libs"]),
          "libraries have their build ids")
    check("larger by at most 12.0 ms (self)" in json.dumps(meta), "the error bound is shown")


check_shell()
for name in ("build", "names", "hard", "calls"):
    check_sample(name)
finish()
