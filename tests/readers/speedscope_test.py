# SPDX-License-Identifier: LGPL-3.0-or-later
"""speedscope_test.py - does speedscope take our files whole: its schema, and the viewer itself?"""

import json
import subprocess

import contexts
from npm import HCCT, check, chromium, finish, run_node, sample_total, scratch, write_sample


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def check_file(name, path, want):
    """The file against the schema, and its weights, to the last digit."""
    errors = run_node("schema.js", path)
    check(errors == [], f"{name}: speedscope's schema holds {errors[:3]}")
    profile = read(path)
    check(contexts.of_speedscope(profile) == want, f"{name}: contexts and weights are all there")
    return profile


def check_viewer(name, profile, seen):
    """What the viewer shows, and what it writes when asked to export what it has read."""
    check(seen["complaints"] == [], f"{name}: the viewer complains of nothing {seen['complaints']}")
    check(seen["title"].startswith(profile["name"]), f"{name}: its title is {seen['title']!r}")
    check(profile["profiles"][0]["name"] in seen["text"], f"{name}: it names the process")
    for ours, theirs in zip(profile["profiles"], seen["exported"]["profiles"], strict=True):
        check(float(theirs["endValue"]) == float(ours["endValue"]) and
              theirs["unit"] == ours["unit"],
              f"{name}: it has {theirs['endValue']} {theirs['unit']} of {ours['name']!r}")


def check_exported(name, profile, seen):
    """Names and weights, as the viewer understood them."""
    check(contexts.of_speedscope(seen["exported"]) == contexts.of_speedscope(profile),
          f"{name}: it exports the contexts that it was given")


def sum_of(profile, errors):
    return sum(part["endValue"] for part in profile["profiles"]
               if contexts.is_of_errors(part) == errors)


def check_sample(sample):
    """The file of a sample; gives the path and the profile."""
    ours = read(write_sample(sample, "json", scratch(sample + ".json")))
    path = write_sample(sample, "speedscope", scratch(sample + ".speedscope.json"))
    profile = check_file(sample, path, contexts.of_json(ours))
    check(sum_of(profile, False) == sample_total(sample), f"{sample}: the weights make up N")
    check(sum_of(profile, True) == sum(node["error"] for node in ours["nodes"]),
          f"{sample}: the error bounds are all there, {sum_of(profile, True)} together")
    return path, profile


def check_made(kind):
    """The same for profiles that no sample is like, made by another tool."""
    made = scratch(kind + ".pb.gz")
    run_node("make_pprof.js", kind, made)
    for suffix in (".json", ".speedscope.json"):
        subprocess.run([HCCT, "report", "-o", scratch(kind + suffix), made], check=True)
    path = scratch(kind + ".speedscope.json")
    return path, check_file(kind, path, contexts.of_json(read(scratch(kind + ".json"))))


def check_shell(profile, seen):
    frames = {frame["name"]: frame for frame in profile["shared"]["frames"]}
    check("sqlite3VdbeSerialGet" in frames, "an inlined function is a frame of its own")
    check(frames["main"]["file"] == "/src/part2.c" and frames["main"]["line"] > 0,
          "frames have their source file and line")
    check(frames["_start"] == {"name": "_start", "file": "/usr/bin/sqlite3"},
          "or the module, where no source file is known")
    check(["7.86s (82%)", "3.41s (35%)", "sqlite3VdbeExec"] in seen["rows"],
          "the viewer's table has a function's weights")


chromium()
SAMPLES = ("shell", "build", "names", "hard", "calls")
MADE = ("huge", "deep", "none")
files = {name: check_sample(name) for name in SAMPLES} | {name: check_made(name) for name in MADE}
views = dict(zip(files, run_node("speedscope_viewer.js", *(path for path, _ in files.values()))))
for name, (_, profile) in files.items():
    check_viewer(name, profile, views[name])
    if name != "huge":
        check_exported(name, profile, views[name])
check_shell(files["shell"][1], views["shell"])
check(files["huge"][1]["profiles"][0]["endValue"] == 2**62 + 2**61 + 9,
      "weights beyond 53 bits keep all digits")
finish()
