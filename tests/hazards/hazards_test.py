#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""What has broken programs under profilers, hazard by hazard, with and without the agent: the same
output and status, in time, and a profile of it. `--runs N` repeats each that often (races need
many); names choose some, `--part 2/5` every fifth, from the second on; at `--rate N` walks a second at most, where
the processor is slow. Columns: runs with the agent, those of them that did what no run without it
does, runs without it that were not like the first (there are more than that one where a run with the
agent was not like it), walks."""

import argparse
import json
import glob
import os
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "e2e"))
from support import (  # noqa: E402
    AGENT, BUILD, HCCT, Daemon, check, finish, run, scratch, target)

HERE = os.path.join(BUILD, "tests", "hazards")
TLS_LIBRARY = os.path.join(HERE, "tls_library.so")
LIMIT = 180  # seconds, for what takes one or two: what takes longer hangs
AGAIN = 10  # so many runs without the agent beside those asked for, where it seems to have made a difference
UNLUCKY = 50  # so many runs more may pass without a sample: some programs hardly use the processor


def program(name):
    return os.path.join(HERE, name)


class Hazard:
    """A program that does what is dangerous. `rarely`: one run for so many that are asked for, as it
    takes long or repeats the danger itself."""

    def __init__(self, name, danger, command=None, rarely=1, preload=None, **env):
        self.name, self.danger, self.rarely, self.preload = name, danger, rarely, preload
        self.command = command or [program(name)]
        self.env = {"HCCT_RATE": "10000", **env}


def library(pattern):
    found = glob.glob("/usr/lib/*/" + pattern)
    return found[0] if found else None


HAZARDS = [
    Hazard("throw", "exceptions while libraries are loaded: the loader's lock", rarely=5),
    Hazard("leave_allocating", "the process ends while threads allocate"),
    Hazard("loader_and_malloc", "locks of loader and malloc, in all orders", rarely=5),
    Hazard("late_tls", "thread-local memory that is allocated on first use",
           [program("late_tls"), TLS_LIBRARY]),
    Hazard("fleeting_memory", "what a frame pointer leads to is taken away while it is read"),
    Hazard("jemalloc", "another malloc: jemalloc", [program("loader_and_malloc")], rarely=10,
           preload="libjemalloc.so.2"),
    Hazard("tcmalloc", "another malloc: tcmalloc", [program("loader_and_malloc")], rarely=10,
           preload="libtcmalloc_minimal.so.4"),
    Hazard("big_fork", "fork of a large process under a storm of signals", rarely=20),
    Hazard("restarts", "system calls that are interrupted again and again", rarely=5),
    Hazard("restarts_wall", "the same on the wall clock", [program("restarts")], rarely=5,
           HCCT_CLOCK="wall", HCCT_RATE="1000"),
    Hazard("terminal", "reads have their time from the terminal", rarely=10, HCCT_RATE="1000"),
    Hazard("terminal_wall", "the same on the wall clock", [program("terminal")], rarely=10,
           HCCT_CLOCK="wall", HCCT_RATE="1000"),
    Hazard("terminal_wait", "the same, where waiting is sampled", [program("terminal")], rarely=10,
           HCCT_METRICS="wait", HCCT_RATE="1000"),
    *(Hazard("handlers_start" + name, "a handler starts a program, or leaves, while a call sleeps" + where,
             [program("handlers_start")], rarely=20, **env)
      for name, where, env in (
          ("", "", {"HCCT_RATE": "100"}), ("_often", " at 1,000/s", {"HCCT_RATE": "1000"}),
          ("_bursts", " in bursts", {"HCCT_RATE": "4000", "HCCT_BURST": "2ms/10ms"}),
          ("_wall", " on the wall clock", {"HCCT_CLOCK": "wall", "HCCT_RATE": "1000"}))),
    Hazard("cancelled_busy", "threads are cancelled at any moment, while they compute", rarely=20),
    Hazard("cancelled_busy_wall", "the same on the wall clock", [program("cancelled_busy")], rarely=20,
           HCCT_CLOCK="wall", HCCT_RATE="1000"),
    *(Hazard("generic_calls" + name, "system calls whose number is an argument are interrupted" + where,
             [program(which)], rarely=10, **env)
      for name, where, which, env in (
          ("", "", "generic_calls", {"HCCT_RATE": "1000"}),
          ("_wall", " on the wall clock", "generic_calls", {"HCCT_CLOCK": "wall", "HCCT_RATE": "1000"}),
          ("_plain", ", by code as it stands there", "generic_calls_plain",
           {"HCCT_CLOCK": "wall", "HCCT_RATE": "1000"}))),
    Hazard("exec_chain", "exec with signals on their way", rarely=10),
    # at high rates, and on the wall clock, a signal of the program within a few instructions of ours
    # is not told apart (doc/limits.md): its own timer is left out there
    Hazard("interrupted", "EINTR where none should be, and none where it should", rarely=10,
           HCCT_RATE="100"),
    Hazard("interrupted_often", "EINTR where none should be",
           [program("interrupted"), "alone"], rarely=10),
    Hazard("interrupted_wall", "the same on the wall clock", [program("interrupted"), "alone"],
           rarely=10, HCCT_CLOCK="wall", HCCT_RATE="1000"),
    Hazard("alternate_stack", "small alternate stacks, unmapped under fire", rarely=5),
    *(Hazard("small_alternate" + name, "alternate stacks on which no signal has room",
             [program("small_alternate")], rarely=5, **env)
      for name, env in (("", {"HCCT_RATE": "100"}), ("_often", {}), ("_bursts", {"HCCT_BURST": "2ms/10ms"}),
                        ("_wall", {"HCCT_CLOCK": "wall", "HCCT_RATE": "1000"}))),
    *(Hazard("shared_alternate" + name, "threads have one alternate stack in common" + where,
             [program("shared_alternate"), *arguments], rarely=2, **env)
      for name, where, arguments, env in (
          ("", "", [], {"HCCT_RATE": "1000"}), ("_often", ", at 10,000/s", [], {}),
          ("_raw", ", set past libc", ["raw"], {"HCCT_RATE": "1000"}),
          ("_wall", ", on the wall clock", [], {"HCCT_CLOCK": "wall", "HCCT_RATE": "1000"}))),
    Hazard("all_timers", "all timers of the user are needed", rarely=5),
    *(Hazard("aligned" + name, "accesses that are not aligned are faults" + where, [program("aligned")], rarely=5,
             **env)
      for name, where, env in (
          ("", "", {}), ("_wall", " on the wall clock", {"HCCT_CLOCK": "wall", "HCCT_RATE": "1000"}))),
    *(Hazard("dispatched_" + how, f"system calls are sent to the program as signals, by {how}",
             [program("dispatched"), how], rarely=5) for how in ("prctl", "syscall")),
    *(Hazard("own_names" + name, "functions of the program's own that have names of libc's" + where,
             [program("own_names")], rarely=5, **env)
      for name, where, env in (
          ("", "", {}), ("_wall", " on the wall clock", {"HCCT_CLOCK": "wall", "HCCT_RATE": "1000"}),
          ("_encode", " and calls are kept", {"HCCT_COLLECTOR": "encode"}))),
    Hazard("few_timers", "no timers to be had (RLIMIT_SIGPENDING)"),
    Hazard("own_profiling", "a program that uses SIGPROF itself", rarely=10),
    Hazard("moved_signal", "signal after signal is taken while threads compute", rarely=5),
    Hazard("moved_handlers", "handlers are set meanwhile", [program("moved_signal"), "alone"],
           rarely=20, HCCT_RATE="100"),
    Hazard("late_timer", "the signal is taken while a thread is held where it makes a timer", rarely=5,
           HCCT_RATE="100"),
    Hazard("gprof", "libc's own profile, by SIGPROF", rarely=20, HCCT_RATE="1000"),
    Hazard("gprof_taken", "SIGPROF is taken by a system call", [program("gprof"), "taken"],
           rarely=10, HCCT_RATE="1000"),
    Hazard("vfork_signals", "a child that shares its parent's memory resets all signals", rarely=5),
    Hazard("raw_signals", "a child sets all signals past libc before it calls exec", rarely=5),
    Hazard("raw_signals_wall", "the same on the wall clock", [program("raw_signals")], rarely=5,
           HCCT_CLOCK="wall", HCCT_RATE="1000"),
    Hazard("waited_signals", "SIGPROF and SIGVTALRM are blocked and waited for", rarely=20),
    *(Hazard("waited_" + kind, danger, [program("waited_signals"), kind], rarely=20)
      for kind, danger in (("kill", "the same, sent"), ("timer", "the same, by interval timers"),
                           ("descriptor", "the same, as descriptors"), ("thread", "in a thread"),
                           ("young", "while threads begin and end"),
                           ("all", "a foreign signal while all are blocked"))),
    Hazard("waited_asleep", "the same while the thread sleeps", [program("waited_signals"), "asleep"],
           rarely=20, HCCT_RATE="200"),
    *(Hazard("confined_" + kind, danger, [program("confined"), kind], rarely=5) for kind, danger in (
        ("strict", "all system calls but four are forbidden (seccomp)"),
        ("filter", "the same, by a filter"), ("libc", "the same, by another function"),
        ("all", "for all threads"), ("one", "for one of several threads"),
        ("child", "in a child, that has children and threads"), ("refused", "in vain"),
        ("born", "a program is executed so"), ("off", "the same, where no fork is allowed"),
        ("container", "the same as containers do it"))),
    *(Hazard("confined_" + kind + "_wall", "the same on the wall clock", [program("confined"), kind],
             rarely=5, HCCT_CLOCK="wall", HCCT_RATE="1000")
      for kind in ("strict", "filter", "all", "one", "child", "refused")),
    *(Hazard("short_transfers" + name, danger, [program("short_transfers")], rarely=10, **env)
      for name, danger, env in (
          ("", "transfers that a signal cuts short", {}),
          ("_often", "the same at 1,000/s", {"HCCT_RATE": "1000"}),
          ("_wall", "the same on the wall clock", {"HCCT_CLOCK": "wall", "HCCT_RATE": "1000"}),
          ("_bursts", "the same in bursts", {"HCCT_RATE": "4000", "HCCT_BURST": "2ms/10ms"}))),
    *(Hazard("open_calls" + name, "functions that are quick for long, and then sleep" + where, [program("open_calls")],
             rarely=3, **env)
      for name, where, env in (
          ("", "", {"HCCT_RATE": "100"}), ("_often", " at 1,000/s", {"HCCT_RATE": "1000"}),
          ("_bursts", " in bursts", {"HCCT_RATE": "4000", "HCCT_BURST": "2ms/10ms"}),
          ("_wall", " on the wall clock", {"HCCT_CLOCK": "wall", "HCCT_RATE": "100"}),
          ("_wall_often", " on the wall clock at 1,000/s", {"HCCT_CLOCK": "wall", "HCCT_RATE": "1000"}))),
    *(Hazard("left_calls_" + way, "a call that sleeps is left by " + means, [program("left_calls"), way], rarely=5,
             HCCT_RATE="4000")
      for way, means in (
          ("jump", "a jump that the compiler makes"), ("context", "setcontext"),
          ("coroutines", "coroutines that change places in a handler"), ("vfork", "the death of a child of vfork"))),
    *(Hazard("cut_transfers_" + way, "a large transfer is cut: " + where, [program("cut_transfers"), way], rarely=5,
             HCCT_RATE="1000")
      for way, where in (
          ("queue", "a socket with a packet in its error queue"), ("credentials", "credentials of somebody else"),
          ("pipe", "a pipe that is emptied slowly"), ("device", "a device that does not tell when it has room"))),
    *(Hazard("socket_times" + name, "sockets with a time" + where, [program("socket_times")], rarely=5, **env)
      for name, where, env in (
          ("", " at 1,000/s", {"HCCT_RATE": "1000"}),
          ("_wall", " on the wall clock", {"HCCT_CLOCK": "wall", "HCCT_RATE": "100"}),
          ("_wall_often", " on the wall clock at 1,000/s", {"HCCT_CLOCK": "wall", "HCCT_RATE": "1000"}))),
    *(Hazard("taken_locks" + name, "locks that others have" + where, [program("taken_locks")], rarely=5, **env)
      for name, where, env in (
          ("", "", {"HCCT_RATE": "100"}), ("_often", " at 1,000/s", {"HCCT_RATE": "1000"}),
          ("_bursts", " in bursts", {"HCCT_RATE": "4000", "HCCT_BURST": "2ms/10ms"}),
          ("_wall", " on the wall clock", {"HCCT_CLOCK": "wall", "HCCT_RATE": "100"}),
          ("_wall_often", " on the wall clock at 1,000/s", {"HCCT_CLOCK": "wall", "HCCT_RATE": "1000"}))),
    Hazard("ignored_masks", "what the program ignores is blocked in the handler",
           [program("ignored_signals"), "masks"], rarely=5),
    Hazard("ignored_sends", "a child ends meanwhile, and a send ends short",
           [program("ignored_signals"), "sends"], rarely=6),
    *(Hazard("ring" + name, "waits in io_uring are interrupted" + where, [program("ring")], rarely=5, **env)
      for name, where, env in (
          ("", "", {"HCCT_RATE": "100"}), ("_often", " at 1,000/s", {"HCCT_RATE": "1000"}),
          ("_wall", " on the wall clock", {"HCCT_CLOCK": "wall", "HCCT_RATE": "1000"}))),
    *(Hazard(name, "all keys of thread-local values are needed" + where, [program("keys"), *way], rarely=5,
             HCCT_RATE="1000", **env)
      for name, where, way, env in (
          ("keys", "", [], {}), ("keys_c11", " (C11)", ["c11"], {}),
          ("keys_wall", " on the wall clock", [], {"HCCT_CLOCK": "wall"}))),
    *(Hazard("locked_" + kind, danger, [program("locked"), kind], rarely=5) for kind, danger in (
        ("current", "all memory is locked"), ("future", "the same, and what comes later"),
        ("limit", "the same under a limit"), ("space", "address space is limited"), ("later", "the same while it runs"),
        ("later64", "the same by prlimit"))),
    Hazard("crowd", "threads by thousands", rarely=20, HCCT_RATE="100"),
    Hazard("library_churn", "dlopen and dlclose of code that runs", rarely=5),
    Hazard("close_all", "all descriptors closed, again and again", rarely=10),
    Hazard("clock_calls", "code that the kernel maps, and procedure linkage", rarely=20),
    Hazard("many_contexts", "more contexts than memory", rarely=100),
    Hazard("small_stacks", "coroutines on stacks without guard pages", rarely=5),
    Hazard("small_stacks_bursts", "the same in bursts", [program("small_stacks")], rarely=5,
           HCCT_BURST="2ms/10ms"),
    Hazard("tiny_stacks", "the same on stacks of 4 KB", [program("small_stacks"), "tiny"], rarely=5),
    Hazard("tiny_stacks_bursts", "the same in bursts", [program("small_stacks"), "tiny"], rarely=5,
           HCCT_BURST="2ms/10ms"),
    *(Hazard("handlers_place" + name, "handlers run on the stack that they ask for, where there is one",
             [program("handlers_place")], rarely=5, HCCT_RATE=rate)
      for name, rate in (("", "100"), ("_often", "10000"))),
    # the more signals there are the more there is to step
    *(Hazard("stepped" + name, "a debugger steps a child, and the handler in it", [program("stepped"), loops],
             rarely=10, HCCT_RATE=rate)
      for name, loops, rate in (("", "1000", "100"), ("_often", "300", "1000"))),
    Hazard("found_stack", "a runtime relies on the alternate stack that it finds", rarely=5,
           HCCT_RATE="1000"),
]
UNSEEN = {"few_timers"}  # nothing can be seen of these, and hcctd says so


def one(hazard, env):
    preload = [env["LD_PRELOAD"]] if "LD_PRELOAD" in env else []
    if hazard.preload:
        preload.append(library(hazard.preload))
    try:
        result = run(hazard.command, env={**env, "LD_PRELOAD": ":".join(preload)}, timeout=LIMIT)
        return result.status, result.out, result.err
    except SystemExit:
        return "hangs", b"", b""


def seen(daemon, hazard):
    name = os.path.basename(hazard.command[0])
    return sum(p["walks"] for p in daemon.processes() if p["command"] == name)


def row(daemon, hazard, runs):
    """A busy machine makes some of them differ from run to run: what one does with the agent, it has
    to do without it, too."""
    wanted = one(hazard, {})
    before, plain = seen(daemon, hazard), []
    results = [one(hazard, daemon.env(**hazard.env)) for _ in range(runs)]
    if wanted[0] != 0 or any(result != wanted for result in results):
        plain = [one(hazard, {}) for _ in range(min(runs, 20) + AGAIN)]
    bad = [result for result in results if result != wanted and result not in plain]
    different = sum(result != wanted for result in plain)
    for _ in range(0 if hazard.name in UNSEEN else UNLUCKY):
        if seen(daemon, hazard) > before:
            break
        one(hazard, daemon.env(**hazard.env))
    walks = seen(daemon, hazard) - before
    print(f"{hazard.name:20} {runs:5} {len(bad):5} {different:9} {walks:9}  {hazard.danger}", flush=True)
    if bad:
        print(f"  wanted {wanted}\n  got    {bad[0]}")
    check(not bad and any(result[0] == 0 for result in [wanted, *plain]),
          hazard.name + " is as without the agent")
    check(walks > 0 or hazard.name in UNSEEN, hazard.name + " was profiled")


# ---- those that are more than a program ----

def killed(runs):
    """A program that is killed, or is over at once, has a profile."""
    with Daemon() as daemon:
        for _ in range(runs):
            app = subprocess.Popen([program("many_contexts")], env=daemon.env(HCCT_RATE="1000"),
                                   stdout=subprocess.DEVNULL)
            daemon.wait_for(lambda p, app=app: p["pid"] == app.pid and p["walks"] > 5)
            app.send_signal(signal.SIGKILL)
            check(app.wait() == -signal.SIGKILL, "killed: by the signal")
        gone = daemon.wait_for(lambda p: p["state"] == "finished" and p["walks"] > 5)
        check(gone is not None, "killed: what it did until then is known")
        for _ in range(500):
            run(["/bin/sh", "-c", "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done"],
                env=daemon.env(HCCT_RATE="1000"))
            if any(p["command"] in ("sh", "dash") and p["walks"] > 0 for p in daemon.processes()):
                break
        check(daemon.wait_for(lambda p: p["command"] in ("sh", "dash") and p["walks"] > 0),
              "short programs are seen now and then, as their share of time is")


def memory_full(runs):
    """/dev/shm is full, in a mount namespace of its own."""
    script = ("mount -t tmpfs -o size=4k none /dev/shm && dd if=/dev/zero of=/dev/shm/full bs=4k "
              "2>/dev/null; exec " + program("restarts"))
    unshare = ["unshare", "-m", "sh", "-c", script]
    plain = run(unshare)
    if plain.status != 0:
        print("memory_full: no mount namespace here, left out")
        return
    with Daemon() as daemon:
        bad = sum(run(unshare, env=daemon.env(HCCT_RATE="10000")).out != plain.out
                  for _ in range(runs))
        check(bad == 0, "memory_full: a full /dev/shm is not noticed")


def many_contexts_bounded(_):
    """The tree of a program with endless contexts stays within its limit."""
    with Daemon("--memory-limit", "2M") as daemon:
        run([program("many_contexts")], env=daemon.env(HCCT_RATE="10000"))
        tree = daemon.wait_for(lambda p: p["command"] == "many_contexts")
        check(tree is not None and tree["walks"] > 100 and tree["bytes"] <= 2 << 20,
              "many_contexts: its tree is within its limit" +
              (f", {tree['bytes']} bytes after {tree['walks']} walks" if tree else ""))


def unlinked(_):
    """The program's file is gone while it runs; its functions keep their names."""
    path = scratch("unlinked")
    shutil.copy(program("clock_calls"), path)
    with Daemon() as daemon:
        app = subprocess.Popen([path], env=daemon.env(HCCT_RATE="1000"), stdout=subprocess.DEVNULL)
        daemon.wait_for(lambda p: p["pid"] == app.pid and p["walks"] > 20)
        os.unlink(path)
        hot = run([HCCT, "hot", "--socket", daemon.socket, "-p", str(app.pid), "--format", "folded"])
        check(b";ask" in hot.out, "unlinked: names of a program whose file is gone")
        app.kill()
        app.wait()


def confined(runs):
    """Without a daemon, and where calls are counted; what is reported of it; containers go on."""
    kinds = ("strict", "filter", "libc", "all", "one", "child", "refused", "born", "container")
    with Daemon() as daemon:
        places = {"without a daemon": daemon.env(HCCT_SOCKET=scratch("nobody")),
                  "with calls": daemon.env(HCCT_COLLECTOR="calls"),
                  "with calls in bursts": daemon.env(HCCT_COLLECTOR="calls", HCCT_BURST="1ms/3ms")}
        for kind in kinds:
            command = [program("confined_calls"), kind]
            plain = run(command)
            for place, env in places.items():
                results = [run(command, env=env) for _ in range(max(1, runs // 2))]
                bad = [r for r in results if (r.status, r.out, r.err) !=
                       (plain.status, plain.out, plain.err)]
                check(not bad, f"confined: {kind} is as without the agent, {place}"
                      + (f", not {bad[0]}" if bad else ""))
    for kind, threads in (("filter", 1), ("all", 4), ("one", 1), ("born", 1), ("container", 1)):
        with Daemon() as daemon:
            run([program("confined"), kind], env=daemon.env(HCCT_RATE="1000"))
            found = daemon.wait_for(lambda p: p["state"] == "finished" and p["walks"] > 5)
            check(found is not None and found["threads_confined"] == threads,
                  f"confined: {kind}: {threads} thread{'s' * (threads > 1)} told")
            rest = [p for p in daemon.processes() if p["threads_confined"] == 0 and p["walks"] > 5]
            check(bool(rest) == (kind == "container"),
                  f"confined: {kind}: what is executed is profiled in a container only")
            text = run([HCCT, "hot", "--socket", daemon.socket, "--exe", "confined"]).out
            check(b"forbade " in text, f"confined: {kind}: the report says so")


def built_otherwise(runs):
    """A program with another C library, or with a sanitizer, in the tree of a recorded one."""
    source = os.path.join(os.environ.get("HCCT_SRCDIR", "."), "tests", "hazards", "foreign.c")
    for name, compiler, env, profiled in (
            ("musl", ["musl-gcc"], {}, False),
            ("address", ["gcc", "-fsanitize=address"], {}, True),
            ("address_leaks", ["gcc", "-fsanitize=address"], {"ASAN_OPTIONS": "detect_leaks=1"},
             True),
            ("thread", ["gcc", "-fsanitize=thread"], {}, True),
            ("undefined", ["gcc", "-fsanitize=undefined"], {}, True)):
        path = scratch(name)
        if shutil.which(compiler[0]) is None or subprocess.run(
                [*compiler, "-O1", "-pthread", "-o", path, source], capture_output=True,
                check=False).returncode != 0:
            print(f"built_otherwise: {compiler} is not here, left out")
            continue
        plain, bad, walks = run([path], env=env), 0, 0
        for _ in range(runs):
            profile = scratch("profile.hcct")
            result = run([HCCT, "record", "-o", profile, "--no-report", "--rate", "1000", "--",
                          "/bin/sh", "-c", path + " 2>" + scratch("err") + "; exit $?"], env=env)
            with open(scratch("err"), "rb") as err:
                got = result.status, result.out, err.read()
            bad += got != (plain.status, plain.out, plain.err)
            report = json.loads(run([HCCT, "report", "--format", "json", profile]).out or b"{}")
            walks += sum(process["walks"] for process in report.get("processes", [])
                         if process["command"] == name)
        check(plain.status == 0 and bad == 0, f"built_otherwise: {name} runs as without the agent"
              + (f", not {got}" if bad else ""))
        check((walks > 0) == profiled, f"built_otherwise: {name} is profiled, or stays out")


def time_namespace(runs):
    """A program whose monotonic clock is another one than hcctd's."""
    inside = ["unshare", "-Urf", "--time", "--monotonic", "100000", "--boottime", "100000"]
    if run([*inside, "true"]).status != 0:
        print("time_namespace: none can be made here, left out")
        return
    with Daemon() as daemon:
        for _ in range(runs):
            result = run([*inside, target("known_shares"), "1"], env=daemon.env(HCCT_RATE="1000"))
            check((result.status, result.err) == (0, b""), "time_namespace: the program runs")
        walks = sum(p["walks"] for p in daemon.processes() if p["command"] == "known_shares")
        check(walks > 500 * runs,
              f"time_namespace: all of the program is profiled: {walks} walks in {runs} runs")


def gprof(_):
    """A program whose signal is taken, where no wrapper sees it, is profiled to its end."""
    for arguments in ([], ["taken"]):
        with Daemon() as daemon:
            run([program("gprof"), *arguments], env=daemon.env(HCCT_RATE="1000"))
            found = daemon.wait_for(lambda p: p["state"] == "finished" and p["walks"] > 50)
            check(found is not None, f"gprof: goes on by another signal {arguments}")


def valgrind(runs):
    """What valgrind says of a program, and of its children, does not depend on the agent."""
    if shutil.which("valgrind") is None:
        print("valgrind: is not installed, left out")
        return
    with Daemon() as daemon:
        for collector in ({"HCCT_RATE": "1000"}, {"HCCT_COLLECTOR": "calls"},
                          {"HCCT_COLLECTOR": "calls", "HCCT_BURST": "1ms/3ms"}):
            for _ in range(runs):
                result = run(["valgrind", "-q", "--error-exitcode=9", program("forks_and_threads")],
                             env=daemon.env(**collector))
                check((result.status, result.out, result.err) == (0, b"as it should\n" * 3, b""),
                      f"valgrind: has nothing to say with {collector}, and {result.status}")


def chroot(_):
    """A program in another root, where its libraries have paths that mean nothing outside."""
    root = scratch("root")
    libraries = subprocess.run(["ldd", program("clock_calls")], capture_output=True,
                               text=True).stdout.split()
    for path in [word for word in libraries if word.startswith("/")]:
        os.makedirs(root + os.path.dirname(path), exist_ok=True)
        shutil.copy(path, root + path)
    shutil.copy(program("clock_calls"), root + "/inside")
    shutil.copy(AGENT, root + "/agent.so")
    if os.geteuid() != 0:
        print("chroot: only root can, left out")
        return
    with Daemon(socket=root + "/hcctd.sock") as daemon:
        app = subprocess.Popen(
            ["/inside"], stdout=subprocess.DEVNULL, preexec_fn=lambda: os.chroot(root),
            env={"LD_PRELOAD": "/agent.so", "HCCT_SOCKET": "/hcctd.sock", "HCCT_RATE": "1000"})
        found = daemon.wait_for(lambda p: p["command"] == "inside" and p["walks"] > 20)
        hot = run([HCCT, "hot", "--socket", daemon.socket, "--exe", "inside", "--format", "folded"])
        check(found is not None and b";ask" in hot.out, "chroot: profiled, with names")
        app.kill()
        app.wait()


MORE = [killed, memory_full, many_contexts_bounded, unlinked, chroot, confined, built_otherwise,
        time_namespace, gprof, valgrind]


def name_of(hazard):
    return hazard.name if isinstance(hazard, Hazard) else hazard.__name__


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--rate", type=int, default=10000)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    number, parts = map(int, args.part.split("/"))
    chosen = [h for h in [*HAZARDS, *MORE] if not args.names or name_of(h) in args.names][number - 1::parts]
    for hazard in HAZARDS:
        hazard.env["HCCT_RATE"] = str(min(int(hazard.env["HCCT_RATE"]), args.rate))
    begun = time.monotonic()
    print(f"{'hazard':20} {'runs':>5} {'bad':>5} {'different':>9} {'walks':>9}")
    with Daemon() as daemon:
        for hazard in filter(HAZARDS.__contains__, chosen):
            if hazard.preload and library(hazard.preload) is None:
                print(f"{hazard.name:20} left out: {hazard.preload} is not installed")
                continue
            row(daemon, hazard, max(1, args.runs // hazard.rarely))
    for more in filter(MORE.__contains__, chosen):
        more(max(1, args.runs // 20))
    print(f"{time.monotonic() - begun:.0f} s")
    finish()


main()
