# SPDX-License-Identifier: LGPL-3.0-or-later
"""Unmodified programs of the distribution under `hcct record`: output and status as without, walks
that reach the root, CPU time as the kernel counts it, next to nothing lost."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time

import workloads
from support import check, finish, record, report, run, scratch

HERE = os.path.dirname(os.path.abspath(__file__))

def processes_of(profile, rusage_file):
    """But for the wrapper, and the CPU time that they have used by the kernel's count."""
    spent, wrapper = open(rusage_file).read().split()
    return [p for p in report(profile)["processes"] if p["pid"] != int(wrapper)], float(spent)


def loses(profile, rusage_file):
    processes, _ = processes_of(profile, rusage_file)
    return sum(p["lost"] for p in processes) > 0.005 * sum(p["walks"] for p in processes)


def examine(name, profile, rusage_file):
    processes, spent = processes_of(profile, rusage_file)
    walks = sum(p["walks"] for p in processes)
    complete = sum(p["complete"] for p in processes)
    credited = sum(p["total"] for p in processes) / 1e9
    check(walks > 50, f"{name}: {walks} walks")
    check(complete >= 0.995 * walks, f"{name}: {complete} of {walks} walks complete")
    check(abs(credited - spent) <= 0.03 * spent,
          f"{name}: {credited:.3f} s credited, {spent:.3f} s by getrusage")
    lost = sum(p["lost"] for p in processes)
    check(lost <= 0.005 * walks, f"{name}: {lost} walks lost, beside {walks}")


def compare(name, command, stdin_path=None):
    profile, rusage = scratch("p.pb.gz"), scratch("rusage")
    wrapper = [sys.executable, os.path.join(HERE, "rusage.py")]
    stdin = open(stdin_path) if stdin_path else None
    plain = run([*wrapper, "/dev/null", *command], stdin=stdin)
    if stdin:
        stdin.seek(0)
    for attempt in range(4):
        profiled = record([*wrapper, rusage, *command], profile, "--no-report", stdin=stdin)
        if stdin:
            stdin.seek(0)
        # at first without unwind tables: stacks go as copies; and where hcctd has no processor for long, rings are full
        if attempt > 0 and not loses(profile, rusage):
            break
    check((profiled.status, profiled.out) == (plain.status, plain.out),
          f"{name}: same status ({plain.status}) and output ({len(plain.out)} bytes)")
    examine(name, profile, rusage)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def redis():
    port = free_port()
    profile, rusage = scratch("r.pb.gz"), scratch("rusage")
    server = subprocess.Popen(
        [os.path.join(os.environ.get("HCCT_BUILDDIR", "."), "client", "hcct"), "record", "-o",
         profile, "--no-report", "--", sys.executable, os.path.join(HERE, "rusage.py"), rusage,
         workloads.redis_server(scratch), "--port", port, "--save", "", "--daemonize", "no", "--dir", scratch("")],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(100):
        if run(["redis-cli", "-p", port, "ping"]).out.strip() == b"PONG":
            break
        time.sleep(0.1)
    load = run(["redis-benchmark", "-p", port, "-q", "-n", "60000", "-t", "set,get,lpush,lrange_100"])
    check(load.status == 0, "redis: the load ran")
    pid = int(run(["redis-cli", "-p", port, "info", "server"]).out.split(b"process_id:")[1].split()[0])
    os.kill(pid, signal.SIGTERM)
    check(server.wait(60) == 0, "redis: ends with status 0 after SIGTERM, as without")
    examine("redis", profile, rusage)


def write(name, text):
    return workloads.write(scratch, name, text)


big = workloads.text_file(scratch)
cases = {
    "sqlite3": lambda: compare("sqlite3", ["sqlite3", ":memory:"],
                               stdin_path=write("work.sql", workloads.SQL)),
    "xz": lambda: (compare("xz -T1", ["xz", "-T1", "-6", "-c", big]),
                   compare("xz -T2", ["xz", "-T2", "--block-size=2MiB", "-6", "-c", big])),
    "python3": lambda: compare("python3", ["/usr/bin/python3", write("work.py", workloads.PYTHON)]),
    "gcc": lambda: compare("gcc", ["gcc", "-O2", "-c", write("big.c", workloads.c_source()), "-o", scratch("big.o")]),
    "redis-benchmark": redis,
}
for program, case in cases.items():
    if shutil.which(program) is None:
        print(f"{program} is not installed: left out")
    else:
        case()
finish()
