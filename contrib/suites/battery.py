# SPDX-License-Identifier: LGPL-3.0-or-later
"""battery.py - real programs, without and with the agent: see README."""

import argparse
import glob
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import programs

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "programs")
NOBODY = 65534

MODES = {
    "default": {"rate": "100"},
    "often": {"rate": "1000"},
    "bursts": {"rate": "4000", "burst": "2ms/20ms"},
    "wall": {"clock": "wall"},
    "wall-often": {"clock": "wall", "rate": "1000"},
}
# Where they are asked for, and by record alone: what else the agent does with a program.
MORE_MODES = {
    "calls": {"collector": "calls", "burst": "2ms/20ms"},
    "every-call": {"collector": "calls"},
    "encode": {"collector": "encode", "rate": "1000"},
    "metrics": {"metric": "cpu,alloc,heap,lock"},
    "wait": {"metric": "wait", "rate": "1000"},
    "faults": {"metric": "cpu,faults", "rate": "1000"},
}
WAYS = ("record", "always-on")
SHOWN = 600  # characters of what differs


def arguments():
    names = [p.name for p in programs.PROGRAMS]
    parser = argparse.ArgumentParser(
        prog="contrib/suites/battery.sh",
        description="Real programs, without the agent and with it, in all modes.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these: " + " ".join(names))
    parser.add_argument("--build", metavar="DIR", help="where hcct is built ($HCCT_BUILD)",
                        default=os.environ.get("HCCT_BUILD"))
    parser.add_argument("--modes", default=",".join(MODES),
                        help="of: %(default)s; and, by record alone, " + ",".join(MORE_MODES))
    parser.add_argument("--ways", default=",".join(WAYS), help="of: %(default)s")
    parser.add_argument("--users", default="root,user" if os.geteuid() == 0 else "user",
                        help="who runs them (%(default)s)")
    parser.add_argument("--reruns", type=int, default=2, metavar="N",
                        help="pairs of runs more, at most, where there is a difference (2)")
    given = parser.parse_args()
    for name in given.names:
        if name not in names:
            parser.error(f"there is no program '{name}'; there are: {' '.join(names)}")
    for choice, allowed in (("modes", (*MODES, *MORE_MODES)), ("ways", WAYS), ("users", ("root", "user"))):
        chosen = getattr(given, choice).split(",")
        if not set(chosen) <= set(allowed):
            parser.error(f"--{choice} takes some of {','.join(allowed)}")
        setattr(given, choice, chosen)
    if not given.build:
        parser.error("--build or HCCT_BUILD must say where hcct is built")
    if "root" in given.users and os.geteuid() != 0:
        parser.error("only root can play two users: --users user")
    return given


class Outcome:
    """What is the same, or is not."""

    def __init__(self, status, out, err):
        self.parts = (status, out, err)

    def __eq__(self, other):
        return self.parts == other.parts

    def text(self):
        status, out, err = self.parts
        return f"status {status}, {out[-SHOWN:]!r}, stderr {err[-SHOWN:]!r}"


class Stage:
    """Where one user runs a program: a new directory for each run."""

    def __init__(self, root, user):
        self.root, self.user = root, user
        self.may_drop = user == "user" and os.geteuid() == 0

    def own(self, path):
        if self.may_drop:
            os.chown(path, NOBODY, NOBODY)

    def directory(self, program, prepared):
        path = tempfile.mkdtemp(prefix=program.name + "-", dir=self.root)
        for name in os.listdir(prepared):
            shutil.copy(os.path.join(prepared, name), path)
            self.own(os.path.join(path, name))
        self.own(path)
        return path

    def run(self, program, prepared, env, before=()):
        """`before`: what stands before the command."""
        path = self.directory(program, prepared)
        everything = {name: value for name, value in os.environ.items()
                      if not name.startswith(("HCCT_", "XDG_")) and name != "LD_PRELOAD"}
        everything.update(HOME=path, TMPDIR=path, LC_ALL="C", PORT=free_port(), **env)
        rights = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if self.may_drop else {}
        with open(path + ".out", "w+b") as out, open(path + ".err", "w+b") as err:
            child = subprocess.Popen(
                [*before, "sh", "-eu", program.name + ".sh"], cwd=path, env=everything, stdout=out,
                stderr=err, stdin=subprocess.DEVNULL, start_new_session=True, **rights)
            status = self.end_of(child, program.seconds)
            out.seek(0)
            err.seek(0)
            place = path.encode()
            outcome = Outcome(status, out.read().replace(place, b"HERE"),
                              err.read().replace(place, b"HERE"))
        for name in (path + ".out", path + ".err"):
            os.unlink(name)
        shutil.rmtree(path, ignore_errors=True)
        return outcome

    @staticmethod
    def end_of(child, seconds):
        try:
            return child.wait(seconds)
        except subprocess.TimeoutExpired:
            return "no end"
        finally:
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            child.wait()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def prepare(program, root):
    """The directory with what a run needs, or None and why there is none."""
    for need in program.needs:
        if shutil.which(need) is None:
            return None, f"there is no {need}"
    path = os.path.join(root, "prepared-" + program.name)
    os.makedirs(path)
    for name in [program.name + ".sh", *program.files]:
        shutil.copy(os.path.join(SOURCES, name), path)
    if program.build:
        done = subprocess.run(["sh", "-ec", program.build], cwd=path, capture_output=True,
                              text=True, check=False, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            return None, f"{program.build}: {done.stderr.strip()[-200:]}"
    return path, ""


class Seen:
    """What a profile has: samples, those with whole stacks, and its CPU time beside the kernel's."""

    def __init__(self, walks=0, complete=0, total=0, kernel=0):
        self.walks, self.complete, self.total, self.kernel = walks, complete, total, kernel

    def __add__(self, other):
        return Seen(self.walks + other.walks, self.complete + other.complete,
                    self.total + other.total, self.kernel + other.kernel)

    def text(self):
        words = f"{self.walks:>8} walks"
        if self.walks:
            words += f", {100 * self.complete / self.walks:5.1f} % whole"
        if self.kernel:
            words += f", N {100 * self.total / self.kernel:5.1f} % of the kernel's"
        return words


class Recorded:
    """Under hcct record, with a hcctd of its own. What it says itself, at the end, is taken away."""

    def run(self, stage, program, prepared, mode):
        import support
        profile = os.path.join(stage.root, "profile.pb.gz")
        if os.path.exists(profile):
            os.unlink(profile)
        options = [word for name, value in mode.items() for word in ("--" + name, value)]
        outcome = stage.run(program, prepared, {}, [support.HCCT, "record", "--no-report", "-o",
                                                    profile, *options, "--"])
        status, out, err = outcome.parts
        if not os.path.exists(profile):
            return Outcome(status, out, self.without_own(err)), Seen()
        report = support.report(profile)
        seen = Seen(sum(p["walks"] for p in report["processes"]),
                    sum(p["complete"] for p in report["processes"]), report["total"],
                    0 if mode.keys() & {"clock", "metric", "collector"} else report.get("kernel_ns", 0))
        return Outcome(status, out, self.without_own(err)), seen

    @staticmethod
    def without_own(err):
        own = rb"hcct: .* no profile is written|hcct: the profile is in |hcct: there is no sample of "
        return re.sub(rb"^(%s).*\n" % own, b"", err, flags=re.MULTILINE)


class AlwaysOn:
    """Preloaded, and a hcctd for all users."""

    def __init__(self, daemon):
        self.daemon = daemon

    def seen(self):
        processes = self.daemon.processes()
        return sum(p["walks"] for p in processes), sum(p["complete"] for p in processes)

    def run(self, stage, program, prepared, mode):
        walks, complete = self.seen()
        env = {"HCCT_" + name.upper(): value for name, value in mode.items()}
        outcome = stage.run(program, prepared, self.daemon.env(**env))
        after = self.seen()
        return outcome, Seen(after[0] - walks, after[1] - complete)


def judge(stage, program, prepared, way, mode, wanted, reruns):
    """(verdict, the outcome that differs, what was seen). What no run without the agent came to, in all
    runs with it, is a difference; runs are repeated in pairs, as chance may decide."""
    outcome, seen = way.run(stage, program, prepared, mode)
    if outcome in wanted:
        return "same", None, seen
    first = outcome
    for _ in range(reruns):
        wanted.append(stage.run(program, prepared, {}))
        outcome, more = way.run(stage, program, prepared, mode)
        seen += more
        if outcome in wanted:
            return "by chance", first, seen
    return "DIFFERS", first, seen


def run_program(program, prepared, given, places, ways):
    """How many differ."""
    different = 0
    for user in [u for u in given.users if u in program.users]:
        stage = places[user]
        wanted = [stage.run(program, prepared, {}) for _ in range(2)]
        note = "" if wanted[0] == wanted[1] else "; two runs without the agent differ"
        print(f"{program.name:<12}{user:<6}{'without':<11}{'':<12}status {wanted[0].parts[0]}, "
              f"{len(wanted[0].parts[1])} bytes, {len(wanted[0].parts[2])} on stderr{note}",
              flush=True)
        if wanted[0].parts[0] != program.status:
            print(f"    it should have ended with {program.status}: {wanted[0].text()}", flush=True)
            different += 1
        for name in given.ways:
            modes = {**MODES, **MORE_MODES} if name == "record" else MODES
            for mode in [m for m in given.modes if m in modes]:
                began = time.monotonic()
                verdict, outcome, seen = judge(stage, program, prepared, ways[name], modes[mode],
                                               wanted, given.reruns)
                print(f"{program.name:<12}{user:<6}{name:<11}{mode:<12}{verdict:<10}"
                      f"{time.monotonic() - began:>6.1f} s{seen.text()}", flush=True)
                if outcome is not None:
                    print(f"    without: {wanted[0].text()}\n    with: {outcome.text()}", flush=True)
                different += verdict == "DIFFERS"
    return different


def run_all(given, root, daemon):
    chosen = [p for p in programs.PROGRAMS if not given.names or p.name in given.names]
    places = {}
    for user in given.users:
        path = os.path.join(root, user)
        os.makedirs(path)
        os.chmod(path, 0o755)
        places[user] = Stage(path, user)
        places[user].own(path)
    ways = {"record": Recorded(), "always-on": AlwaysOn(daemon)}
    different, left_out = 0, 0
    for program in chosen:
        prepared, why = prepare(program, root)
        if prepared is None:
            print(f"{program.name:<12}left out: {why}", flush=True)
            left_out += 1
            continue
        different += run_program(program, prepared, given, places, ways)
    print(f"{len(chosen) - left_out} programs, {different} differences, {left_out} left out")
    return 0 if different == 0 and left_out < len(chosen) else 1


def main():
    given = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what runs ends with us
    os.environ["HCCT_BUILDDIR"] = os.path.abspath(given.build)
    sys.path.insert(0, os.path.join(HERE, "..", "..", "tests", "e2e"))
    import support
    for path in glob.glob("/usr/lib/postgresql/*/bin"):  # not in PATH in the distribution
        os.environ["PATH"] += ":" + path
    root = tempfile.mkdtemp(prefix="hcct-battery-")
    os.chmod(root, 0o755)
    try:
        with support.Daemon("--report-dir", "none", socket=os.path.join(root, "socket")) as daemon:
            os.chmod(daemon.socket, 0o666)
            return run_all(given, root, daemon)
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
