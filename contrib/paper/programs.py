# SPDX-License-Identifier: LGPL-3.0-or-later
"""programs.py - what is profiled: how each program is built from its source, and what it is given
to do.

All of them do the same calls in every run: searches are limited by depth and never by time, random
numbers have a fixed seed. So a tree of one run can be held against that of another.

Commands of a build run in a copy of the source tree. {flags} is -O2 and what makes the build what
it is; the result is the file `binary` in that tree. `prepare` runs once, in the tree that all
builds are copied from.
"""

import os

CONFIGURE = "./configure -q --disable-dependency-tracking CC=gcc CXX=g++"
SEED = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"


class Program:
    """sizes: {"quick" or "full": (units of a run that is traced, units of a run that is timed)};
    a program without "quick" is left out of quick runs. deep: its contexts are some hundred calls
    deep, which makes profiles large and evaluations slow: no sizes and accuracy in quick runs, as
    long as there is another program. work(directory, units) makes the input
    files and gives (arguments, file for the standard input or None)."""

    def __init__(self, name, like, build, binary, sizes, work, package=None, prepare=(),
                 deep=False):
        self.name, self.like, self.package = name, like, package
        self.prepare, self.build, self.binary = prepare, build, binary
        self.sizes, self.work, self.deep = sizes, work, deep


def written(directory, name, text):
    path = os.path.join(directory, name)
    with open(path, "w") as out:
        out.write(text)
    return path


# ---- what they do ----


def gnugo_work(directory, moves):
    """Moves that it finds against itself."""
    return ["--mode", "ascii", "--seed", "1", "--level", "10", "--benchmark", str(moves)], None


def phalanx_work(directory, depth):
    """A game of chess against itself, so many half-moves ahead."""
    return (["-x-", "-o-", "-b-", "-l-", "-p-"],
            written(directory, f"chess-{depth}", f"depth {depth}\nboth\n"))


LUA = """
local units = tonumber(arg[1])

local function queens(n, row, columns, up, down)
    if row > n then return 1 end
    local found = 0
    for column = 1, n do
        if not columns[column] and not up[row + column] and not down[row - column] then
            columns[column], up[row + column], down[row - column] = true, true, true
            found = found + queens(n, row + 1, columns, up, down)
            columns[column], up[row + column], down[row - column] = nil, nil, nil
        end
    end
    return found
end

local function words(count)
    local seen, order = {}, {}
    for i = 1, count do
        local word = string.format("%x", i * 7919 % 10007):rep(2)
        if not seen[word] then order[#order + 1] = word end
        seen[word] = (seen[word] or 0) + i
    end
    table.sort(order, function(a, b) return seen[a] > seen[b] or (seen[a] == seen[b] and a < b) end)
    return table.concat(order, " ", 1, math.min(#order, 200))
end

local function grow(depth)
    return depth == 0 and depth or {grow(depth - 1), grow(depth - 1), depth}
end

local function leaves(tree)
    if type(tree) ~= "table" then coroutine.yield(tree) return end
    for _, branch in ipairs(tree) do leaves(branch) end
end

for unit = 1, units do
    local text = words(2000)
    local _, digits = text:gsub("%d+", function(number) return number + unit end)
    local sum = 0
    for leaf in coroutine.wrap(function() leaves(grow(8)) end) do sum = sum + leaf end
    print(unit, queens(6, 1, {}, {}, {}), #text, digits, sum, load("return " .. unit .. " + 1")())
end
"""


def lua_work(directory, units):
    """Recursion, tables, strings, closures, sorting, coroutines, so many times."""
    return [written(directory, "work.lua", LUA), str(units)], None


SQL = """CREATE TABLE item (id INTEGER PRIMARY KEY, kind INTEGER, name TEXT, price REAL);
INSERT INTO item WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
    SELECT i, i * 7919 % 1000, hex(i * 104729), i % 9973 / 7.0 FROM n;
CREATE INDEX item_kind ON item (kind, price);
SELECT kind, round(avg(price), 2) FROM item GROUP BY kind ORDER BY avg(price) DESC LIMIT 1;
SELECT count(*) FROM item a JOIN item b ON a.kind = b.kind AND b.price < a.price WHERE a.id < 10000;
SELECT name FROM (SELECT upper(name) || id AS name FROM item) ORDER BY name DESC LIMIT 1;
SELECT count(*) FROM item WHERE name LIKE '%37%';
DELETE FROM item WHERE id % 3 = 0;
UPDATE item SET name = replace(name, '3', 'three') WHERE kind < 200;
SELECT kind, group_concat(substr(name, 1, 2)) FROM item WHERE kind < 20 GROUP BY kind;
"""


def sqlite3_work(directory, rows):
    """Queries on a table of so many rows in memory."""
    return [":memory:"], written(directory, f"work-{rows}.sql", SQL.format(rows=rows))


def speedtest1_work(directory, size):
    """SQLite's own benchmark, of that size, in memory."""
    return ["--memdb", "--size", str(size)], None


C_FUNCTION = """struct r{n} {{ int id, weight[8]; struct r{n} *next; }};
static int f{n}(struct r{n} *at, const int *a, int n) {{
    int sum = {n};
    for (int i = 0; i < n; i++) {{
        switch ((a[i] ^ {n}) % 5) {{
        case 0: sum += a[i] * (at->id + ({n} << 2)) - at->weight[i & 7]; break;
        case 1: sum ^= (a[i] << 3) | (sum >> 2 & (at->next ? at->next->id : {n})); break;
        default: while (sum > i * {n} && sum) sum = sum / 2 - (i && at->weight[(i + 1) & 7]);
        }}
    }}
    return sum;
}}
"""


def tcc_work(directory, functions):
    """Compiles a C file of so many functions."""
    text = "".join(C_FUNCTION.format(n=n) for n in range(functions))
    return ["-c", "-o", os.path.join(directory, "work.o"),
            written(directory, f"work-{functions}.c", text)], None


def botan_work(directory, bits):
    """Finds an RSA key of so many bits, from a fixed seed."""
    return ["keygen", "--algo=RSA", f"--params={bits}", f"--drbg-seed={SEED}"], None


def recursive_work(directory, rounds):
    return [str(rounds)], None


XZ_WORDS = "the hot calling contexts of a program are few and its cold ones are many".split()


def xz_work(directory, megabytes):
    """Compresses so much text, whose words come in no order."""
    state, lines = 1, []
    for _ in range(megabytes * 20000):
        words = []
        for _ in range(10):
            state = state * 1103515245 + 12345 & 0x7fffffff
            words.append(XZ_WORDS[state >> 16 & 7] + str(state >> 8 & 255))
        lines.append(" ".join(words))
    return ["-6", "-T1", "-k", "-c",
            written(directory, f"work-{megabytes}.txt", "\n".join(lines))], None


PYTHON = """
import collections, json, re, sys

class Shape:
    def __init__(self, *sides): self.sides = sides
    def size(self): return sum(self.sides)

class Square(Shape):
    def size(self): return self.sides[0] ** 2

def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)

for unit in range(int(sys.argv[1])):
    shapes = [Square(i) if i % 3 else Shape(i, i + 1, unit) for i in range(4000)]
    text = json.dumps([{"id": i, "name": f"n{i * 7919 % 1009}"} for i in range(2000)])
    names = collections.Counter(entry["name"] for entry in json.loads(text))
    digits = re.sub(r"(\\d)(\\d)", r"\\2\\1", text)
    print(unit, fib(17), sum(s.size() for s in sorted(shapes, key=Shape.size)), len(digits),
          sorted(names.items())[:2])
"""


def python_work(directory, units):
    """Objects, recursion, sorting, JSON and expressions, so many times."""
    return ["-I", written(directory, "work.py", PYTHON), str(units)], None


# ---- the tables ----

PROGRAMS = [
    Program("gnugo", "gobmk", package="gnugo", binary="interface/gnugo",
            build=[CONFIGURE + " --without-curses --without-readline CFLAGS='{flags} -fcommon -w'",
                   "make -s"],
            sizes={"quick": (1, 2), "full": (5, 20)}, work=gnugo_work),
    Program("phalanx", "crafty, sjeng", package="phalanx", binary="phalanx",
            build=["gcc {flags} -w --std=gnu89 -D_GNU_SOURCE -DGNUFUN '-DPBOOK_DIR=\".\"'"
                   " '-DSBOOK_DIR=\".\"' '-DLEARN_DIR=\".\"' '-DLEARN_FILE=\"phalanx.learn\"'"
                   " -o phalanx *.c -lm"],
            sizes={"quick": (4, 5), "full": (6, 7)}, work=phalanx_work),
    Program("sqlite3", "", package="sqlite3", binary="shell",
            prepare=["./configure -q --disable-tcl --disable-readline",
                     "make -s sqlite3.c shell.c"],
            build=["gcc {flags} -w -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION"
                   " -o shell shell.c sqlite3.c -lm"],
            sizes={"quick": (8000, 30000), "full": (60000, 250000)}, work=sqlite3_work),
    Program("speedtest1", "", package="sqlite3", binary="speedtest1",
            prepare=["./configure -q --disable-tcl --disable-readline", "make -s sqlite3.c"],
            build=["gcc {flags} -w -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -I."
                   " -o speedtest1 test/speedtest1.c sqlite3.c -lm"],
            sizes={"quick": (10, 40), "full": (60, 100)}, work=speedtest1_work),
    Program("lua", "", package="lua5.4", binary="lua",
            # the distribution's patch looks for Lua's modules by architecture; none is used here
            build=["echo '#define DEB_HOST_MULTIARCH \".\"' >src/lua5.4-deb-multiarch.h",
                   "gcc {flags} -w -DLUA_USE_POSIX -o lua"
                   " $(ls src/*.c | grep -v '/luac\\.c$') -lm"],
            sizes={"quick": (8, 30), "full": (40, 250)}, work=lua_work),
    Program("tcc", "", package="tcc", binary="tcc",
            build=["./configure --cc=gcc --extra-cflags='{flags} -w' --extra-ldflags='{link}'",
                   "make -s tcc"],
            sizes={"quick": (1000, 5000), "full": (8000, 25000)}, work=tcc_work),
    Program("botan", "botan", package="botan", binary="botan",
            build=["python3 configure.py --quiet --minimized-build --cc=gcc --enable-modules=rsa,"
                   "aes,ctr,sha2_32,hmac,hmac_drbg,system_rng,emsa_pssr,pem,pbkdf2,pbes2,hex,"
                   "numbertheory"
                   " --without-documentation --disable-shared-library --build-targets=static,cli"
                   " --cxxflags='{flags} -w' --ldflags='{link}'",
                   "make -s"],
            sizes={"full": (1024, 1536)}, work=botan_work),
    Program("recursive", "", binary="recursive",
            build=["g++ {flags} -o recursive {root}/tests/bench/recursive.cc"],
            sizes={"quick": (50, 400), "full": (500, 4000)}, work=recursive_work,
            deep=True),
]

# As the distribution has them, stripped; `like` is the one above whose build with hooks does the
# same work. sizes: units of each run.
INSTALLED = [
    Program("gnugo", "gnugo", build=[], binary="/usr/games/gnugo",
            sizes={"quick": 3, "full": 20}, work=gnugo_work),
    Program("sqlite3", "sqlite3", build=[], binary="/usr/bin/sqlite3",
            sizes={"quick": 150000, "full": 600000}, work=sqlite3_work),
    Program("lua5.4", "lua", build=[], binary="/usr/bin/lua5.4",
            sizes={"quick": 250, "full": 1200}, work=lua_work),
    Program("xz", "", build=[], binary="/usr/bin/xz",
            sizes={"quick": 1, "full": 20}, work=xz_work),
    Program("python3", "", build=[], binary="/usr/bin/python3",
            sizes={"quick": 120, "full": 1200}, work=python_work),
]
