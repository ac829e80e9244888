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
import time

from support import AGENT, HCCT, Daemon, check, finish, need, run, scratch, target

need("tmux")
PATIENCE = 90  # seconds; only a step that never comes takes so long


class Terminal:
    """A tmux server of our own with one window, in which a shell runs."""

    def __init__(self, columns, lines, **env):
        self.socket = scratch("tmux.sock")
        clean = {k: v for k, v in os.environ.items() if k not in ("TMUX", "NO_COLOR")}
        self.env = {**clean, "LC_ALL": "C.UTF-8", "SHELL": "/bin/sh", "PS1": "$ ", "ENV": "", **env}
        settings = scratch("tmux.conf")
        with open(settings, "w", encoding="ascii"):
            pass  # none: tmux is as it comes
        self.server = subprocess.Popen(["tmux", "-D", "-u", "-S", self.socket, "-f", settings],
                                       env=self.env, stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + PATIENCE
        while self.tmux("new-session", "-d", "-s", "top", "-x", str(columns), "-y", str(lines),
                        "/bin/sh").returncode != 0:
            if time.monotonic() > deadline:
                raise SystemExit("tmux did not start")
            time.sleep(0.1)

    def tmux(self, *words):
        return subprocess.run(["tmux", "-N", "-u", "-S", self.socket, *words], env=self.env,
                              check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def screen(self, *options):
        return self.tmux("capture-pane", "-p", *options).stdout.decode()

    def wait(self, pattern, what, absent=False):
        """Until the pattern is (or is not) on the screen."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            screen = self.screen()
            if (re.search(pattern, screen, re.M | re.S) is None) == absent:
                return check(True, what)
            time.sleep(0.1)
        print(self.screen())
        return check(False, what)

    def end(self):
        self.server.terminate()
        self.server.wait(30)


@atexit.register
def stop_all():
    """Nothing of ours goes on when the test ends early."""
    for process in (app, daemon.process, terminal.server if terminal else None):
        if process is not None and process.poll() is None:
            process.kill()
            process.wait()


app = terminal = None
def search_is_colored():
    """Finds a function that is there more than once, and looks for colours on the screen."""
    terminal.keys("0", "/", "burn", "Enter")
    terminal.wait(r"^\? help", "the search is done")
    return re.search(r"\x1b\[(\d+;)*[34][0-7](;\d+)*m", terminal.screen("-e")) is not None


daemon = Daemon().start()
app = subprocess.Popen([target("known_shares"), "100000"], stdout=subprocess.DEVNULL,
                       env={**os.environ, "LD_PRELOAD": AGENT, "HCCT_SOCKET": daemon.socket})
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
check(shares and max(shares) <= 100.0, "-f: no function has more than all, recursion or not")
window = run([HCCT, "top", "--window", "60s", "--socket", daemon.socket]).out.decode()
check("the last 60s:" in window and "60s%" in window, "--window 60s: beside the start")
bad = run([HCCT, "top", "--window", "2 days", "--socket", daemon.socket])
check(bad.status == 2 and b"10s, 60s, 5m or 1h" in bad.err, "a bad --window is named")
check(run([HCCT, "top", "--socket", scratch("nobody")]).status == 3, "no daemon: status 3")

# ---- with one ----

terminal = Terminal(120, 34, HCCT_SOCKET=daemon.socket, TERM="screen")
os.mkdir(scratch("files"))
terminal.wait(r"^\$", "a shell in a terminal")
terminal.keys(f"cd {scratch('files')}; stty -a | sed 1d > before; {HCCT} top --delay 0.2", "Enter")
terminal.wait(r"hcct top +known_shares \(pid \d+, \d+ threads?\), profiled for", "says who")
terminal.wait(r"^N +\S+ .*of CPU time in .* walks \(\d+/s\), .* complete, \d+ lost", "and how much")
terminal.wait(r"^error epsilon N = .*contexts in", "and the bounds")
terminal.wait(r"^\*total% +self% +error +calling context", "the columns, sorted by the first")
for name in ("clone3", "start_thread", "_start", "rounds"):
    terminal.wait(rf"[▾·] {name} ", f"the tree of contexts has {name}")
terminal.wait(r"beta .*└─[▾·] |├─[▾·] .*gamma_ ", "and branches")
check("\x1b[1m" in terminal.screen("-e"), "what is hot is bold")

terminal.keys("s")
terminal.wait(r"^ total% \*self%", "s: sorted by the next column")
terminal.keys("s", "s")
terminal.wait(r"^\*total% ", "s, s: past the name, to the first again")
terminal.keys("c")
terminal.wait(r"gamma_", "c: all is folded", absent=True)
terminal.wait(r"▸ known_shares", "only the process is seen")
terminal.keys("Enter")
terminal.wait(r"▾ known_shares.*clone3", "Enter: it is unfolded")
terminal.keys("Enter")
terminal.wait(r"▸ known_shares", "Enter: and folded")
terminal.keys("e")
terminal.wait(r"gamma_", "e: all is unfolded")
check(search_is_colored(), "what is searched for has a colour")
terminal.keys("c", "/", "gamma", "BSpace", "a", "Enter")
terminal.wait(r"gamma_", "/: a folded function is found and unfolded")
terminal.keys("o")
terminal.wait(r"alpha", "o: only paths with a match", absent=True)
terminal.keys("o", "n", "N", "Escape", "0")
terminal.wait(r"alpha", "Esc, 0: all again")
terminal.keys("/", "nobody-is-called-so", "Enter")
terminal.wait(r"no function or module matches", "a search in vain is said to be")
terminal.keys("Escape", "i")
terminal.wait(r"function, and its callers below.*▾ burn.*├─", "i: callers below callees")
terminal.keys("f")
terminal.wait(r"error +function$.*· rounds", "f: functions")
terminal.keys("f", "b")
terminal.wait(r"by site", "b: by site")
terminal.keys("b", "b", "b")
terminal.wait(r"by function", "b: by function again")
terminal.keys("t")
terminal.wait(rf"pid +tid.*^ *{app.pid} +\d+ +[\d.]+ +[\d.]+ .*known_shares",
              "t: threads, and their share now")
terminal.keys("t", "W")
terminal.wait(r"the last 10s: .* over .*10s% +self%", "W: the last 10 s beside the start")
terminal.keys("]")
terminal.wait(r"the last 60s: .* over .*60s% +self%", "]: the last minute")
terminal.keys("[", "[")
terminal.wait(r"^\S*W shows the last", "[, [: since the start only")
terminal.keys("d")
terminal.wait(r"there is no mark", "d without a mark is explained")
terminal.keys("m")
terminal.wait(r"marked; d shows", "m: a mark")
terminal.keys("d")
terminal.wait(r"^since the mark: [\d.]+ .*mark% +self%", "d: what has come since")
terminal.keys("d", "p")
terminal.wait(r" paused$", "p: paused")
terminal.keys("p", "+")
terminal.wait(r"every 0.5 s", "+: asks less often")
terminal.keys("-", "-")
terminal.wait(r"every 0.1 s", "-, -: more often")
terminal.keys("?")
terminal.wait(r"key +what it does.*fold or unfold the row", "?: help")
terminal.keys("End")
terminal.wait(r"^q +quit", "the end of the help can be seen")
terminal.keys("?", "w")
terminal.wait(r"wrote hcct-top-all-\S+ \(since the start\)", "w: a file")
files = glob.glob(scratch("files") + "/hcct-top-*.pb.gz")
check(len(files) == 1 and b"gamma_" in run([HCCT, "report", files[0], "--cut", "0"]).out,
      "it is a profile of what was seen")
terminal.keys("P")
terminal.wait(rf"{app.pid} +running .*known_shares", "P: the processes")
terminal.keys("End", "Enter")
terminal.wait(r"calling context.*known_shares \(pid", "Enter takes one")

# ---- what terminals and daemons do ----

terminal.tmux("resize-window", "-x", "40", "-y", "8")
terminal.wait(r"^too small: hcct top needs 50 x 10", "a terminal that is too small is told so")
terminal.tmux("resize-window", "-x", "100", "-y", "24")
terminal.wait(r"calling context.*known_shares.*^\? help", "and waited for")
terminal.keys("C-z")
terminal.wait(r"hcct top  known", "Ctrl-Z gives the terminal back", absent=True)
terminal.keys("fg", "Enter")
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

terminal.keys("q")
terminal.wait(r"calling context", "q: quits", absent=True)
terminal.keys("echo status=$?; stty -a | sed 1d | diff - before && echo same", "Enter")
terminal.wait(r"^status=0.*^same$", "with status 0, and the terminal is as it was")

terminal.keys(f"clear; {HCCT} top", "Enter")
terminal.wait(r"calling context", "once more")
terminal.keys("C-c")
terminal.wait(r"calling context", "Ctrl-C quits, too", absent=True)
terminal.keys("echo status=$?; stty -a | sed 1d | diff - before && echo same", "Enter")
terminal.wait(r"^status=0.*^same$", "the same way")
terminal.keys(f"clear; TERM=dumb {HCCT} top; echo status=$?", "Enter")
terminal.wait(r"can't show a screen: use --batch.*status=2", "TERM=dumb: one sentence, status 2")
terminal.keys(f"clear; LC_ALL=C NO_COLOR=1 {HCCT} top", "Enter")
terminal.wait(r"^ +[\d.]+ .*\|-.*rounds", "ASCII where the locale has no more")
check(not search_is_colored(), "NO_COLOR: no colours")
terminal.keys("q")
terminal.end()
check(daemon.stop() == 0, "the daemon ends with status 0")
finish()
