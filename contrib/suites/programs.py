# SPDX-License-Identifier: LGPL-3.0-or-later
"""programs.py - which programs there are: what they need, what is made of their sources, who runs
them. What each does is a shell script in programs/: it prints only what is the same each time."""


class Program:
    """programs/NAME.sh, and the files beside it that it needs. build: commands, once, where these
    files are. Left out where one of `needs` (of alternatives a|b, all) is missing. status: with
    which a run ends that gets to its end; another says nothing of the agent."""

    def __init__(self, name, needs="", files="", build="", users=("root", "user"), seconds=120, status=0):
        self.name, self.needs, self.files = name, (needs or name).split(), files.split()
        self.build, self.users, self.seconds, self.status = build, users, seconds, status


PROGRAMS = [
    Program("7z"),
    Program("apache", needs="apache2 ab curl", users=("user",)),
    Program("bash"),
    Program("bwrap", status=3),
    Program("chromium", files="page.html", seconds=240),
    Program("emacs", status=6),
    Program("erlang", needs="erl", status=3),
    Program("ffmpeg", needs="ffmpeg x264"),
    Program("firefox", needs="firefox-esr", files="page.html", seconds=240),
    Program("gdb", needs="gdb gcc", files="debugged.c", build="gcc -g -O1 -o debugged debugged.c"),
    Program("ghostscript", needs="gs"),
    Program("git"),
    Program("gnuplot"),
    Program("go", files="gomain.go", build="go build -o gomain gomain.go", status=4),
    Program("gpg"),
    Program("graphviz", needs="dot neato"),
    Program("guile", status=7),
    Program("haproxy", needs="haproxy ab curl"),
    Program("haskell", needs="ghc", files="h.hs", build="ghc -v0 -O1 -threaded -rtsopts h.hs", status=3),
    Program("imagemagick", needs="convert-im6.q16"),
    Program("java", needs="java javac", files="J.java", build="javac J.java"),
    Program("jq"),
    Program("latex", needs="pdflatex"),
    Program("libreoffice", needs="soffice unzip", seconds=240),
    Program("lighttpd", needs="lighttpd ab curl"),
    Program("make", needs="make gcc"),
    Program("memcached", files="mc.py"),
    Program("mono", needs="mono mcs", files="m.cs", build="mcs -nowarn:219 -out:m.exe m.cs", status=3),
    # a name server: bind's
    Program("named", needs="named dig"),
    Program("nginx", needs="nginx curl", files="nginx.conf"),
    Program("node", files="n.js", status=3),
    Program("ocaml", needs="ocamlopt", files="o.ml", status=5,
            build="ocamlopt -I +threads unix.cmxa threads.cmxa o.ml -o o"),
    Program("octave", needs="octave-cli", status=6),
    Program("openssl"),
    Program("pandoc"),
    Program("perl", status=10),
    Program("php", status=255),
    # a server for each connection, parallel queries, code that LLVM makes
    Program("postgres", needs="setpriv pg_config", files="pg.sql", seconds=240),
    Program("python3", files="p.py", status=1),
    Program("r", needs="R", status=8),
    Program("racket", status=7),
    Program("redis", needs="redis-server redis-cli redis-benchmark"),
    Program("ruby", status=1),
    Program("rust", needs="rustc", files="r.rs"),
    Program("sbcl", files="s.lisp", status=6),
    Program("sqlite3", status=1),
    Program("strace"),
    Program("stress-ng", seconds=240),
    Program("swipl", status=9),
    Program("vim"),
    Program("zstd"),
]
