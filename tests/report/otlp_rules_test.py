# SPDX-License-Identifier: LGPL-3.0-or-later
"""The rules that stubs and readers_test hold our profiles of OpenTelemetry to: a profile of ours keeps
them all, and each is broken by what it forbids."""

import copy
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE]
import otlp_rules  # noqa: E402
import prototext  # noqa: E402

if shutil.which("protoc") is None:
    print("skipped: protoc is not installed")
    sys.exit(77)
sample = subprocess.run([os.path.join(os.environ["HCCT_BUILDDIR"], "tests", "report", "write_sample"), "hard", "otlp"],
                        capture_output=True, check=True).stdout
good = prototext.decode(sample, os.path.join(HERE, "..", "..", "common", "render", "otlp.proto"), "otlp.ProfilesData")
failed = 0


def check(condition, what):
    global failed
    print(("ok      " if condition else "NOT SO  ") + what)
    failed += not condition


def dictionary(data):
    return data["dictionary"][0]


def profile(data):
    return data["resource_profiles"][0]["scope_profiles"][0]["profiles"][0]


def with_attribute(data):
    return next(one for one in dictionary(data)["location_table"] + dictionary(data)["mapping_table"] + [profile(data)]
                if one.get("attribute_indices"))


def same_key_twice(data):
    table, place = dictionary(data)["attribute_table"], with_attribute(data)
    other = copy.deepcopy(table[place["attribute_indices"][0]])
    other["value"] = [{"string_value": [b"another"]}]
    table.append(other)
    place["attribute_indices"].append(len(table) - 1)


def add(table, entry):
    return lambda data: dictionary(data)[table].append(entry)


BROKEN = (
    ("a table without entry 0", lambda data: dictionary(data)["string_table"].pop(0)),
    ("an empty table", lambda data: dictionary(data).pop("link_table")),
    ("an entry twice", lambda data: dictionary(data)["string_table"].append(dictionary(data)["string_table"][-1])),
    ("a string for nothing", add("string_table", b"nobody wants it")),
    ("a stack for nothing", add("stack_table", {"location_indices": [1, 1, 1, 1]})),
    ("a place beyond its table", lambda data: profile(data)["samples"][0].update(stack_index=[99999])),
    ("a place below 0", lambda data: profile(data)["samples"][0].update(stack_index=[-1])),
    ("a key twice", same_key_twice),
    ("a mapping without addresses", lambda data: dictionary(data)["mapping_table"][1].update(memory_limit=[0])),
    ("a line below 0", lambda data: next(one["lines"][0] for one in dictionary(data)["location_table"] if one.get("lines"))
     .update(line=[-1])),
    ("a column below 0", lambda data: next(one["lines"][0] for one in dictionary(data)["location_table"] if one.get("lines"))
     .update(column=[-1])),
    ("a function that begins below 0", lambda data: dictionary(data)["function_table"][1].update(start_line=[-7])),
    ("a function without a name", add("function_table", {"start_line": [5]})),
    ("a link of another size", add("link_table", {"trace_id": [b"short"], "span_id": [b"12345678"]})),
    ("two values", lambda data: profile(data)["samples"][0].update(values=[1, 2])),
    ("no value", lambda data: profile(data)["samples"][0].pop("values")),
    ("one stack twice", lambda data: profile(data)["samples"].append(profile(data)["samples"][0])),
    ("no type", lambda data: profile(data).pop("sample_type")),
    ("no profile", lambda data: data["resource_profiles"][0]["scope_profiles"][0].pop("profiles")),
    ("no scope", lambda data: data["resource_profiles"][0].update(scope_profiles=[])),
    ("no resource", lambda data: data.update(resource_profiles=[])),
)

check(not otlp_rules.broken_rules(good), f"ours keeps them: {otlp_rules.broken_rules(good)}")
for what, breaks in BROKEN:
    bad = copy.deepcopy(good)
    breaks(bad)
    found = otlp_rules.broken_rules(bad)
    check(found, f"{what}: {found[:2]}")
sys.exit(1 if failed else 0)
