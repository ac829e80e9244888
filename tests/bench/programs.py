# SPDX-License-Identifier: LGPL-3.0-or-later
"""programs.py - what the benchmarks profile: programs of the distribution, and one of our own.

Each takes about a second of one processor: long enough for some hundred walks at the lowest rates,
short enough for many rounds.
"""

import os
import random
import shutil
import sys

import workloads
from support import BUILD, scratch

SQL = """create table item(id integer primary key, name text, price real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 290000)
insert into item select i, 'item' || (i * 7919 % 10007), i % 9973 / 7.0 from n;
create index item_name on item(name);
select count(*), sum(price) from item where name like '%37%';
select name, count(*), max(price) from item group by name order by 3 desc, 1 limit 5;
"""


class Program:
    """A command, and the file that it reads on its standard input."""

    def __init__(self, name, command, stdin=os.devnull):
        self.name, self.command, self.stdin = name, command, stdin


def prose(lines):
    """Text that compresses neither well nor badly."""
    dice = random.Random(1)
    words = ["".join(dice.choices("etaoinshrdlu", k=dice.randrange(2, 9))) for _ in range(3000)]
    return "".join(" ".join(dice.choices(words, k=10)) + "\n" for _ in range(lines))


def written(name, text):
    return workloads.write(scratch, name, text)


def cc1(path):
    """The compiler proper, without the driver that would start it."""
    return Program("cc1", [path, "-quiet", "-O2", "-o", "/dev/null", "-"],
                   written("code.c", workloads.c_source(72)))


def python3(path):
    return Program("python3", [path, written("work.py", workloads.PYTHON)])


def sqlite3(path):
    return Program("sqlite3", [path, ":memory:"], written("work.sql", SQL))


def gnugo(path):
    """Its own moves, five of them: deep recursion, and the most contexts."""
    return Program("gnugo", [path, "--mode", "ascii", "--seed", "1", "--benchmark", "5", "--level",
                             "10"])


def xz(path):
    return Program("xz", [path, "-T1", "-6", "-c"], written("prose", prose(24000)))


def recursive(path):
    return Program("recursive", [path])


def built(name):
    path = os.path.join(BUILD, "tests", "bench", name)
    return path if os.access(path, os.X_OK) else None


def distribution_python():
    """The distribution's, and not one of the user's own in its place; else what runs this."""
    return shutil.which("python3", path="/usr/bin") or os.path.realpath(sys.executable)


KNOWN = [
    (cc1, workloads.cc1), (python3, distribution_python),
    (sqlite3, lambda: shutil.which("sqlite3")), (gnugo, workloads.gnugo),
    (xz, lambda: shutil.which("xz")), (recursive, lambda: built("recursive")),
]
NAMES = [make.__name__ for make, _ in KNOWN]


def programs(names):
    """Those of `names` that are there; says which are not."""
    for make, find in KNOWN:
        if make.__name__ not in names:
            continue
        path = find()
        if path is None:
            print(f"left out: {make.__name__} is not there")
        else:
            yield make(path)
