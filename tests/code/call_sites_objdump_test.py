#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""The scanner of call sites against binutils, on programs and libraries as they are installed: each
e8 that objdump shows inside an unwind entry, and each call through a word that ld.so fills, is a site
or counted under a reason, and none is invented; frames are those that readelf prints, and PLT entries lead to the word that ld.so fills.
"""

import bisect
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

SHOW = os.path.join(os.environ["HCCT_BUILDDIR"], "tests/code/show_call_sites")
FOLLOWED = 1
INDIRECT, TAIL, TARGET, NO_ENTRY, CALLER, UNDECODED, RULE = range(7)
DIRECT = (TARGET, CALLER, UNDECODED, RULE)
BY_WORD = re.compile(r"^ *([0-9a-f]+):\t(ff 15 (?:[0-9a-f]{2} ){4}) *\tcall[wq]? +\*.*# ([0-9a-f]+)")
CALL = re.compile(r"^ *([0-9a-f]+):\t((?:[0-9a-f]{2} )+) *\t(?:[a-z0-9.]+ )*call[wq]? +([0-9a-f]+)")
FDE = re.compile(r"FDE cie=(\S+) pc=([0-9a-f]+)\.\.([0-9a-f]+)")
ROW = re.compile(r"^([0-9a-f]{16}) (\S+) +(.*)")
MINDING = {"setjmp", "_setjmp", "__sigsetjmp", "vfork", "dlsym", "dlopen", "dlvsym", "dlmopen",
           "getcontext", "swapcontext", "dl_iterate_phdr"}
LINKED = ["-fcf-protection -Wl,-z,ibtplt", "-fcf-protection -Wl,-z,ibt -Wl,-z,shstk", "-fuse-ld=gold",
          "-fuse-ld=gold -Wl,-z,now", "-fuse-ld=lld", "-no-pie -Wl,-z,lazy", "-Wl,-z,now",
          "-Wl,-z,lazy -Wl,-z,noseparate-code", "-fno-plt",
          "-fno-plt -fPIC -pie -Wl,--no-relax", "-fno-plt -fPIC -pie -fuse-ld=lld -Wl,--no-relax"]
PROGRAM = """
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static jmp_buf saved;
__attribute__((noinline)) int deep(int n) {
    char *bytes = malloc(n + 1);
    memset(bytes, 1, n);
    int byte = bytes[n / 2];
    free(bytes);
    return n > 1 ? byte + deep(n - 1) : puts("x");
}
int main(int argc, char **argv) {
    if (setjmp(saved) == 0)
        deep(argc + 5);
    qsort(argv, argc, 8, (int (*)(const void *, const void *))strcmp);
    return deep(3) & 1;
}
"""
failed = 0
checks = 0


def check(good, what):
    global failed, checks
    checks += 1
    if not good:
        failed += 1
        print("FAIL", what)


def lines(*command):
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          errors="replace") as process:
        yield from process.stdout


Site = collections.namedtuple("Site", "routine target got frame")


def read_table(path):
    shown = subprocess.run([SHOW, path], check=True, capture_output=True, text=True).stdout.split("\n")
    head = shown[0].split()
    sites = {}
    for line in shown[1:]:
        if line:
            _, at, routine, target, got, frame = line.split()
            sites[int(at, 16)] = Site(*(int(n, 16) for n in (routine, target, got)), frame)
    return [int(n) for n in (head[1], head[3], head[5], *head[7:])], sites


def calls_of(path, words):
    """Direct calls, by the address of their e8, and those through words that the loader fills, by that
    of their second byte."""
    found = {}
    for line in lines("objdump", "-d", "-w", path):
        match = CALL.match(line)
        if match and "e8" in match[2].split():
            at = int(match[1], 16) + len(match[2].split()) - 5
            found[at] = int(match[3], 16)
        match = BY_WORD.match(line)
        if match and int(match[3], 16) in words:
            found[int(match[1], 16) + 1] = int(match[3], 16)
    return found


class Frames:
    """Unwind entries and their rows, as readelf interprets them."""

    def __init__(self, path):
        entries, rows, cie_rows = set(), {}, {}
        cie = None
        for line in lines("readelf", "--debug-dump=frames-interp", path):
            match = FDE.search(line)
            if match:
                start, end = int(match[2], 16), int(match[3], 16)
                entries.add((start, end))
                rows[start] = cie_rows.get(match[1])  # where the entry has none of its own
                cie = None
                continue
            match = ROW.match(line)
            if match and cie is not None:
                cie_rows[cie] = (match[2], match[3].split()[-1])
            elif match:
                rows[int(match[1], 16)] = (match[2], match[3].split()[-1])
            elif " CIE " in line:
                cie = line.split()[0]
        self.entries = sorted(entries)
        self.starts = [entry[0] for entry in self.entries]
        self.functions = set(self.starts)
        self.rows = sorted(rows.items())
        self.row_starts = [row[0] for row in self.rows]

    def entry(self, address):
        i = bisect.bisect_right(self.starts, address) - 1
        return self.entries[i] if i >= 0 and address < self.entries[i][1] else None

    def row(self, address):
        return self.rows[bisect.bisect_right(self.row_starts, address) - 1][1]


def loaded_words(path):
    """What is called through which word of the GOT: a name, or that the object's own function is meant,
    as its address does not change once the loader has put it there."""
    words, kept = {}, (0, 0)
    for line in lines("readelf", "-lW", path):
        parts = line.split()
        if parts[:1] == ["GNU_RELRO"]:
            kept = int(parts[2], 16), int(parts[2], 16) + int(parts[5], 16)
    for line in lines("readelf", "-rW", path):
        parts = line.split()
        if len(parts) >= 3 and re.match(r"R_X86_64_(JUMP_SLO|GLOB_DAT|IRELATIV)", parts[2]):
            words[int(parts[0], 16)] = parts[4].split("@")[0] if len(parts) > 4 else ""
        elif len(parts) == 4 and parts[2] == "R_X86_64_RELATIVE" and kept[0] <= int(parts[0], 16) < kept[1]:
            words[int(parts[0], 16)] = int(parts[3], 16)
    return words


def init_functions(path):
    return {int(line.split()[-1], 16) for line in lines("readelf", "-dW", path)
            if re.search(r"\((INIT|FINI)\)", line)}


def test(path):
    name = os.path.basename(path)
    (verdict, found, plt, *left), sites = read_table(path)
    words = loaded_words(path)
    frames = Frames(path)
    functions = frames.functions | init_functions(path)
    words = {at: name for at, name in words.items() if isinstance(name, str) or name in functions}
    calls = calls_of(path, words)
    within = {at: target for at, target in calls.items() if frames.entry(at)}
    check(verdict == FOLLOWED, f"{name}: can be followed")
    check(found == len(within), f"{name}: {found} calls found, objdump shows {len(within)}")
    invented = [at for at in sites if within.get(at) != (sites[at].target or sites[at].got)]
    check(not invented, f"{name}: sites that objdump does not show: {invented[:3]}")
    missing = len(within) - len(sites)
    check(missing == sum(left[i] for i in DIRECT),
          f"{name}: {missing} calls are no sites, {left} are counted")
    wrong = [at for at, site in sites.items() if frames.entry(at)[0] != site.routine]
    check(not wrong, f"{name}: in another unwind entry: {wrong[:3]}")
    wrong = [(hex(at), site.frame, frames.row(at + 4)) for at, site in sites.items()
             if frames.row(at + 4) != (site.frame, "c-8")]
    check(not wrong, f"{name}: another frame than readelf shows: {wrong[:3]}")
    # a target is the beginning of a function, or a word that the loader fills; _init is one, too
    wrong = [hex(at) for at, site in sites.items()
             if site.got not in words and (site.got != 0 or site.target not in functions)]
    check(not wrong, f"{name}: targets that are none: {wrong[:3]}")
    check(len([s for s in sites.values() if s.got]) <= plt <= len(within), f"{name}: of the PLT")
    minding = [hex(at) for at, site in sites.items() if words.get(site.got) in MINDING]
    check(not minding, f"{name}: calls of functions that take note of their caller: {minding[:3]}")
    named = plt_names(path)
    wrong = [(hex(at), named[site.target], words[site.got]) for at, site in sites.items()
             if site.got and site.target and named.get(site.target, words[site.got]) != words[site.got]]
    check(not wrong, f"{name}: PLT entries of another function: {wrong[:3]}")
    print(f"{name}: {len(sites)} sites of {len(within)} calls in unwind entries, {plt} by the GOT, "
          f"{len(calls) - len(within)} outside")


def plt_names(path):
    """What objdump calls the entries of the PLT."""
    names = {}
    for line in lines("objdump", "-d", "-j", ".plt", "-j", ".plt.sec", "-j", ".plt.got", path):
        match = re.match(r"([0-9a-f]+) <([^>@]+)@plt>:", line)
        if match and not match[2].startswith("*ABS*"):  # an indirect function of its own
            names[int(match[1], 16)] = match[2]
    return names


def linked_in_many_ways(directory):
    """The same program with PLT entries of every form that linkers write, and without any."""
    source = os.path.join(directory, "program.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    for i, options in enumerate(LINKED):
        path = os.path.join(directory, f"program{i}")
        if subprocess.run(["gcc", "-O2", *options.split(), source, "-o", path], check=False,
                          stderr=subprocess.DEVNULL).returncode == 0:
            print(options)
            yield path


def main():
    if not shutil.which("objdump") or os.uname().machine != "x86_64":
        sys.exit(77)
    files = [shutil.which("gnugo", path="/usr/games:" + os.environ["PATH"]), "/usr/bin/sqlite3",
             os.path.realpath("/usr/bin/python3"), "/lib/x86_64-linux-gnu/libc.so.6",
             os.path.join(os.environ["HCCT_BUILDDIR"], "tests/code/call_reasons.so")]
    for path in files:
        if path and os.path.exists(path):
            test(path)
    with tempfile.TemporaryDirectory() as directory:
        for path in linked_in_many_ways(directory):
            test(path)
    print(f"{checks} checks, {failed} failed")
    sys.exit(1 if failed or checks < 20 else 0)


main()
