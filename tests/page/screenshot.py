# SPDX-License-Identifier: LGPL-3.0-or-later
"""screenshot.py OUT PROFILE: pictures of the HTML page for the documentation: page.png and
page-dark.png of the profile, diff.png of two runs of sqlite3, in the directory OUT. No test; run it
with HCCT_BUILDDIR set."""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "readers"))
from npm import HCCT, check, chromium, finish, modules, run_node, scratch, skip  # noqa: E402
from support import need  # noqa: E402

SQL = """CREATE TABLE t(a INTEGER, b TEXT, c REAL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900000)
INSERT INTO t SELECT (i * 7919) % 1000003, hex(i * 31), sqrt(i) FROM n;
-- index
SELECT b, count(*), sum(c) FROM t GROUP BY substr(b, 1, 5) ORDER BY 3 DESC LIMIT 5;
SELECT count(*) FROM t x JOIN t y ON x.a = y.a + 1 WHERE x.b LIKE '%33%';
"""


def record(name, index):
    path = scratch(name)
    script = scratch("run.sql")
    with open(script, "w") as out:
        out.write(SQL.replace("-- index", index))
    subprocess.run([HCCT, "record", "--no-report", "-o", path, "--", "sqlite3", ":memory:", f".read {script}"],
                   check=True, stdout=subprocess.DEVNULL)
    return path


def main():
    if len(sys.argv) != 3:
        skip("usage: screenshot.py OUT PROFILE")
    need("sqlite3")
    modules()
    before, after = record("before.pb.gz", ""), record("after.pb.gz", "CREATE INDEX ta ON t(a);")
    page, diff = scratch("page.html"), scratch("diff.html")
    subprocess.run([HCCT, "report", sys.argv[2], "-o", page], check=True)
    subprocess.run([HCCT, "diff", "-o", diff, before, after], check=True)
    run_node(os.path.join(HERE, "screenshot.js"), chromium(), page, diff, sys.argv[1])
    for name in ("page", "page-dark", "diff"):
        path = os.path.join(sys.argv[1], f"{name}.png")
        check(os.path.getsize(path) < 200000, f"{path} is small")
    finish()


main()
