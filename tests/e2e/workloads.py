# SPDX-License-Identifier: LGPL-3.0-or-later
"""workloads.py - real programs of the distribution with something to do, for tests and benchmarks."""

import os
import shutil

SQL = """create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i+1 from n where i<900000)
insert into t select i, 'name'||(i*7919%10007), i*0.5 from n;
create index tb on t(b);
select count(*), sum(c) from t where b like '%99%';
select b, count(*) from t group by b order by 2 desc, 1 limit 3;
"""

PYTHON = """
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
words = {}
for i in range(300000):
    words[str(i * 7919 % 10007)] = words.get(str(i), 0) + i
print(fib(34), len(words), sorted(words)[:3])
"""

NODE = """
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
const words = new Map();
for (let i = 0; i < 400000; i++) {
  const key = String(i * 7919 % 10007);
  words.set(key, (words.get(key) || 0) + i);
}
const text = JSON.stringify([...words]);
let sum = 0;
for (let i = 0; i < 20; i++) sum += JSON.parse(text).length + text.replace(/[0-4]+/g, 'x').length;
console.log(fib(36), words.size, sum, [...words.keys()].sort().slice(0, 3));
"""

RUST = """
use std::collections::BTreeMap;
trait Shape { fn area(&self, depth: u32) -> f64; }
struct Square(f64);
struct Nested(Vec<Box<dyn Shape>>);
impl Shape for Square { fn area(&self, _: u32) -> f64 { self.0 * self.0 } }
impl Shape for Nested {
    fn area(&self, depth: u32) -> f64 {
        self.0.iter().map(|s| s.area(depth + 1)).fold(0.0, |a, b| a + b / (depth as f64 + 1.0))
    }
}
fn build(depth: u32) -> Box<dyn Shape> {
    if depth == 0 { return Box::new(Square(1.5)); }
    Box::new(Nested((0..4).map(|_| build(depth - 1)).collect()))
}
fn main() {
    let shape = build(8);
    let mut words: BTreeMap<String, u64> = BTreeMap::new();
    let mut sum = 0.0;
    for round in 0..150u64 {
        sum += shape.area(0);
        for i in 0..4000u64 {
            *words.entry((i * 7919 % 1009).to_string()).or_insert(0) += i ^ round;
        }
        let r = std::panic::catch_unwind(|| { if round % 50 == 49 { panic!("expected"); } round });
        if let Ok(n) = r { sum += n as f64; }
    }
    println!("{} {} {:?}", sum, words.len(), words.iter().next());
}
"""


def write(scratch, name, text):
    path = scratch(name)
    with open(path, "w") as out:
        out.write(text)
    return path


def c_source(functions=700):
    """A large C file: many functions with loops and switches."""
    part = """int f{n}(int *a, int n) {{
    int s = {n};
    for (int i = 0; i < n; i++) {{
        switch (a[i] % 7) {{
        case 0: s += a[i] * {n}; break;
        case 1: s ^= a[i] << 3; break;
        case 2: s -= a[(i + {n}) % n]; break;
        default: for (int j = i; j < n; j += 5) s += a[j] / (i + 1);
        }}
    }}
    return s;
}}
"""
    return "".join(part.format(n=n) for n in range(functions))


def text_file(scratch):
    return write(scratch, "big.txt", "".join(
        f"{i * 7919 % 100003} line of text {i % 97}\n" for i in range(300000)))


def gnugo():
    """The program's path: a game is not on everybody's PATH."""
    return shutil.which("gnugo") or shutil.which("gnugo", path="/usr/games")


def cc1():
    """The compiler proper: what gcc runs."""
    out = os.popen("gcc -print-prog-name=cc1 2>/dev/null").read().strip()
    return out if os.path.isabs(out) else None


def rust_program(scratch):
    """A program in Rust, compiled here; None where there is no compiler."""
    if shutil.which("rustc") is None:
        return None
    binary = scratch("rust_program")
    source = write(scratch, "rust_program.rs", RUST)
    return binary if os.system(f"rustc -O -o '{binary}' '{source}' 2>/dev/null") == 0 else None


def redis_server(scratch):
    """The server's path. Where only the tools are installed, redis-check-rdb is the same program: its
    name decides what it is. None where there are no tools."""
    installed, tools = shutil.which("redis-server"), shutil.which("redis-check-rdb")
    if installed or tools is None:
        return installed
    os.symlink(tools, scratch("redis-server"))
    return scratch("redis-server")
