# SPDX-License-Identifier: LGPL-3.0-or-later
"""Programs that are linked in other ways than usual are followed: for large pages, without procedure
linkage (calls through words of the GOT), for one fixed place."""

import os
import re
import shutil

from calls_support import EXACT, record_calls
from support import HCCT, check, finish, run, scratch, skip

if os.uname().machine != "x86_64" or shutil.which("gcc") is None:
    skip("calls are redirected on x86-64 only, and gcc is needed")

WAYS = ("-Wl,-z,max-page-size=0x10000", "-Wl,-z,max-page-size=0x200000", "-fno-plt", "-fno-plt -Wl,-z,lazy",
        "-no-pie -fno-pie", "-no-pie -fno-pie -fno-plt", "-fno-plt -fcf-protection", "-fno-plt -Wl,-z,max-page-size=0x200000",
        "-Wl,-z,noseparate-code", "-fno-plt -fPIC -pie -Wl,--no-relax")
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static volatile int n;
void leaf(void);
__attribute__((noinline)) void leaf(void) { n++; }
__attribute__((noinline)) static int compare(const void *a, const void *b) { leaf(); return *(int *)a - *(int *)b; }
int main(int argc, char **argv) {
    int numbers[8] = {8, 7, 6, 5, 4, 3, 2, 1};
    for (int i = 0; i < 1000; i++)
        leaf();
    for (int i = 0; i < 70; i++)
        free(malloc(64 + i));
    qsort(numbers, 8, sizeof *numbers, compare);
    printf("%d %d %d\\n", argc, numbers[0], (int)strlen(argv[0]) > 0);
    return n & 1;
}
"""
source, program = scratch("linked.c"), scratch("linked")
with open(source, "w") as file:
    file.write(PROGRAM)
for way in WAYS:
    built = run(["gcc", "-O1", "-fno-builtin", *way.split(), source, "-o", program])
    if not check(built.status == 0, f"{way}: it is built"):
        continue
    plain = run([program])
    result, profile = record_calls([program], *EXACT)
    counts = profile.functions()
    frees = sum(calls for name, calls in counts.items() if name.lstrip("_").endswith("free"))
    check((result.out, result.status) == (plain.out, plain.status), f"{way}: runs as without the agent")
    compared = counts["leaf"] - 1000
    check(compared > 7 and frees == 70, f"{way}: 1000 + {compared} calls of leaf, {frees} of free")
    text = run([HCCT, "doctor", program]).out.decode()
    row = re.search(r"^linked +(\d+) +(\d+) ", text, re.M)
    check(row is not None and int(row[2]) >= 5, f"{way}: doctor knows of {row[1] if row else 0} calls, "
          f"{row[2] if row else 0} by words of the GOT")


def modules_of(profile, verdict):
    """How many have it; files of one build-id count as one module that was there as often."""
    entries = (entry.split(",") for entry in profile.processes[0]["call_modules"].split(";"))
    return sum(int(entry[2]) for entry in entries if entry[1] == verdict)


# more libraries than there is room for in the log of modules that a process begins with
LIBRARIES = 100
library, main = scratch("library.c"), scratch("main.c")
with open(library, "w") as file:
    file.write("static volatile int n;\n__attribute__((noinline)) static void leaf(void) { n++; }\n"
               "void work(void);\nvoid work(void) { leaf(); leaf(); }\n")
with open(main, "w") as file:
    file.write("void work(void);\nint main(void) { work(); return 0; }\n")
one, many = scratch("one.so"), scratch("many")
copies = [scratch(f"lib{i}.so") for i in range(LIBRARIES)]
run(["gcc", "-O1", "-shared", "-fPIC", library, "-o", one])
for copy in copies:
    shutil.copy(one, copy)
built = run(["gcc", main, "-Wl,--no-as-needed", *copies, "-o", many])
result, profile = record_calls([many], *EXACT)
followed = modules_of(profile, "followed")
check(built.status == 0 and result.status == 0 and followed == LIBRARIES + 1,
      f"{LIBRARIES} libraries and a program: {followed} are followed")
many_more = [scratch(f"lib{i}.so") for i in range(LIBRARIES, 150)]
for copy in many_more:
    shutil.copy(one, copy)
run(["gcc", main, "-Wl,--no-as-needed", *copies, *many_more, "-o", many])
result, profile = record_calls([many], *EXACT)
followed, others = modules_of(profile, "followed"), modules_of(profile, "too-many")
check((followed, others) == (128, 23), f"150 libraries: {followed} are followed, {others} are too many")
finish()
