# SPDX-License-Identifier: LGPL-3.0-or-later
"""contexts.py - what a profile says, in one form for all formats: {process: {path: weight}}, where a
process is a number from 0 on, heaviest first, and a path the names of its frames, outermost first.
"""

from collections import Counter


def of_json(profile):
    """Of our own JSON, which tests elsewhere hold against the profile itself."""
    nodes = profile["nodes"]
    paths, weights = [], [Counter() for _ in profile["processes"]]
    for node in nodes:
        root = node["parent"] is None
        paths.append(() if root else paths[node["parent"]] + (node["function"],))
        weights[node["process"]][paths[-1] or ("[~]",)] += node["count"]
    return heaviest_first(weights)


def of_speedscope(profile):
    """Of an evented profile; checks that calls nest and end at the end."""
    return heaviest_first(of_events(part, profile["shared"]["frames"])
                          for part in profile["profiles"] if not is_of_errors(part))


def is_of_errors(part):
    """Its weights are error bounds."""
    return ": error bounds of self weights" in part["name"]


def of_events(part, frames):
    weights, stack, at = Counter(), [], part["startValue"]
    for event in part["events"]:
        if event["at"] < at:
            raise ValueError("events go back")
        if event["at"] > at:
            weights[tuple(frames[frame]["name"] for frame in stack)] += event["at"] - at
        at = event["at"]
        if event["type"] == "O":
            stack.append(event["frame"])
        elif stack.pop() != event["frame"]:
            raise ValueError("another call ends than the last that began")
    if stack or at != part["endValue"]:
        raise ValueError("the end is not at the end")
    return weights


CUT = "..."  # a frame for what is left out below its caller


def of_tree(tree):
    """Of a call tree as the Firefox Profiler's command line gives it: names, self weights. It leaves
    out what is too deep, but for its weight."""
    weights, todo = Counter(), [((), tree)]
    while todo:
        path, node = todo.pop()
        for child in node.get("children", []):
            todo.append((path + (child["name"],), child))
        weights[path] += node["selfSamples"]
        weights[path + (CUT,)] += node.get("childrenTruncated", {}).get("combinedSamples", 0)
    return Counter({path: weight for path, weight in weights.items() if weight != 0})


def cut(weights, depth):
    """The same of contexts that are known whole."""
    found = Counter()
    for path, weight in weights.items():
        found[path if len(path) <= depth else path[:depth] + (CUT,)] += weight
    return found


def heaviest_first(weights):
    found = [Counter({path: n for path, n in part.items() if n > 0}) for part in weights]
    return sorted((part for part in found if part), key=lambda part: (-part.total(), sorted(part)))


def scaled(weights, scale):
    return Counter({path: weight * scale for path, weight in weights.items()})
