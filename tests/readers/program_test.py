# SPDX-License-Identifier: LGPL-3.0-or-later
"""program_test.py - from real programs to the readers: record, then report in their formats, with
names and weights the same on the way."""

import json
import subprocess

import contexts
import firefox
from npm import HCCT, check, chromium, finish, run_node, scratch, target


def record():
    """Two C++ programs and the shell that starts them: templates, inlined functions, recursion."""
    path = scratch("program.pb.gz")
    both = f"'{target('names')}' & '{target('oracle_cxx')}' 3; wait"
    done = subprocess.run([HCCT, "record", "-o", path, "--", "sh", "-c", both],
                          capture_output=True, text=True, timeout=120)
    check(done.returncode == 0, f"hcct record: {done.stderr.strip()[-300:]}")
    return path


def report(profile, suffix):
    path = scratch("program" + suffix)
    done = subprocess.run([HCCT, "report", "-o", path, profile], capture_output=True, text=True)
    check(done.returncode == 0, f"hcct report to {suffix}: {done.stderr}")
    with open(path, encoding="utf-8") as file:
        return path, json.load(file)


def check_speedscope(recorded, want):
    path, profile = report(recorded, ".speedscope.json")
    check(run_node("schema.js", path) == [], "speedscope's schema holds")
    seen = run_node("speedscope_viewer.js", path)[0]
    check(seen["complaints"] == [], f"the viewer complains of nothing {seen['complaints']}")
    check(contexts.of_speedscope(seen["exported"]) == want, f"speedscope has all {sum(map(len, want))} contexts and their weights")
    check(profile["exporter"].startswith("hcct "), "the exporter is named")


def check_firefox(recorded, want):
    path, _ = report(recorded, ".firefox.json")
    with firefox.Session(path) as session:
        trees = [contexts.of_tree(session.tree(thread)) for thread in session.threads()]
    got = contexts.heaviest_first(trees)
    expected = [contexts.cut(contexts.scaled(part, 1e-6), firefox.DEPTH) for part in want]
    check([set(part) for part in got] == [set(part) for part in expected],
          "the Firefox Profiler has the same contexts")
    check(all(abs(part[path] - other[path]) <= 1e-9 * other[path]
              for part, other in zip(got, expected) for path in other), "and their weights")


chromium()
recorded = record()
want = contexts.of_json(report(recorded, ".json")[1])
check(len(want) >= 2, f"{len(want)} programs were seen at work")
check(any("(" in frame and "<" in frame for part in want for path in part for frame in path),
      "their names are those of templates")
check_speedscope(recorded, want)
check_firefox(recorded, want)
finish()
