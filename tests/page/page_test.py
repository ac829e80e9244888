# SPDX-License-Identifier: LGPL-3.0-or-later
"""page_test.py - the HTML page in a browser: what it shows is what the JSON report of the same profile
says, and what is done to it leads where it should. Screenshots stay in the build directory."""

import collections
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "readers"))
from npm import (BUILD, WRITE_SAMPLE, check, chromium, finish, modules, run_node,  # noqa: E402
                 scratch, target)

HERE = os.path.dirname(os.path.abspath(__file__))
WRITE_PAGE = os.path.join(BUILD, "tests", "page", "write_page")
HCCT = os.path.join(BUILD, "client", "hcct")
SHOTS = os.path.join(BUILD, "tests", "page", "shots")


def write(program, name, form):
    path = scratch(f"{name}.{form}")
    with open(path, "wb") as out:
        subprocess.run([program, name, form], stdout=out, check=True)
    return path


def visible(text):
    """As the page shows what would break a line."""
    return "".join("\u2421" if c == "\x7f" else chr(0x2400 + ord(c)) if c < " " else
                   "\ufffd" if c in "\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e"
                   "\u2066\u2067\u2068\u2069" else c for c in text)


class Expected:
    """The same numbers from the JSON report, by walking each context's path."""

    def __init__(self, report):
        self.nodes = report["nodes"]
        self.total = report["total"]
        self.single = len(report["processes"]) == 1
        self.paths, self.modules = [], [module["path"] for module in report["modules"]]
        self.keys = []  # as paths, with modules, by which functions of one name differ
        for node in self.nodes:
            above = self.paths[node["parent"]] if node["parent"] is not None else []
            name = visible(node["function"]) if "function" in node else None
            self.paths.append(above + [name])
            keys = self.keys[node["parent"]] if above else []
            module = visible(self.modules[node["module"]]) if "module" in node else ""
            self.keys.append(keys + [f"{name}\n{module}"])

    def contexts(self):
        return [(path, node["count"]) for path, node in zip(self.paths, self.nodes)]

    def table(self):
        rows = collections.defaultdict(lambda: [0, 0])
        for path, node in zip(self.keys, self.nodes):
            for name in set(path[1:]):
                rows[name][1] += node["count"]
            if len(path) > 1:
                rows[path[-1]][0] += node["count"]
        return dict(rows)

    def own(self):
        rows = collections.Counter()
        for path, count in self.contexts():
            if path[-1] is not None:
                rows[path[-1]] += count
        return {name: count for name, count in rows.items() if count}

    def matched(self, text):
        return sum(count for path, count in self.contexts() if any(text in (n or "") for n in path))

    def matched_name(self, name):
        return sum(count for path, count in self.contexts() if name in path)

    def callers(self, function):
        """Weight of the function by its caller, at its outermost occurrence."""
        rows = collections.Counter()
        for path, count in self.contexts():
            if function in path:
                at = path.index(function)
                if path[at - 1] is not None:
                    rows[path[at - 1]] += count
        return {name: count for name, count in rows.items() if count}

    def callees(self, function):
        rows = collections.Counter()
        for path, count in self.contexts():
            if function in path and path.index(function) + 1 < len(path):
                rows[path[path.index(function) + 1]] += count
        return {name: count for name, count in rows.items() if count}


def check_numbers(name, seen, report, one):
    want = Expected(report)
    check(seen["total"] == want.total == seen["down"]["total"], f"{name}: N is {want.total}")
    check(dict(seen["table"]) == want.table(), f"{name}: the table has each function's own and total weight")
    own = want.own()
    check({k: v for k, v in dict(seen["up"]["children"]).items() if k in own} == own and
          seen["up"]["total"] == want.total, f"{name}: bottom-up begins with self weights")
    if one.get("search"):
        matched = want.matched(one["search"])
        check(0 < matched < want.total and seen["matched"] == seen["matchedUp"] == matched,
              f"{name}: search for {one['search']} has {matched} of {want.total}, in both directions")
    if one.get("around"):
        around = one["around"]
        check(dict(seen["callers"]["children"]) == want.callers(around), f"{name}: callers of {around}")
        check(dict(seen["callees"]["children"]) == want.callees(around), f"{name}: callees of {around}")
        check(seen["callers"]["total"] == seen["callees"]["total"] == want.matched_name(around),
              f"{name}: both halves of the sandwich have the weight of {around}")


def check_use(steps):
    check("sqlite3BtreeIndexMoveto" in steps["hover"]["tooltip"] and "true" in steps["hover"]["tooltip"],
          "hovering tells name and bounds")
    check(steps["click"]["zoom"] == "sqlite3BtreeIndexMoveto" and
          steps["click"]["range"] < steps["escape"]["range"], "a click zooms in")
    check(steps["escape"]["zoom"] == "sqlite3 (pid 812)", "Esc zooms out")
    check(steps["down"]["focus"] == "process_input" and "process_input" in steps["down"]["label"],
          "the arrow down goes to a callee, and the label says so")
    check(steps["up"]["focus"] == "__libc_start_call_main", "the arrow up goes to the caller")
    check(steps["enter"]["zoom"] == "__libc_start_call_main", "Enter zooms in")
    check(steps["backspace"]["zoom"] == "__libc_start_main", "Backspace zooms out by one")
    check(steps["flip"]["flip"] and not steps["reverse"]["flip"], "i turns it over")
    check(steps["reverse"]["mode"] == "up" and steps["back"]["mode"] == "down", "r reverses")
    check(steps["sandwich"]["mode"] == "around" and steps["unsandwich"]["mode"] == "down", "s makes a sandwich")
    check(steps["table"]["table"] != steps["unsandwich"]["table"], "t shows and hides the table")
    check(steps["help"]["help"] and not steps["nohelp"]["help"], "? helps until Esc")
    check(steps["theme"]["theme"] == "dark", "d changes the theme")
    check(steps["search"]["match"] and steps["search"]["focus"] == "memcmp", "/ searches, Enter goes there")
    check(not steps["nosearch"]["match"], "Esc ends the search")


def check_rewrite(function, seen):
    for kind, one in seen["by"].items():
        check(one["total"] == seen["total"] and one["chips"] == 1 and "steps=" in one["hash"],
              f"{kind} {function}: no weight goes, and the address has it")
        check(one["size"] == seen["size"], f"{kind} {function}: the picture stays as large as it is")
        check(kind not in ("merge", "drop") or function not in one["names"], f"{kind} {function}: it is gone")
    check(seen["after"] == {"nodes": seen["nodes"], "hash": ""}, "undo takes all of it back")
    check(seen["again"] == {"mode": "up", "steps": [["merge", function]]}, "the address brings it back")
    check(seen["bad"] == {"steps": 0, "total": seen["total"]}, "what is wrong in an address is left out")


def record_some():
    """A real program's page and report, from one profile."""
    path = scratch("real.pb.gz")
    headless = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    done = subprocess.run([HCCT, "record", "--open", "--no-report", "-o", path, "--", target("known_shares"), "1"],
                          check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=headless)
    check(os.path.exists(scratch("real.html")) and b"file:///" in done.stderr,
          "record --open without a display writes the page and tells where")
    for form in ("html", "json"):
        subprocess.run([HCCT, "report", path, "-o", scratch(f"real.{form}")], check=True)


def record_metrics():
    """The page of a file that has several metrics."""
    path = scratch("metrics.pb.gz")
    subprocess.run([HCCT, "record", "--metric", "cpu,alloc", "--no-report", "-o", path, "--", target("metrics"), "60"],
                   stdout=subprocess.DEVNULL, check=False)
    for form in ("html", "json"):
        subprocess.run([HCCT, "report", path, "-o", scratch(f"metrics.{form}")], check=True)


def check_metrics(seen, report):
    check(seen["offered"] == 2 and seen["first"]["type"] == seen["back"]["type"] == "cpu" and
          seen["first"]["value"] == "CPU time" and seen["first"]["total"] == report["total"],
          "metrics: the first one is shown, and both are offered")
    check(seen["second"]["type"] == "alloc_space" and seen["second"]["value"] == "Allocated bytes" and
          seen["second"]["total"] > 0, "metrics: M shows the next one")
    check(seen["again"] == seen["second"] and "metric=alloc_space" in seen["second"]["hash"],
          "metrics: the address brings it back")


def check_rewritten(name, seen):
    for steps, one in seen.items():
        check(one["same"] and one["inOrder"], f"{name}: {steps}: {one['paths']} contexts are as if rewritten one by one")
    if name == "many":
        for steps in ("merge", "drop"):
            check(seen[steps]["touched"] * 10 < seen[steps]["contexts"],
                  f"{name}: {steps} looks again at {seen[steps]['touched']} of {seen[steps]['contexts']} contexts")


def check_overview(seen):
    first, whole = seen["first"], seen["all"]
    check(seen["complaints"] == [], f"overview: no error {seen['complaints']}")
    check(seen["drawn"] == first["contexts"] and first["contexts"] * 3 < whole["contexts"],
          f"overview: the first picture needs {seen['drawn']} of {whole['contexts']} contexts")
    check(first["boxes"] == whole["boxes"] and first["n"] > 100,
          f"overview: all {first['n']} boxes that can be seen are where they are among all contexts, and weigh the same")
    check(first["texts"] == whole["texts"], f"overview: title, chips and legend are the same {first['texts']} {whole['texts']}")
    check((first["total"], first["hidden"]) == (whole["total"], whole["hidden"]), "overview: no weight is missing, none known")
    check(first["rows"] == 0 < whole["rows"], "overview: the table waits for all contexts")
    check(seen["asked"]["mode"] == "down" and seen["done"]["mode"] == "up" and
          seen["done"]["search"] == "ns1::" and seen["done"]["found"] > 0,
          f"overview: what is asked of all contexts waits for them, and comes then: {seen['done']}")


def main():
    modules()
    os.makedirs(SHOTS, exist_ok=True)
    cases = [{"name": "shell", "search": "sqlite3", "around": "sqlite3VdbeRecordCompareWithSkip", "use": True},
             {"name": "build", "around": "execute_one_pass", "search": "execute"},
             {"name": "names"}, {"name": "calls", "scheme": "dark"}, {"name": "hard", "around": "descend", "rewrite": "descend", "rewritten": [0, 1]}]
    for one in cases:
        one["file"], one["json"] = (write(WRITE_SAMPLE, one["name"], form) for form in ("html", "json"))
    own = [{"name": "many", "search": "ns1::", "finer": True, "overview": True, "rewritten": [3, 20]}, {"name": "hostile"},
           {"name": "wide", "wide": True}, {"name": "diff", "diff": True}]
    for one in own:
        one["file"], one["json"] = (write(WRITE_PAGE, one["name"], form) for form in ("html", "json"))
    cases += own
    if not os.environ.get("HCCT_SANITIZERS", "no").strip("no"):
        record_some()
        record_metrics()
        cases.append({"name": "metrics", "metrics": True, "file": scratch("metrics.html"),
                      "json": scratch("metrics.json")})
        cases.append({"name": "real", "file": scratch("real.html"), "json": scratch("real.json")})
    with open(scratch("cases.json"), "w") as out:
        json.dump(cases, out)
    all_seen = run_node(os.path.join(HERE, "page_test.js"), chromium(), scratch("cases.json"), SHOTS)
    for one in cases:
        name, seen = one["name"], all_seen[one["name"]]
        with open(one["json"]) as file:
            report = json.load(file)
        print(f"{name}: drawn after {seen['drawnMs']:.0f} ms")
        check(seen["complaints"] == [], f"{name}: no error, no request {seen['complaints']}")
        check(seen["theme"] == one.get("scheme", "light") or one.get("use"), f"{name}: theme as the system's")
        check(seen["handlers"] == 1, f"{name}: one script, no image")
        if name == "diff":
            check_diff(seen)
        elif name == "wide":
            check("9,007,199,254,740,993 calls" in " ".join(seen["text"]) and
                  "18,014,398,509,481,988 calls" in " ".join(seen["text"]), "wide: digits are exact")
        else:
            check_numbers(name, seen, report, one)
        if not one.get("diff"):
            check(seen["ordered"] == {"inOrder": True, "same": True}, f"{name}: contexts are in the page's order")
        if one.get("finer"):
            it = seen["finer"]
            check(it["same"] and it["zoomed"] and 0 < it["below"] <= it["weight"] and it["inSight"],
                  f"{name}: what is too light to be followed upwards is, when it is zoomed to: {it}")
            check(it["atOnce"] and 0 < it["more"][0] < it["more"][1],
                  f"{name}: the picture is there before: {it}")
        if one.get("rewritten"):
            check_rewritten(name, seen["rewritten"])
        if one.get("overview"):
            check_overview(seen["overview"])
        if one.get("metrics"):
            check_metrics(seen["metrics"], report)
        if one.get("rewrite"):
            check_rewrite(one["rewrite"], seen["rewrite"])
    check_use(all_seen["shell"]["steps"])
    check("</script>" not in open(cases[6]["file"]).read().split('id="data">')[1].split("alert(4)")[0],
          "hostile: a name can't end the data")
    finish()


def check_diff(seen):
    rows = seen["rows"]
    check((seen["before"], seen["after"]) == (10010, 10015), "diff: widths are of either side")
    check(rows["old"]["before"] == 3000 and rows["old"]["after"] == 0 and rows["old"]["beyond"],
          "diff: what vanished is there")
    check(rows["fresh"]["change"] == 6000 and rows["fresh"]["beyond"], "diff: what appeared grew")
    check(rows["blit"]["change"] == 5 and not rows["blit"]["beyond"], "diff: within the bounds is no change")


main()
