# SPDX-License-Identifier: LGPL-3.0-or-later
"""What the user calls a run (HCCT_TAGS, --tags) is in its profile, wherever that goes: labels of
samples for pprof's -tagfocus, a member of JSON's processes, the title of the text. A daemon answers
by tag, keeps finished runs of other tags apart, and knows tags again after it was killed."""

import gzip
import json
import subprocess

from support import (AGENT, HCCT, Daemon, check, finish, record, report, run, scratch, target)

BURN = [target("equal_threads"), "1", "0.3"]


def tags_of(processes):
    return sorted(p.get("tags", "") for p in processes)


# ---- one profile ----

path = scratch("tags.pb.gz")
result = record(BURN, path, "--tags", "build=417,host=db 1/a")
check(result.status == 0, "record --tags ends with status 0")
check(tags_of(report(path)["processes"]) == ["build=417,host=db 1/a"], "the profile has the tags")
with gzip.open(path) as file:
    words = file.read()
check(all(word in words for word in (b"\x05build", b"\x03417", b"\x04host", b"\x06db 1/a")),
      "keys and values are strings of their own, for the labels of samples")
text = run([HCCT, "report", path]).out.decode()
check("build=417,host=db 1/a" in text, "the text names them")

again = scratch("again.pb.gz")
run([HCCT, "report", "-o", again, path])
check(tags_of(report(again)["processes"]) == ["build=417,host=db 1/a"], "they outlive a copy")

other, both = scratch("other.pb.gz"), scratch("both.pb.gz")
record(BURN, other, "--tags", "build=418")
run([HCCT, "merge", "-o", both, path, other, path])
check(tags_of(report(both)["processes"]) == ["build=417,host=db 1/a", "build=418"],
      "merge adds up what has the same tags, and nothing else")

bad = run([HCCT, "record", "-o", scratch("bad.pb.gz"), "--tags", "build", *BURN])
check(bad.status == 2 and b"--tags 'build'" in bad.err and b"KEY=VALUE" in bad.err,
      f"what are no tags is refused: {bad.err.decode().strip()}")

# ---- a daemon ----

daemon = Daemon("--state-dir", scratch("state"), "--checkpoint", "1").start()
for tags, runs in (("build=1", 2), ("build=2,kind=test", 1), ("", 1)):
    for _ in range(runs):
        subprocess.run(BURN, env=daemon.env(LD_PRELOAD=AGENT, HCCT_TAGS=tags), check=True,
                       stdout=subprocess.DEVNULL)


def hot(*options):
    return run([HCCT, "hot", "--socket", daemon.socket, "--format", "json", *options])


check(tags_of(daemon.processes()) == ["", "build=1", "build=1", "build=2,kind=test"],
      f"the list has the tags: {tags_of(daemon.processes())}")
check(tags_of(json.loads(hot("--tag", "kind=test").out)["processes"]) == ["build=2,kind=test"],
      "hot --tag shows what has that tag")
check(len(json.loads(hot("--tag", "build=1").out)["processes"]) == 2, "and all that has it")
none = hot("--tag", "build=3")
check(none.status != 0 and b"build=3" in none.err, f"and says so: {none.err.decode().strip()}")
wrong = hot("--tag", "build")
check(wrong.status != 0 and b"KEY=VALUE" in wrong.err, f"no tag: {wrong.err.decode().strip()}")

said = subprocess.run(BURN, env=daemon.env(LD_PRELOAD=AGENT, HCCT_TAGS="not a tag"),
                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True).stderr
check(b'HCCT_TAGS is "not a tag" but must be KEY=VALUE' in said,
      f"the agent names a bad value: {said.decode().strip()}")

saved = daemon.wait_for(lambda p: p.get("tags") == "build=2,kind=test" and
                        p["state"] == "finished", 10)
check(saved is not None, "a finished process has its tags")
daemon.stop()
daemon.start()
check("build=2,kind=test" in tags_of(daemon.processes()), "the next hcctd knows the tags again")
check(daemon.stop() == 0, "hcctd ends with status 0")
finish()
