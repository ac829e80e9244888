"""Agreement with an independent oracle: the inclusive shares of the ten hottest functions of a C and of
a C++ program are within 3 points of what `perf record --call-graph dwarf` says."""

import re
import subprocess

from support import check, finish, folded, need, record, run, scratch, skip, target


def plain(name):
    """A function's name without parameters, template arguments and what the compiler appended."""
    name = name.replace("(anonymous namespace)::", "").replace("operator()", "operator call")
    name = re.sub(r"\.(constprop|isra|part|cold)\.?\d*", "", name)
    while "<" in name and re.search(r"<[^<>]*>", name):
        name = re.sub(r"<[^<>]*>", "", name)
    name = name.split("(")[0].split("@")[0]
    name = name.removeprefix("__GI_").lstrip("_")  # aliases of libc for one function
    return name.split(" ")[-1] if not name.endswith("call") else name


def inclusive(stacks):
    """{function: share} of [(functions, weight)]; recursion counts once."""
    total = sum(weight for _, weight in stacks)
    shares = {}
    for functions, weight in stacks:
        for function in {plain(f) for f in functions}:
            shares[function] = shares.get(function, 0) + 100 * weight / total
    return shares


def by_perf(command):
    data = scratch("perf.data")
    recorded = run(["perf", "record", "-q", "-F", "997", "--call-graph", "dwarf,16384", "-o", data,
                    "--", *command])
    if recorded.status != 0:
        skip("perf can't record here: " + recorded.err.decode().strip()[:200])
    script = subprocess.run(["perf", "script", "-i", data, "--no-inline", "-F", "ip,sym"],
                            capture_output=True, check=True)
    stacks = []
    for sample in script.stdout.decode(errors="replace").split("\n\n"):
        functions = [line.split(None, 1)[1] for line in sample.splitlines()
                     if len(line.split(None, 1)) == 2]
        if functions:
            stacks.append((functions, 1))
    return inclusive(stacks), len(stacks)


def compare(name, command):
    truth, samples = by_perf(command)
    profile = scratch("p.pb.gz")
    record(command, profile, "--no-report", "--rate", "1000")
    ours = inclusive([(frames[1:], weight) for frames, weight in folded(profile)])
    own = [f for f in truth if not f.startswith("[")]
    check(samples > 1000, f"{name}: perf took {samples} samples")
    for function in sorted(own, key=truth.get, reverse=True)[:10]:
        share = ours.get(function, 0)
        check(abs(share - truth[function]) <= 3,
              f"{name}: {function} has {share:.1f} %, perf says {truth[function]:.1f} %")


need("perf")
compare("C", [target("oracle"), "25"])
compare("C++", [target("oracle_cxx"), "35"])
finish()
