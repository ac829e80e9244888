# SPDX-License-Identifier: LGPL-3.0-or-later
"""Readers that are not ours take the files: with all of the weight, and each name as it is.

Each tool that is not installed is left out; when none is there, the test is skipped.
"""

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "e2e"), HERE]
import otlp_rules  # noqa: E402
import prototext  # noqa: E402
import readers  # noqa: E402
from support import BUILD, check, finish, scratch, skip  # noqa: E402

WRITE_SAMPLE = os.path.join(BUILD, "tests", "report", "write_sample")
PROTO = os.path.join(HERE, "..", "..", "common", "render", "profile.proto")
OTLP_PROTO = os.path.join(HERE, "..", "..", "common", "render", "otlp.proto")
SAMPLES = ("shell", "build", "names", "calls", "bursts", "hard")
# The names of sample_hard.c, whose self weights are 1000 and one more for each.
HARD = ["say \"hello\" \\ bye", "a name with spaces 12", "semi;colon;s", "it's", "C:\\new\\Node\\",
        "<alloc::vec::Vec<[u8; 16]> as core::iter::Extend<T>>::extend",
        "<alloc::vec::Vec<T> as core::ops::Drop>::drop", "operator()(int) const::{lambda(int)#1}",
        "bool operator<=><int>(int, int)",
        "std::vector<int, std::allocator<int> >::operator[](unsigned long)",
        "operator new[](unsigned long)", "T&& f<T&>(T&&)", "a&lt;b &amp; c",
        "(anonymous namespace)::f(int)", "(3) not a number", "#hash", "$dollar %s %d", "fn=(3)",
        "-5 7", "* 12", "+3 4 5", "calls=1 2", "f'2", "{ a -> b; }", "naïve_größe",
        "日本語の関数"]
WEIGHTS = {name: 1000 + i for i, name in enumerate(HARD)}
WEIGHTS["it's"] += 3000  # of the other process
WEIGHTS |= {"x" * 480: 2000, "after nothing": 2001, "after twice": 2002, "leaf": 2003, "[~]": 2004,
            "main": 3001, "descend": 5000, "bottom": 7000}
INCLUSIVE = {"main": 54336, "twice": 2002, "inner": 2003, "innermost": 2003, "outer": 2003,
             "descend": 12000, "descend'2": 12000, "descend'134": 12000, "[truncated]": 3001}
used = set()


def write(sample, form):
    path = scratch(f"{sample}.{form}")
    with open(path, "wb") as out:
        subprocess.run([WRITE_SAMPLE, sample, form], stdout=out, check=True)
    return path


TOTALS = {sample: int(open(write(sample, "total")).read()) for sample in SAMPLES}


def check_total(tool, sample, total):
    used.add(tool)
    check(total == TOTALS[sample], f"{tool}, {sample}: {total} is N ({TOTALS[sample]})")


def check_weights(tool, weights, want, renamed=lambda name: name):
    missing = {name: weights.get(renamed(name)) for name, weight in want.items()
               if weights.get(renamed(name)) != weight}
    check(not missing, f"{tool}: all {len(want)} names have their weights; not so: {missing}")


def test_pprof():
    for sample in SAMPLES:
        path = write(sample, "pprof")
        total, error = readers.pprof_raw(path)
        check_total("pprof -raw", sample, total)
        total, weights = readers.pprof_top(path)
        check_total("pprof -top", sample, total)
        check(sum(weights.values()) == total, f"the rows of pprof -top, {sample}, add up to N")
        kind = "cpu_error" if sample in ("shell", "build", "hard") else "calls_error"
        got, _ = readers.pprof_top(path, "-sample_index=" + kind)
        check(got == error, f"pprof -sample_index={kind}, {sample}: {got} is the sum of errors")
        traces = readers.pprof_traces(path)
        check_total("pprof -traces", sample, sum(weight for weight, _ in traces))
        got, weights = readers.pprof_top(path, "-base=" + path)
        check(not any(weights.values()), f"pprof -base, {sample}: nothing differs from itself")


def test_pprof_names():
    path = write("hard", "pprof")
    check_weights("pprof -top", readers.pprof_top(path)[1], WEIGHTS)
    leaves = [name for _, name in readers.pprof_traces(path)]
    check(set(HARD) <= set(leaves), f"pprof -traces has all names: {set(HARD) - set(leaves)}")
    for name in HARD:
        out = readers.pprof(path, "-unit=ns", "-peek=^" + re.sub(r"([^\w ])", r"\\\1", name) + "$")
        check(f"| {name}\n" in out and f"{WEIGHTS[name]}ns" in out, f"pprof -peek finds {name}")
    out = readers.pprof(path, "-tags")
    check(': my "app"; v2' in out and ": \\n" in out, "pprof -tags has the processes")


def test_pprof_habits():
    shell, build = write("shell", "pprof"), write("build", "pprof")
    out = readers.pprof(shell, "-top", "-trim=false")
    check("sqlite3VdbeSerialGet (inline)" in out, "pprof -top: a function that was inlined")
    check("File: sqlite3\n" in out, "pprof: the program")
    check("hcct: profile 2 phi=0.01 epsilon=0.002" in out, "pprof -top begins with the parameters")
    check("hcct: process 1 command=sqlite3 exe=/usr/bin/sqlite3" in
          readers.pprof(shell, "-comments"), "pprof -comments: the process")
    check("sqlite3BtreeIndexMoveto" in readers.pprof(shell, "-peek=sqlite3VdbeExec$"),
          "pprof -peek: a callee")
    out = readers.pprof(build, "-tags")
    check(": cc1" in out and ": 4711" in out, "pprof -tags: processes and their numbers")
    check("md_assemble" in readers.pprof(build, "-tagfocus=process=as", "-top"),
          "pprof -tagfocus: one process")
    check("日本語の関数" in readers.pprof(write("names", "pprof"), "-raw"), "pprof -raw: UTF-8")


def test_protoc():
    for sample in SAMPLES:
        total, weights = readers.protoc(write(sample, "pprof"), PROTO)
        check_total("protoc", sample, total)
    check_weights("protoc", weights, WEIGHTS)


def otlp_weights(data):
    """By type: the sums by name of the innermost function."""
    tables = data["dictionary"][0]
    strings = [text.decode() for text in tables["string_table"]]

    def number(message, name):
        return message.get(name, [0])[0]

    def leaf(sample):
        stack = tables["stack_table"][number(sample, "stack_index")]
        line = tables["location_table"][stack["location_indices"][0]]["lines"][0]
        return strings[number(tables["function_table"][number(line, "function_index")],
                              "name_strindex")]

    found = {}
    for resource in data["resource_profiles"]:
        for profile in resource["scope_profiles"][0]["profiles"]:
            kind = strings[number(profile["sample_type"][0], "type_strindex")]
            weights = found.setdefault(kind, {})
            for sample in profile.get("samples", []):
                weights[leaf(sample)] = weights.get(leaf(sample), 0) + number(sample, "values")
    return found


def test_otlp():
    for sample in SAMPLES:
        with open(write(sample, "otlp"), "rb") as file:
            data = prototext.decode(file.read(), OTLP_PROTO, "otlp.ProfilesData")
        wrong = otlp_rules.broken_rules(data)
        check(not wrong, f"otlp, {sample}: OpenTelemetry's rules hold {wrong[:5]}")
        found = otlp_weights(data)
        kind = "cpu" if sample in ("shell", "build", "hard") else "calls"
        check_total("protoc, otlp", sample, sum(found[kind].values()))
        if readers.have_pprof():
            _, error = readers.pprof_raw(write(sample, "pprof"))
            check(sum(found[kind + "_error"].values()) == error,
                  f"otlp, {sample}: errors are a profile of their own")
    check_weights("protoc, otlp", found[kind], WEIGHTS)


def test_json():
    for sample in SAMPLES:
        with open(write(sample, "json"), encoding="utf-8") as file:
            profile = readers.json.load(file)
        check_total("Python's json", sample, sum(node["count"] for node in profile["nodes"]))
    check_weights("Python's json",
                  readers.add_up((node.get("function"), node["count"])
                                 for node in profile["nodes"]),
                  WEIGHTS)


def test_callgrind():
    for sample in SAMPLES:
        path = write(sample, "callgrind")
        total, weights = readers.callgrind_self(path)
        check_total("callgrind_annotate", sample, total)
        check(sum(weights.values()) == total, f"the rows of callgrind, {sample}, add up to N")
        total, weights = readers.callgrind_inclusive(path)
        check_total("callgrind_annotate --inclusive=yes", sample, total)
        most = max(weights.values())
        check(most == total, f"callgrind, {sample}: no function has more than N: {most}")
    check_weights("callgrind_annotate", readers.callgrind_self(path)[1], WEIGHTS)
    check_weights("callgrind_annotate --inclusive=yes", weights, INCLUSIVE)


def folded_name(name):
    """As flamegraph.pl shows what was written as we say it."""
    name = re.sub(r"[ ]([\d.]+)$", r"_\1", name.replace(";", ":"))
    return name.replace("<", "(").replace(">", ")")


def test_flamegraph():
    for sample in SAMPLES:
        total, weights = readers.flamegraph(write(sample, "folded"))
        check_total("flamegraph.pl", sample, total)
    leaves = {name: weight for name, weight in WEIGHTS.items() if name not in ("main", "descend")}
    check_weights("flamegraph.pl", weights, leaves, folded_name)


def test_dot():
    for sample in SAMPLES:
        total, hidden, weights = readers.dot(write(sample, "dot"))
        check_total("dot", sample, total)
        check(sum(weights.values()) + hidden == total, f"the boxes of dot, {sample}, and what the "
              "legend says is in none add up to N")
    drawn = {name: weight for name, weight in WEIGHTS.items() if name != "[~]"}
    check(hidden == WEIGHTS["[~]"], "dot draws all but the pruned contexts")
    check_weights("dot", weights, drawn)
    texts, tooltips = readers.dot_svg(scratch("hard.dot"))
    tooltips += [line.replace("\\\\", "\\") for line in tooltips]  # graphviz may unescape once only
    missing = [name for name in drawn if name not in tooltips]
    check(not missing, f"tooltips of dot -Tsvg have all names; missing: {missing}")
    words = "".join(texts)
    missing = [name for name in HARD if name.replace(" ", "") not in
               re.sub(r"[ \xa0]", "", words)]
    check(not missing, f"the picture has all names; missing: {missing}")


def test_text():
    """No reader, but people: names are there as they are."""
    with open(write("hard", "text"), encoding="utf-8") as file:
        text = file.read()
    missing = [name for name in WEIGHTS if name not in text]
    check(not missing, f"the text report has all names; missing: {missing}")
    check("2 processes: 54.3 us of CPU time" in text, "the text report has N")


test_text()
test_json()
if readers.have_pprof():
    test_pprof()
    test_pprof_names()
    test_pprof_habits()
if readers.shutil.which("protoc"):
    test_protoc()
    test_otlp()
if readers.shutil.which("callgrind_annotate"):
    test_callgrind()
if readers.flamegraph_tool():
    test_flamegraph()
if readers.shutil.which("dot"):
    test_dot()
if used == {"Python's json"}:
    skip("no reader is installed")
print("read by " + ", ".join(sorted(used)))
finish()
