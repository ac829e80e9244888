# SPDX-License-Identifier: LGPL-3.0-or-later
"""hcct top on a real terminal (tmux): every view of a program at work, a terminal that changes its
size, a daemon that goes and comes back, and a terminal that is as it was when all is over.

Nothing here depends on speed: each step waits for what it must bring onto the screen.
"""

import atexit
import glob
import os
import re
import signal
import subprocess

from screen import PATIENCE, Terminal
from support import AGENT, HCCT, Daemon, check, finish, need, run, scratch, target

need("tmux")


@atexit.register
def stop_all():
    """Nothing of ours goes on when the test ends early."""
    for process in (app, daemon.process):
        if process is not None and process.poll() is None:
            process.kill()
            process.wait()
    if terminal is not None:
        terminal.kill()


def search_is_colored():
    """Finds a function that is there more than once, and looks for colours on the screen."""
    terminal.keys("0", "/", "burn", "Enter")
    return re.search(r"\x1b\[(\d+;)*[34][0-7](;\d+)*m", terminal.wait_for_match("burn")) is not None


def press_all(*steps):
    for step in steps:
        terminal.press(*step)


def end_by(key, what):
    terminal.keys(key)
    terminal.wait(r"calling context", f"{key}: {what}", absent=True)
    terminal.command("echo status=$?; stty -a | sed 1d | diff - before && echo same")
    terminal.wait(r"status=0$.*^same$", "with status 0, and the terminal is as it was")


def start(**env):
    return subprocess.Popen([target("known_shares"), "100000"], stdout=subprocess.DEVNULL,
                            env={**os.environ, "LD_PRELOAD": AGENT, "HCCT_SOCKET": daemon.socket, **env})


app = terminal = None
daemon = Daemon().start()
app = start()
daemon.wait_for(lambda p: p["walks"] > 100, PATIENCE)

# ---- without a terminal ----

plain = run([HCCT, "top", "--socket", daemon.socket], env={"LC_ALL": "C.UTF-8"})
check(plain.status == 0 and "known_shares (pid" in plain.out.decode() and
      b"\x1b" not in plain.out and plain.err == b"",
      "where stdout is no terminal: plain text, once")
check(re.search(r"^ +\d+\.\d .*recurse", plain.out.decode(), re.M), "rows have shares and names")
ascii_only = run([HCCT, "top", "--socket", daemon.socket], env={"LC_ALL": "C"})
check(ascii_only.status == 0 and max(ascii_only.out) < 0x80, "ASCII where the locale has no more")
twice = run([HCCT, "top", "--batch", "--iterations", "2", "--delay", "0.1", "-i", "--socket",
             daemon.socket])
check(twice.status == 0 and twice.out.decode().count("callers below") == 2, "--iterations 2: twice")
first = twice.out.decode().split("\n\n", maxsplit=1)[0]
inverted = [line.split() for line in first.splitlines()[4:]]
check(inverted and inverted[0][0] == inverted[0][1] and "burn" in inverted[0],
      "-i: the hottest function stands first, all its weight is its own")
flat = run([HCCT, "top", "-f", "--socket", daemon.socket]).out.decode()
shares = [float(line.split()[0]) for line in flat.splitlines() if re.match(r" +\d+\.\d ", line)]
check("the last" not in flat, "no window in plain text unless it is asked for")
check(shares and max(shares) <= 100.0, "-f: no function has more than all, recursion or not")
window = run([HCCT, "top", "--window", "60s", "--socket", daemon.socket]).out.decode()
check("the last 60s:" in window and "60s%" in window, "--window 60s: beside the start")
bad = run([HCCT, "top", "--window", "2 days", "--socket", daemon.socket])
check(bad.status == 2 and b"10s, 60s, 5m, 1h or none" in bad.err, "a bad --window is named")
check(run([HCCT, "top", "--socket", scratch("nobody")]).status == 3, "no daemon: status 3")

# ---- with one ----

# high enough for the contexts of both threads, whichever is first
terminal = Terminal(120, 70, HCCT_SOCKET=daemon.socket, TERM="screen")
os.mkdir(scratch("files"))
terminal.command(f"cd {scratch('files')}; stty -a | sed 1d > before; {HCCT} top --delay 0.2")
terminal.wait(r"hcct top +known_shares \(pid \d+, \d+ threads?\), profiled for", "says who")
terminal.wait(r"^N +\S+ .*of CPU time in .* samples \(\d+/s\), .* complete, \d+ lost", "and how much")
terminal.wait(r"^error 95 %: 50 % ±[\d.]+ points, 10 % ±[\d.]+, 1 % ±[\d.]+; epsilon N = [\d.]+ ",
              "what is left to chance, and the bounds")
terminal.wait(r"^the last 10s: [\d.]+ \S+ of CPU time, over [\d.]+ ", "and the last 10 s beside it")
terminal.wait(r"^\*total%( +error)? +self% +error │ +10s%( +error)? +self% +error +calling context",
              "the columns, sorted by the first")
for name in ("clone3", "start_thread", "_start", "rounds"):
    terminal.wait(rf"[▾·] {name} ", f"the tree of contexts has {name}")
terminal.wait(r"beta .*└─[▾·] |├─[▾·] .*gamma_ ", "and branches")
check("\x1b[1m" in terminal.screen("-e"), "what is hot is bold")

press_all(
    ("s", r"^ total%( +error)? +\*self%", "sorted by the next column"),
    ("s", r"│ +\*10s% ", "by the window"),
    ("s s s", r"^\*total% ", "past the name, to the first again"))
terminal.keys("c")
terminal.wait(r"gamma_", "c: all is folded", absent=True)
terminal.wait(r"▸ known_shares", "only the process is seen")
press_all(
    ("Enter", r"▾ known_shares.*clone3", "it is unfolded"),
    ("Enter", r"▸ known_shares", "and folded"),
    ("e", r"gamma_", "all is unfolded"))
check(search_is_colored(), "what is searched for has a colour")
terminal.press("c / gamma BSpace a Enter", r"gamma_", "a folded function is found and unfolded")
terminal.keys("o")
terminal.wait(r"alpha", "o: only paths with a match", absent=True)
press_all(
    ("o n N Escape 0", r"alpha", "all again"),
    ("/ nobody-is-called-so Enter", r"no function or module matches", "nothing is found"),
    ("Escape i", r"function, and its callers below.*▾ burn.*├─", "callers below callees"),
    ("f", r"error +function$.*· rounds", "functions"),
    ("f M", r"there is no other metric", "there is one metric only"),
    ("/ rounds Enter X", r"^\(u undoes\) merged rounds$", "contexts are rewritten, and the head says how"),
    ("/ beta Enter r", r"merged rounds, begin at beta$.*not in focus", "once more, in a row"),
    ("E K", r"begin at beta, recursion collapsed, collapsed \S+$", "and once more"))
terminal.keys("u", "u", "u", "u")
terminal.wait(r"u undoes", "u takes all back", absent=True)
press_all(
    ("u", r"nothing is rewritten", "explained when there is nothing to take back"),
    ("Escape f f b", r"by site", "by site"),
    ("b b b", r"by function", "by function again"),
    ("t", rf"pid +tid.*^ *{app.pid} +\d+ +[\d.]+ +[\d.]+ .*known_shares", "threads"),
    ("t W", r"the last 60s: .* over .*60s%( +error)? +self%", "the last minute beside the start"),
    ("]", r"the last 5m: .* over .*5m%( +error)? +self%", "the last 5 minutes"),
    ("[ [ [", r"^\S*W shows the last", "since the start only"),
    ("w", r"wrote hcct-top-all-\d{8}-\S+\.pb\.gz$", "a file"),
    ("]", r"the last 10s: .* over .*10s%( +error)? +self%", "the window again"),
    ("w", r"wrote hcct-top-all-\d{8}-\S+ and hcct-top-all-10s-\d{8}-\S+\.pb\.gz$", "two files"),
    ("d", r"there is no mark", "explained when there is no mark"),
    ("m", r"marked; d shows", "a mark"),
    ("d", r"^since the mark: [\d.]+ .*mark%( +error)? +self%", "what has come since"),
    ("d p", r" paused$", "paused"),
    ("p +", r"every 0.5 s", "asks less often"),
    ("- -", r"every 0.1 s", "more often"),
    ("?", r"key +what it does.*fold or unfold the row", "help"),
    ("End", r"^q +quit", "the end of the help can be seen"))
files = glob.glob(scratch("files") + "/hcct-top-*.pb.gz")
check(len(files) == 3, "w has made three files")
for path in files:
    text = run([HCCT, "report", path, "--cut", "0"]).out
    check(b"gamma_" in text and (b"in the last" in text) == ("-10s-" in path),
          "each is a profile of what was seen")
press_all(
    ("P", rf"{app.pid} +running .*known_shares", "the processes"),
    ("End Enter", r"calling context.*known_shares \(pid", "one is taken"))

# ---- what terminals and daemons do ----

terminal.tmux("resize-window", "-x", "40", "-y", "8")
terminal.wait(r"^too small: hcct top needs 50 x 10", "a terminal that is too small is reported")
terminal.tmux("resize-window", "-x", "100", "-y", "24")
terminal.wait(r"calling context.*known_shares.*^\? help", "and waited for")
terminal.keys("C-z")
terminal.wait(r"hcct top  known", "Ctrl-Z gives the terminal back", absent=True)
terminal.command("fg")
terminal.wait(r"calling context.*known_shares", "fg takes it again")

daemon.process.send_signal(signal.SIGKILL)
daemon.process.wait()
terminal.wait(r"no hcctd listens at", "a daemon that is gone is said to be")
terminal.wait(r"calling context.*known_shares", "what is known stays to be seen")
terminal.keys("i")
terminal.wait(r"function, and its callers below", "and keys still work")
terminal.keys("i")
daemon.start()
daemon.wait_for(lambda p: p["pid"] == app.pid and p["walks"] > 20, PATIENCE)
terminal.wait(r"no hcctd listens at|has no agent", "the next daemon is found", absent=True)
terminal.wait(r"calling context.*known_shares \(pid.*rounds", "and its profile is seen")

app.kill()
app.wait()
terminal.wait(r", finished, profiled for.*rounds", "a finished process keeps what is known of it")

end_by("q", "quits")
terminal.command(f"clear; {HCCT} top --window none")
terminal.wait(r"W shows the last.*^\*total% +self% +error +calling context", "--window none")
end_by("C-c", "quits, too")
terminal.command(f"clear; TERM=dumb {HCCT} top; echo status=$?")
terminal.wait(r"can't show a screen: use --batch.*status=2", "TERM=dumb: one sentence, status 2")
terminal.command(f"clear; LC_ALL=C NO_COLOR=1 {HCCT} top")
terminal.wait(r"^ +[\d.]+ .*\|-.*rounds", "ASCII where the locale has no more")
check(not search_is_colored(), "NO_COLOR: no colours")
terminal.keys("q")

# ---- processes that count different things; 80 columns ----

app = start(HCCT_CLOCK="wall")
check(daemon.wait_for(lambda p: p["pid"] == app.pid and p["walks"] > 20, PATIENCE), "another one, by elapsed time")
mixed = run([HCCT, "top", "--socket", daemon.socket])
check(mixed.status != 0 and b"is not the same for all processes" in mixed.err, "plain text adds nothing up")
wall = run([HCCT, "top", "--socket", daemon.socket, "--metric", "wall"])
check(wall.status == 0 and b"of wall-clock time" in wall.out, "--metric wall")
bad = run([HCCT, "top", "--socket", daemon.socket, "--metric", "nonsense"])
check(bad.status != 0 and b"--metric 'nonsense' is not possible" in bad.err, "a metric that there can't be")
terminal.tmux("resize-window", "-x", "80", "-y", "24")
terminal.command(f"clear; {HCCT} top --delay 0.2")
terminal.wait(r"^N +\S+ .*of CPU time \(metric 1 of 2: M\)", "one of both is shown, and which")
press_all(
    ("M", r"^N +\S+ .*of wall-clock time \(metric 2 of 2: M\).*metric: wall", "the next one"),
    ("M", r"^N +\S+ .*of CPU time \(metric 1 of 2: M\).*metric: cpu", "and round again"))
terminal.keys("q")
terminal.end()
check(daemon.stop() == 0, "the daemon ends with status 0")
finish()
