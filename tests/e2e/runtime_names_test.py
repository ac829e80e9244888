# SPDX-License-Identifier: LGPL-3.0-or-later
"""Runtimes get what makes them name their code, where they know it and their user has said nothing
of it; the program does the same otherwise, and no file is left behind."""

import os
import re
import resource
import shutil
import subprocess
import tempfile

from support import HCCT, check, finish, folded, run, scratch, target

NODE = "--perf-basic-prof --interpreted-frames-native-stack"
JAVA = ["-XX:+PreserveFramePointer", "-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit"]
MINE = ("NODE_OPTIONS", "PYTHONPERFSUPPORT", "PYTHON_PERF_JIT_SUPPORT", "JAVA_TOOL_OPTIONS",
        "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")
for variable in MINE:
    os.environ.pop(variable, None)


def fake(path, program="runtime_knows"):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    shutil.copy(target(program), path)
    return path


def script(path, interpreter):
    with open(path, "w") as file:
        file.write(f"#!{interpreter}\n")
    os.chmod(path, 0o755)
    return path


def libjvm(home, *options):
    os.makedirs(os.path.join(home, "lib", "server"), exist_ok=True)
    with open(os.path.join(home, "lib", "server", "libjvm.so"), "wb") as file:
        file.write(b"\0" + b"\0".join(option.encode() for option in options) + b"\0")


class Seen:
    """What a runtime that is recorded sees, and what is left of its map."""

    def __init__(self, command, *options, **env):
        result = run([HCCT, "record", "-o", scratch("names.pb.gz"), "--no-report", *options, "--",
                      *command], env=env)
        lines = result.out.decode().splitlines()
        self.status, self.err = result.status, result.err.decode()
        self.variables = dict(line.split("=", 1) for line in lines if line.split("=")[0] in MINE)
        self.map = next((line[4:] for line in lines if line.startswith("map=")), None)
        self.arguments = [line for line in lines
                          if line.split("=")[0] not in MINE and not line.startswith("map=")]
        self.left = self.map is not None and os.path.lexists(self.map)
        if self.left:
            os.unlink(self.map)
        self.said = "names of its generated code" in self.err

    def has_nothing(self, command, **variables):
        return (self.status == 3 and self.arguments == command and self.variables == variables
                and not self.said)


# ---- node ----

node = fake(scratch("bin/node"))
command = [node, "app.js", "x y"]
seen = Seen(command)
check(seen.status == 3 and seen.arguments == command and seen.variables == {"NODE_OPTIONS": NODE},
      f"node gets its options, and has its own arguments: {seen.variables}")
check(seen.said and NODE in seen.err, "that is said, with the options")
check(seen.map is not None and not seen.left, "its map is removed")

seen = Seen(command, "--no-runtime-names")
check(seen.has_nothing(command), "--no-runtime-names: nothing is added, or said")

seen = Seen(command, NODE_OPTIONS="--max-old-space-size=99")
check(seen.variables == {"NODE_OPTIONS": "--max-old-space-size=99 " + NODE},
      f"they stand behind the user's own: {seen.variables}")

own = "--perf_basic_prof --interpreted-frames-native-stack"
seen = Seen(command, NODE_OPTIONS=own)
check(seen.has_nothing(command, NODE_OPTIONS=own), "a user's options are not added again")
check(seen.left, "a map that the user asked for stays")

seen = Seen(command, NODE_OPTIONS="--perf-basic-prof")
check(seen.variables == {"NODE_OPTIONS": NODE} and seen.left,
      "one of them is the user's: the other is added, and the map stays")

against = [node, "--no-perf-basic-prof", "--no-interpreted-frames-native-stack", "app.js"]
check(Seen(against).has_nothing(against), "a user who is against them gets none")

for word in ("--snapshot-blob=s", "--build-snapshot"):
    check(Seen([node, word, "a.js"]).has_nothing([node, word, "a.js"]), f"with {word} none is added")

older = fake(scratch("older/node"), "runtime")
check(Seen([older, "app.js"]).has_nothing([older, "app.js"]),
      "a node that does not know them gets none")

os.symlink(node, scratch("bin/name"))
check(Seen([scratch("bin/name")]).variables == {"NODE_OPTIONS": NODE}, "a link to node is node")
os.symlink(fake(scratch("bin/other")), scratch("older/nodejs"))
other = [scratch("older/nodejs")]
check(Seen(other).has_nothing(other), "a link that is called nodejs is what it leads to")

started = script(scratch("bin/app"), f"/usr/bin/env {node}")
seen = Seen([started, "x"])
check(seen.variables == {"NODE_OPTIONS": NODE} and seen.arguments == [node, started, "x"],
      "a script of node's is node")

for how in ("old", "link"):
    seen = Seen(command, FAKE_MAP=how)
    check(seen.map is not None and seen.left, f"a map that may not be the program's stays: {how}")

soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, hard))
check(Seen(command).has_nothing(command), "where files are limited in size none is added")
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

# node's logs are where it runs.
home = os.getcwd()
os.makedirs(scratch("logs"))
os.chdir(scratch("logs"))


def logs(*arguments, **variables):
    """How many files are left, and how many of the two that are this process's, and of now."""
    Seen([node, "app.js", *arguments], FAKE_LOGS="1", **variables)
    left = os.listdir(".")
    for name in left:
        os.unlink(name)
    return len(left), sum(re.fullmatch(r"isolate(-0x2a9f|0x7f00)-\d+-v8\.log", name) is not None for name in left)


seen = logs()
check(seen == (4, 1), f"logs that node leaves by itself are removed, others are not: {seen}")
check(logs("--log-level=3")[0] == 4, "also where the program has an option that begins like one of node's")
for word in ("--prof", "--logfile=x", "--log-all"):
    check(logs(NODE_OPTIONS=word)[0] == 6 and logs(word)[0] == 6, f"not those of a user who gives {word}")
check(logs(NODE_OPTIONS="--perf-basic-prof")[0] == 6, "nor of one who asks for the names")
os.chdir(home)

# What is in the way of its map stays, and node, which would end, gets no option.
outside = tempfile.mkdtemp(prefix="hcct-test-", dir="/var/tmp")
inside = fake(os.path.join(outside, "node"))
contained = ["unshare", "--user", "--map-root-user", "--pid", "--mount", "--fork", "--mount-proc",
             "sh", "-c", 'mount -t tmpfs none /tmp && mkdir $(seq -f /tmp/perf-%.0f.map 1 200) || '
             'exit 99; "$@"; status=$?; rmdir /tmp/perf-*.map || status=9; exit $status', "sh"]
there = run([*contained, inside])
if there.status == 3:
    result = run([*contained, HCCT, "record", "-o", "/dev/null", "--no-report", "--", inside],
                 env={"XDG_RUNTIME_DIR": outside, "XDG_CACHE_HOME": outside})
    check(result.status == 3 and result.out.decode().splitlines() == [inside],
          f"a directory is in the way of the map: {result.status} {result.out} {result.err}")
else:
    print("no container can be made here, or it can't see the build")
shutil.rmtree(outside)

# ---- java ----

java = fake(scratch("jdk/bin/java"), "runtime")
libjvm(scratch("jdk"), *(option.split("+")[1] for option in JAVA))
command = [java, "-cp", ".", "Main"]
seen = Seen(command)
check(seen.status == 3 and seen.arguments == [java, *JAVA, *command[1:]] and not seen.variables,
      f"java gets its options before its arguments: {seen.arguments}")
check(seen.said and seen.map is not None and not seen.left, "that is said, and its map is removed")
check(Seen(command, "--no-runtime-names").has_nothing(command), "--no-runtime-names: none")

own = [java, "-XX:-PreserveFramePointer", "Main"]
check(Seen(own).arguments == [java, *JAVA[1:], *own[1:]], "an option that its user gives is left out")
own = [java, "-XX:+UnlockDiagnosticVMOptions", "Main"]
check(Seen(own).arguments == [java, *JAVA, *own[1:]],
      "what unlocks an option stands before it, also where the user has it behind")
own = [java, "-XX:-UnlockDiagnosticVMOptions", "Main"]
check(Seen(own).has_nothing(own), "a user who unlocks nothing gets nothing")
seen = Seen(command, JDK_JAVA_OPTIONS=" ".join(JAVA))
check(seen.has_nothing(command, JDK_JAVA_OPTIONS=" ".join(JAVA)),
      "so are those in the environment")

started = script(scratch("jdk/bin/app"), java)
seen = Seen([started, "x"])
check(seen.arguments == [java, started, "x"] and not seen.said, "a script of java's gets none")

older = fake(scratch("jre/bin/java"), "runtime")
check(Seen([older]).has_nothing([older]), "a java without libjvm.so gets none")
libjvm(scratch("jre"), "PreserveFramePointer", "UnlockDiagnosticVMOptions", "DumpPerfMapAtExitOf")
check(Seen([older]).has_nothing([older]), "a java that does not know them gets none")

# ---- real ones ----

os.chdir(scratch("logs"))


def named(path):
    """The part of a program's time whose innermost function has a name."""
    total = sum(weight for _, weight in folded(path))
    lost = sum(weight for frames, weight in folded(path) if frames[-1] == "[generated code]")
    return 1 - lost / total


def real(name, source, function, text):
    """A real runtime: it says the same, and more of its time has names."""
    program = shutil.which(name)
    if program is None:
        print(f"{name} is not installed")
        return
    with open(scratch(source), "w") as file:
        file.write(text)
    command = [program, scratch(source), "x"]
    alone = subprocess.run(command, capture_output=True, check=False)
    if alone.returncode != 5:
        print(f"{name} can't run a program: {alone.stderr.decode()}")
        return
    paths = {}
    for options in ((), ("--no-runtime-names",)):
        path = paths[options] = scratch(f"{name}{len(options)}.pb.gz")
        result = run([HCCT, "record", "-o", path, "--no-report", *options, "--", *command])
        err = [line for line in result.err.decode().splitlines() if not line.startswith("hcct: ")]
        check((result.status, result.out, err) == (5, alone.stdout, alone.stderr.decode().splitlines()),
              f"{name} {options}: status, stdout and stderr are as without hcct")
        check(os.listdir(".") == [], f"{name} {options}: no file is left where it ran: {os.listdir('.')}")
    if not any("[generated code]" in frames for frames, _ in folded(paths[("--no-runtime-names",)])):
        print(f"{name}: there is no generated code without a name")
        return
    shares = ", ".join(f"{100 * named(path):.0f} %" for path in paths.values())
    found = [any(function in frame for frames, _ in folded(path) for frame in frames)
             for path in paths.values()]
    check(found == [True, False],
          f"{name}: {function} has its name, and none without that ({shares} of the time are named)")


real("node", "app.js", "fib", """
const fib = n => n < 2 ? n : fib(n - 1) + fib(n - 2);
console.log(fib(35), process.argv.length, process.execArgv.length);
console.error("done");
process.exit(5);
""")
real("java", "App.java", "App.fib(int)", """
public class App {
    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    public static void main(String[] arguments) {
        long sum = 0;
        for (int i = 0; i < 100; i++)
            sum += fib(32);
        System.out.println(sum + " " + arguments.length);
        System.err.println("done");
        System.exit(5);
    }
}
""")
finish()
