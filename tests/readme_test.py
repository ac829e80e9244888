# SPDX-License-Identifier: LGPL-3.0-or-later
"""readme_test.py - README.md is short, and what it names exists: commands and their options, scripts,
manual pages, files, links of the documents."""
import glob
import os
import re
import subprocess
import sys

ROOT, BUILD = os.environ["HCCT_SRCDIR"], os.environ["HCCT_BUILDDIR"]
PROGRAMS = {"hcct": os.path.join(BUILD, "client", "hcct"), "hcctd": os.path.join(BUILD, "daemon", "hcctd")}
LINES_MAX = 120
failed = 0


def check(ok, what):
    global failed
    if not ok:
        failed += 1
        print("FAIL", what)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def help_of(*command):
    result = subprocess.run([*command, "--help"], capture_output=True, text=True)
    return result.stdout if result.returncode == 0 else None


def own_options(words):
    """Those before the command that is to be recorded, without their values."""
    words = words[:words.index("--")] if "--" in words else words
    return [word for word in words if re.fullmatch(r"--[a-z-]+|-[a-zA-Z]", word)]


def check_command(line):
    words = re.split(r"\s+", re.split(r"\s{2,}|\s&", line.strip())[0])
    if words[0].startswith("./contrib/"):
        check(os.access(os.path.join(ROOT, words[0]), os.X_OK), f"{words[0]} can't be run")
    elif words[0] in PROGRAMS:
        command = [PROGRAMS[words[0]], *(words[1:2] if words[0] == "hcct" else [])]
        text = help_of(*command)
        check(text is not None, f"there is no command {' '.join(words[:2])}")
        for option in own_options(words):
            check(text is not None and re.search(rf"(^|\s){option}\b", text, re.M),
                  f"{line.strip()}: {option} is no option")
    else:
        return 0
    return 1


def check_links(path, text):
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    for link in links:
        target = os.path.normpath(os.path.join(os.path.dirname(path), link))
        check(os.path.exists(os.path.join(ROOT, target)), f"{path}: there is no {link}")
    return len(links)


def check_manual(path, text):
    for name, section in re.findall(r"\b((?:lib)?hcct[a-z-]*)\((\d)\)", text):
        check(os.path.exists(os.path.join(ROOT, "man", f"{name}.{section}")),
              f"{path}: there is no {name}({section})")


def main():
    text = read("README.md")
    lines = text.splitlines()
    check(len(lines) <= LINES_MAX, f"README.md has {len(lines)} lines")
    commands = sum(check_command(line) for line in lines if line.startswith("    "))
    check(commands > 12, f"only {commands} commands were found in README.md")
    documents = ["README.md", "SECURITY.md",
                 *(os.path.relpath(path, ROOT) for path in glob.glob(os.path.join(ROOT, "doc", "*.md")))]
    links = 0
    for path in documents:
        links += check_links(path, read(path))
        check_manual(path, read(path))
    check(links > 8, f"only {links} links were found")
    files = re.findall(r"`([a-z]+(?:/[\w]+)+(?:\.[a-z]+)?/?)`", read("doc/architecture.md"))
    for path in files:  # those of the daemon are named from its folder on
        check(any(os.path.exists(os.path.join(ROOT, folder, path)) for folder in ("", "daemon")),
              f"doc/architecture.md: there is no {path}")
    check(len(files) > 40, f"only {len(files)} files were found in doc/architecture.md")
    names = {name for top in ("client", "common", "daemon", "preload")
             for _, _, names in os.walk(os.path.join(ROOT, top)) for name in names}
    for name in re.findall(r"`(\w+\.[ch])`", read("doc/architecture.md")):
        check(name in names, f"doc/architecture.md: there is no file of the name {name}")
    print(f"{len(lines)} lines, {commands} commands, {links} links, {failed} failed")
    sys.exit(1 if failed else 0)


main()
