# SPDX-License-Identifier: LGPL-3.0-or-later
"""Real programs through all readers of others: what they say of each function is what JSON says."""

import os
import re
import shutil
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "report"))
import readers  # noqa: E402
from support import HCCT, check, finish, record, report, run, scratch, target  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
PROTO = os.path.join(HERE, "..", "..", "common", "render", "profile.proto")
SQL = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 300000) " \
      "select count(*), group_concat(i % 7) like '%8%' from n order by random();"


def own_weights(path):
    profile = report(path, "--cut", "0")
    return sum(node["count"] for node in profile["nodes"]), readers.add_up(
        (node.get("function"), node["count"]) for node in profile["nodes"] if node["count"])


def written(path, suffix):
    """As people name files: the suffix says the format."""
    out = scratch("profile" + suffix)
    result = run([HCCT, "report", "--cut", "0", "-o", out, path])
    check(result.status == 0, f"hcct report -o {os.path.basename(out)}")
    return out


def same(what, got, total, weights, renamed=lambda name: name):
    """What is pruned may be apart; all else must be told by its name."""
    if got is None:
        print(f"skipped: {what}: the reader is not installed")
        return
    check(got[0] == total, f"{what}: N is {got[0]} ({total})")
    wrong = {name: (weight, got[-1].get(renamed(name))) for name, weight in weights.items()
             if got[-1].get(renamed(name)) != weight}
    check(not wrong, f"{what}: {len(weights)} functions have their weights; not so: {wrong}")


def through_readers(program, path):
    total, weights = own_weights(path)
    check(total > 0 and len(weights) > 3, f"{program}: {len(weights)} functions")
    if readers.have_pprof():
        check(readers.pprof_raw(path)[0] == total, f"{program}, pprof -raw: N")
    same(f"{program}, pprof -top", readers.pprof_top(path), total, weights)
    same(f"{program}, protoc", readers.protoc(path, PROTO), total, weights)
    callgrind = written(path, ".callgrind")
    same(f"{program}, callgrind_annotate", readers.callgrind_self(callgrind), total, weights)
    inclusive = readers.callgrind_inclusive(callgrind)
    check(inclusive is None or max(inclusive[1].values()) == total,
          f"{program}, callgrind: nothing has more than N")
    drawn = {name: weight for name, weight in weights.items() if name != "[~]"}
    same(f"{program}, dot", readers.dot(written(path, ".dot")), total, drawn)
    flames = readers.flamegraph(written(path, ".folded"))
    check(flames is None or flames[0] == total, f"{program}, flamegraph.pl: N")
    if flames:
        shown = {re.sub(r" ([\d.]+)$", r"_\1", name.replace(";", ":")).translate(
            str.maketrans("<>", "()")) for name in weights}
        missing = shown - set(flames[1])
        check(not missing, f"{program}, flamegraph.pl has all names; missing: {missing}")
    return weights


def through_names(program, command, names):
    path = scratch("profile.pb.gz")
    result = record(command, path, "--no-report")
    check(result.status == 0, f"{program} runs: {result.err.decode()[-500:]}")
    weights = through_readers(program, path)
    for name in names:
        check(any(re.search(name, function) for function in weights if function),
              f"{program}: there is a function {name}")


through_names("C++", [target("names")], [
    r"^table<std::map<.*std::pair<int, double>.*::operator\[\]\(std::map<",
    r"^table<int \(\*\)\(char const\*, \.\.\.\)>::operator\(\)\(int \(\*\)\(char const\*, \.\.\.\)\)"
    r" const$", r"::operator<\(table<.*> const&\) const$", r"^main::\{lambda\(int\)#1\}::operator\(\)",
    r"^unsigned long \(anonymous namespace\)::variadic<.*&&", r"^recursive\(int\)"])
if shutil.which("rustc"):
    built = run(["rustc", "-O", "-g", "-o", scratch("names"), os.path.join(HERE, "names.rs")])
    check(built.status == 0, f"rustc: {built.err.decode()[-500:]}")
    through_names("Rust", [scratch("names")], [
        r"^<\[u8; 16\] as names::Work>::work$",
        r"^<names::Heap<.*> as core::ops::drop::Drop>::drop$",
        r"^<names::Heap<core::option::Option<T>> as names::Work>::work$",
        r"^names::main::\{.*closure.*\}"])
if shutil.which("sqlite3"):
    through_names("sqlite3", ["sqlite3", ":memory:", SQL], [r"[Ss]qlite3|\+0x"])
finish()
