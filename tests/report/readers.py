# SPDX-License-Identifier: LGPL-3.0-or-later
"""readers.py - what tools of others say of a file that we wrote, as weights by function.

A reader gives (N, self weights by name), or None when the tool is not installed. Whatever it says on
stderr is a complaint, and raises Complaint.
"""

import collections
import glob
import html
import json
import os
import re
import shutil
import subprocess
import tempfile


class Complaint(Exception):
    """A reader didn't like a file."""


def read_by(*command, stdin=None):
    """What the command prints; it must succeed and say nothing else."""
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(command, stdin=stdin, capture_output=True, check=False,
                              env={**os.environ, "HOME": home, "PPROF_TMPDIR": home})
    if done.returncode != 0 or done.stderr:
        raise Complaint(f"{command}: {done.returncode} {done.stderr.decode()[:2000]}")
    return done.stdout.decode(errors="replace")  # flamegraph.pl shortens names within a character


def add_up(pairs):
    weights = collections.Counter()
    for name, weight in pairs:
        weights[name] += weight
    return weights


# ---- pprof ----

def have_pprof():
    return shutil.which("go") and subprocess.run(["go", "tool", "pprof", "-help"], check=False,
                                                 capture_output=True).returncode == 0


def pprof(path, *options):
    return read_by("go", "tool", "pprof", "-symbolize=none", *options, path)


def pprof_top(path, *options):
    """The flat column of all rows, and the total above them."""
    if not have_pprof():
        return None
    out = pprof(path, "-top", "-trim=false", "-unit=ns", *options)
    total = re.search(r"^Showing nodes accounting for .* of (-?\d+)(?:ns)? total", out, re.M)
    rows = re.findall(r"^ *(-?\d+)(?:ns)? +\S+% +\S+% +-?\d+(?:ns)? +\S+%  (.*)$", out, re.M)
    return int(total[1]), add_up((re.sub(r" \(inline\)$", "", name), int(weight))
                                 for weight, name in rows)


def pprof_raw(path):
    """The sums of the columns of weights: of the weight, of its error."""
    if not have_pprof():
        return None
    samples = pprof(path, "-raw").split("\nSamples:\n")[1].split("\nLocations\n")[0]
    rows = re.findall(r"^ *(\d+) +(\d+): [\d ]+$", samples, re.M)
    return sum(int(row[0]) for row in rows), sum(int(row[1]) for row in rows)


def pprof_traces(path):
    """[(weight, innermost name)] of all contexts."""
    if not have_pprof():
        return None
    out = pprof(path, "-traces", "-unit=ns")
    found = re.findall(r"^ *(\d+)(?:ns)?   (.*)$", out.split("-" * 20, 1)[1], re.M)
    return [(int(weight), re.sub(r" \(inline\)$", "", name)) for weight, name in found]


def unescape_bytes(text):
    """A string of protobuf's text format."""
    return (re.sub(rb"\\(\d{3}|.)", lambda m: bytes([int(m[1], 8)]) if len(m[1]) == 3 else
                   {b"n": b"\n", b"t": b"\t", b"r": b"\r"}.get(m[1], m[1]), text.encode())
            .decode())


def protoc(path, proto):
    """By name: the sums over the innermost functions. The message must have no unknown field."""
    if not shutil.which("protoc") or not shutil.which("gzip"):
        return None
    plain = subprocess.run(["gzip", "-dc", path], check=True, capture_output=True).stdout
    with tempfile.TemporaryFile() as stdin:
        stdin.write(plain)
        stdin.seek(0)
        out = read_by("protoc", "--decode=perftools.profiles.Profile",
                      "--proto_path=" + os.path.dirname(proto), os.path.basename(proto),
                      stdin=stdin)
    if re.search(r"^ *\d+:", out, re.M):
        raise Complaint(f"{path}: fields that profile.proto doesn't know")
    strings = [unescape_bytes(text) for text in re.findall(r'^string_table: "(.*)"$', out, re.M)]

    def parts(kind):
        return re.findall(rf"^{kind} {{\n(.*?)^}}", out, re.M | re.S)

    def number(key, text):
        found = re.search(rf"^ *{key}: (\d+)", text, re.M)
        return int(found[1]) if found else 0

    names = {number("id", f): strings[number("name", f)] for f in parts("function")}
    leaf = {number("id", place): names.get(number("function_id", place))
            for place in parts("location")}
    weights = add_up((leaf[number("location_id", sample)], number("value", sample))
                     for sample in parts("sample"))
    return sum(weights.values()), weights


# ---- callgrind ----

def callgrind(path, *options):
    """The rows of functions, and PROGRAM TOTALS, which must not be made up from them."""
    if not shutil.which("callgrind_annotate"):
        return None
    out = read_by("callgrind_annotate", "--threshold=100", "--auto=no", *options, path)
    total = re.search(r"^ *([\d,]+) .* PROGRAM TOTALS(.*)$", out, re.M)
    if total[2]:
        raise Complaint(f"{path}: PROGRAM TOTALS{total[2]}")
    mark = r"\*  " if "--tree=both" in options else ""
    rows = re.findall(r"^ *([\d,]+) \([ \d.]+%\) +(?:[\d,]+ \([ \d.]+%\)|\d+|\.) +" + mark +
                      r"[^:]*:(.*) \[.*\]$", out, re.M)
    return (int(total[1].replace(",", "")),
            [(name, int(weight.replace(",", ""))) for weight, name in rows])


def callgrind_self(path):
    """f'2 is f again."""
    found = callgrind(path, "--inclusive=no")
    return found and (found[0], add_up((re.sub(r"(?<!^f)'\d+$", "", name), weight)
                                       for name, weight in found[1]))


def callgrind_inclusive(path):
    found = callgrind(path, "--inclusive=yes", "--tree=both")
    return found and (found[0], add_up(found[1]))


# ---- flamegraph.pl ----

def flamegraph_tool():
    places = glob.glob("/usr/share/perl5/Devel/NYTProf/flamegraph.pl") + \
        glob.glob("/usr/lib/*/perl5/*/Devel/NYTProf/flamegraph.pl")
    tool = shutil.which("flamegraph.pl") or (places[0] if places else None)
    return tool if tool and shutil.which("perl") else None


def flamegraph(path):
    """Inclusive weights of all boxes by name: those of one name are added up."""
    if not flamegraph_tool():
        return None
    out = read_by("perl", flamegraph_tool(), "--minwidth=0", "--countname=units", path)
    rows = [(html.unescape(name), int(weight.replace(",", ""))) for name, weight in
            re.findall(r"<title>(.*) \(([\d,]+) units, [\d.]+%\)</title>", out)]
    boxes = len(re.findall("<title>", out))
    if boxes != len(rows):
        raise Complaint(f"{path}: {boxes - len(rows)} boxes of a difference between two profiles")
    return dict(rows)["all"], add_up(rows)


# ---- dot ----

def dot(path):
    """Self weights of the boxes; N, and what the legend says is in none."""
    if not shutil.which("dot"):
        return None
    graph = json.loads(read_by("dot", "-Tjson", path))
    boxes = [box for box in graph["objects"] if "hcct_function" in box]
    return (int(graph["hcct_total"]), int(graph["hcct_hidden"]) + int(graph["hcct_pruned"]),
            add_up((re.sub(r"\\(.)", r"\1", box["hcct_function"]), int(box["hcct_self"]))
                   for box in boxes))


def dot_svg(path):
    """All words of the picture and of its tooltips, a line each."""
    svg = read_by("dot", "-Tsvg", path)
    return [html.unescape(text) for text in re.findall(r"<text [^>]*>(.*?)</text>", svg)], \
        [line for title in re.findall(r'xlink:title="([^"]*)"', svg)
         for line in html.unescape(title).split("\n")]
