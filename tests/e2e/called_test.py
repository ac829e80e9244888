# SPDX-License-Identifier: LGPL-3.0-or-later
"""Processes are shown by the name they were executed by, as ps shows them, not by that of the file
behind it."""

import json
import os
import shutil
import sys

from support import HCCT, Daemon, check, finish, record, report, run, scratch, target

CALLED = target("called")


def link(name, to=CALLED):
    path = os.path.join(scratch("links"), name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.lexists(path):
        os.remove(path)
    os.symlink(to, path)
    return path


def names(command, **kwargs):
    """{command: [executable, weight]} of a profile of it."""
    path = scratch("called.pb.gz")
    result = record(command, path, **kwargs)
    check(result.status == 0, f"{command}: ended with status 0 ({result.err})")
    return {p["command"]: [p["exe"], p["total"]] for p in report(path)["processes"]}


def check_name(what, command, want, exe=CALLED):
    found = names(command)
    check(want in found and found[want][0] == exe and found[want][1] > 0,
          f"{what} is {want!r}, with all its time: {found}")


check_name("a program", [CALLED], "called")
check_name("a link", [link("redis")], "redis")
check_name("a link to a link", [link("second", link("first"))], "second")
check_name("what gives itself another name", [link("redis"), "renamed"], "redis")
check_name("what has no argument", [CALLED, "bare", link("redis")], "redis")
check_name("what was executed by a descriptor", [CALLED, "opened", link("redis")], "by-argument")
long = "a-name-that-is-longer-than-the-kernel-keeps"
check_name("a long name", [link(long)], long)

copy = scratch("copied")
shutil.copy(CALLED, copy)
found = names([copy, "gone"])
check("copied" in found and found["copied"][1] > 0 and not os.path.exists(copy),
      f"what removes its own file keeps its name: {found}")

script = scratch("script.py")
with open(script, "w") as f:
    f.write(f"#!{os.path.realpath(sys.executable)}\nn = 0\nfor i in range(4000000):\n    n += i\n")
os.chmod(script, 0o755)
found = names([script])
check(found.get("script.py", ["", 0])[0] == os.path.realpath(sys.executable),
      f"a script is called as it was executed: {found}")
found = names([os.path.realpath(sys.executable), script])
check(list(found) == [os.path.basename(os.path.realpath(sys.executable))],
      f"what was given to an interpreter is called as that: {found}")

# so is its module, and what has no name of its own in it; not so a script, nor what has two names
def modules(*commands):
    path = scratch("modules.pb.gz")
    result = record(["sh", "-c", "; ".join(commands)], path)
    check(result.status == 0, f"{commands} are recorded")
    functions = report(path)["functions"]
    return ({os.path.basename(m["path"]) for m in report(path)["modules"]},
            {f["function"] for f in functions if "+0x" in f["function"]})


stripped = scratch("stripped-1.2")
shutil.copy(CALLED, stripped)
have_strip = shutil.which("strip") is not None and run(["strip", stripped]).status == 0
found, places = modules(link("redis", stripped))
check("redis" in found and "stripped-1.2" not in found, f"a module has the link's name: {found}")
check(not have_strip or (any(place.startswith("redis+0x") for place in places)
                         and not any(place.startswith("stripped") for place in places)),
      f"and places in it: {sorted(places)}")
found, _ = modules(link("redis", stripped), link("other", stripped))
check("stripped-1.2" in found and not {"redis", "other"} & found,
      f"one that has two names has its file's: {found}")
found, _ = modules(script)
check("script.py" not in found, f"a script is no module: {found}")

# a name that would write to the terminal
evil = link("e\x1b[2Jvil\n\u009b\udc98")
path = scratch("evil.pb.gz")
record([evil], path)
for form in "text", "folded", "callgrind", "dot":
    out = report(path, form=form)
    check("\x1b" not in out and (form != "text" or "\x9b" not in out), f"{form}: no control character of the name gets out")

# the command that was recorded is the profile's title, and a shell takes it as it was given
command = [CALLED, "", "a b", "it's", "--x=$HOME", "*", "\x1b[31m\n", "\udcff\u009b", "gr\u00fc\u00df"]
path = scratch("title.pb.gz")
result = record(command, path)
title = report(path)["title"]
words = run(["bash", "-c", f"printf '%s\\0' {title}"]).out.split(b"\0")[:-1]
check(words == [os.fsencode(word) for word in command], f"a shell reads the arguments again: {title}")
check(title.isprintable() and "gr\u00fc\u00df" in title, "nothing in it steers a terminal")
check(result.err.decode().splitlines()[0] == title, "the report begins with it")
for form in "callgrind", "speedscope", "firefox", "dot", "html":
    check("--x=$HOME" in report(path, form=form), f"{form} has it")
sides = json.loads(run([HCCT, "diff", "--format", "json", path, path]).out)
check(sides["before"]["title"] == sides["after"]["title"] == title, "and hcct diff")
merged = scratch("merged.pb.gz")
run([HCCT, "merge", "-o", merged, path, path])
check(report(merged)["title"] == title, "the sum of two runs of one command keeps it")
run([HCCT, "merge", "-o", merged, path, scratch("evil.pb.gz")])
check("title" not in report(merged), "that of two commands has none")

# without a title, processes are named by their weight
path = scratch("named.pb.gz")
with Daemon() as daemon:
    run(["sh", "-c", f"{link('light')} & {link('heavy')}; {link('heavy')}; wait"], env=daemon.env())
    run([HCCT, "hot", "--socket", daemon.socket, "--format", "speedscope", "-o", path])
with open(path) as f:
    name = json.load(f)["name"]
check(name.startswith("heavy, light, sh: "), f"the heaviest first: {name}")

with Daemon() as daemon:
    for name in "gzip", "awk":
        run([link(name)], env=daemon.env())
    listed = daemon.processes()
    check(sorted(p["command"] for p in listed) == ["awk", "gzip"] and
          {p["exe"] for p in listed} == {CALLED}, f"hcctd lists both names: {listed}")
    for name, status in ("gzip", 0), ("called", 0), ("gunzip", 4):
        hot = run([HCCT, "hot", "--socket", daemon.socket, "-p", name])
        check(hot.status == status, f"'hot -p {name}': status {hot.status}: {hot.err}")
finish()
