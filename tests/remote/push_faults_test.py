# SPDX-License-Identifier: LGPL-3.0-or-later
"""What goes wrong between hcctd and a server: afterwards the server has what was counted, once, or
stderr says by how much it differs.

hcctd is a stub that has the files of host_trees, so that the truth is known; where it is restarted,
a real one.
"""

import json
import os
import shutil
import ssl
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "e2e"), HERE]
import stub  # noqa: E402
from stub_hcctd import StubDaemon  # noqa: E402
from support import BUILD, HCCT, Daemon, check, finish, need, run, scratch, skip, target, wait_for_checkpoints  # noqa: E402

if not os.path.exists(os.path.join(BUILD, "client", "remote", "hcct-remote")):
    skip("hcct-remote is not made: libcurl is missing")
need("protoc")

HOST_TREES = os.path.join(BUILD, "tests", "remote", "host_trees")
TEN_MINUTES = 40    # pushes, one every 15 seconds


def make(name, pushes, span=0):
    directory = scratch(name)
    os.makedirs(directory)
    result = run([HOST_TREES, "make", directory, "7", "space-saving", "0.02", "0", "1", str(pushes), "0", str(span)])
    check(result.status == 0, f"trees are made {result.err.decode()}")
    return directory


def have(directory, moment):
    """hcctd has all that was counted until then."""
    with open(os.path.join(directory, f"0-{moment}.pb.gz"), "rb") as file:
        daemon.profile = file.read()


def total(directory, moment):
    return json.loads(run([HCCT, "report", "--format", "json", os.path.join(directory, f"0-{moment}.pb.gz")]).out)["total"]


def push(server, spool, *options, status=0, before=(), socket=None, env=None):
    url = server if isinstance(server, str) else server.url
    result = run([*before, HCCT, "push", "--once", "--socket", socket or daemon.socket, "--host", "h1", "--spool",
                  scratch(spool), *options, "pyroscope", url], env=env)
    said = result.err.decode()
    check(result.status == status, f"{spool}: status {result.status} is {status}: {said.strip()}")
    return said


def waiting(spool):
    return len([name for name in os.listdir(scratch(spool)) if name.startswith("push-")])


def check_all(server, directory, moment, what):
    check(not server.wrong and not server.twice, f"{what}: nothing is wrong, nothing came twice {server.wrong[:3]}")
    got, want = server.sum("calls"), total(directory, moment)
    check(got == want, f"{what}: the server has {got} of {want}")


def test_long_ago():
    """hcctd has counted for days when the first push comes: Pyroscope takes none that began so long ago."""
    directory, server = make("days", 2, span=3 * 86400), stub.Pyroscope()
    for moment in 0, 1:
        have(directory, moment)
        push(server, "days")
    check_all(server, directory, 1, "a push of days")
    server.close()


def test_down():
    """Nobody listens for ten minutes."""
    for spool, options, most in ("down", (), TEN_MINUTES), ("down-small", ("--spool-size", "100K"), 30):
        server = stub.Pyroscope()
        server.close()
        for moment in range(TEN_MINUTES):
            have(trees, moment)
            full = "is full" in push(server, spool, *options, status=1)
            check(not full or options, "the spool is full" if full else "another one waits")
        check(2 <= waiting(spool) <= most and (options or waiting(spool) == TEN_MINUTES),
              f"{waiting(spool)} pushes wait")
        server = stub.Pyroscope(server.port)
        push(server, spool, *options, status=4 if full else 0)
        push(server, spool, *options)
        check(full == bool(options) and not waiting(spool), "all were taken")
        check_all(server, trees, TEN_MINUTES - 1, spool)
        server.close()


def test_disk_full():
    """A disk of a few pages, which others fill, and give back."""
    if run(["unshare", "--mount", "true"]).status != 0:
        print("a disk of its own is left out: only root can mount one")
        return
    server = stub.Pyroscope()
    script = """mount -t tmpfs -o size=400k none "$1" && shift && i=0
for profile in "$@"; do
    cp "$profile" "$PROFILE.new" && mv "$PROFILE.new" "$PROFILE"
    i=$((i + 1))
    [ $i != 3 ] || head -c 400000 /dev/zero >"$SPOOL/others" 2>/dev/null || true
    [ $i != 6 ] || rm "$SPOOL/others"
    "$HCCT" push --once --socket "$SOCKET" --spool "$SPOOL/spool" pyroscope "$URL" || echo "status $?"
done 2>&1
ls "$SPOOL/spool" """
    os.makedirs(scratch("disk"))
    daemon.path = scratch("profile")
    result = run(["unshare", "--mount", "sh", "-c", script, "sh", scratch("disk"),
                  *(os.path.join(trees, f"0-{moment}.pb.gz") for moment in range(8))],
                 env={"PROFILE": daemon.path, "SPOOL": scratch("disk"), "HCCT": HCCT, "SOCKET": daemon.socket,
                      "URL": server.url})
    daemon.path = None
    said = result.out.decode()
    check(said.count("nothing can be kept") == 3 and said.count("status 1") == 3 and "No space left" in said,
          f"a full disk is said three times: {said}")
    check("push-" not in said.splitlines()[-1], "nothing waits")
    check_all(server, trees, 7, "a full disk")
    server.close()


def test_damaged():
    """What was sent last can't be read any more: what came since is lost, and that is said."""
    server = stub.Pyroscope()
    for moment in 0, 1:
        have(trees, moment)
        push(server, "damaged")
    base = [name for name in os.listdir(scratch("damaged")) if name.startswith("base-")]
    check(len(base) == 1, f"one base: {base}")
    for damage in "cut", "gone":
        path = os.path.join(scratch("damaged"), [name for name in os.listdir(scratch("damaged"))
                                                 if name.startswith("base-")][0])
        if damage == "gone":
            os.unlink(path)
        else:
            os.truncate(path, 100)
        moment += 1
        have(trees, moment)
        said = push(server, "damaged")
        check("what came since the last push is lost" in said, f"{damage}: it is said: {said.strip()}")
        moment += 1
        have(trees, moment)
        push(server, "damaged")
    lost = sum(total(trees, at) - total(trees, at - 1) for at in (2, 4))
    got, want = server.sum("calls"), total(trees, moment) - lost
    check(got == want, f"the server has {got} of {want}: nothing twice")
    server.close()


def test_damaged_push():
    """One that waits can't be read any more: it is given up, and how much was in it is said; one of an earlier version,
    whose name does not tell, is sent if it can be read."""
    server, spool = stub.Pyroscope(), "damaged-push"
    for moment in range(3):
        have(trees, moment)
        push("http://127.0.0.1:1", spool, status=1)
    names = sorted(name for name in os.listdir(scratch(spool)) if name.startswith("push-"))
    os.truncate(os.path.join(scratch(spool), names[0]), 50)
    old = os.path.join(scratch(spool), "-".join(names[1].split("-")[:2]))
    os.rename(os.path.join(scratch(spool), names[1]), old)
    said, lost = push(server, spool, status=1), total(trees, 0)
    check(f"given up: {lost} count of calls" in said, f"it is said that {lost} are lost: {said.strip()}")
    got, want = server.sum("calls"), total(trees, 2) - lost
    check(got == want and waiting(spool) == 0, f"the server has {got} of {want}")
    server.close()


def count(real):
    """N of a real hcctd; 0: it has no process."""
    answer = run([HCCT, "hot", "--socket", real.socket, "--format", "json"])
    return json.loads(answer.out)["total"] if answer.status == 0 else 0


def test_killed_daemon():
    """hcctd is killed between its checkpoints, before the first and after one. The server has all that was
    pushed, and goes on from what the next hcctd begins with."""
    server, want = stub.Pyroscope(), 0
    real = Daemon("--state-dir", scratch("state"), "--checkpoint", "1").start()
    try:
        for checkpoint in False, True, True:
            began = count(real)
            for seconds in "0.2", "0.3":
                subprocess.run([target("known_shares"), seconds], env=real.env(HCCT_RATE="250"), stdout=subprocess.DEVNULL)
                real.wait_for(lambda p: p["state"] == "finished")
                push(server, "killed", socket=real.socket)
            want += count(real) - began
            if checkpoint:
                check(wait_for_checkpoints(scratch("state")), "there is a checkpoint of that")
            real.process.kill()
            real.process.wait()
            real.start()
            push(server, "killed", socket=real.socket)
        got = server.sum("cpu")
        check(not server.wrong and not server.twice and got == want, f"the server has {got} of {want}")
    finally:
        real.stop()
    server.close()


def test_tls():
    """A certificate that nobody knows is refused; the one that was named is taken, for its host alone."""
    if shutil.which("openssl") is None:
        print("TLS is left out: openssl is not installed")
        return
    for name, host in ("good", "IP:127.0.0.1"), ("other", "DNS:elsewhere.example"):
        made = run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test", "-addext",
                    f"subjectAltName={host}", "-keyout", scratch(f"{name}.key"), "-out", scratch(f"{name}.pem")])
        check(made.status == 0, f"a certificate for {host}")
    for name, ca, status, sentence in (("good", None, 1, "certificate"), ("good", "good", 0, "1 pushes sent"),
                                       ("good", "other", 1, "certificate"), ("other", "other", 1, "127.0.0.1")):
        server = stub.Pyroscope()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(scratch(f"{name}.pem"), scratch(f"{name}.key"))
        server.http.socket = context.wrap_socket(server.http.socket, server_side=True)
        have(trees, 0)
        said = push(server.url.replace("http:", "https:"), f"tls-{name}-{ca}", *(("--ca", scratch(f"{ca}.pem")) if ca else ()),
                    status=status, env={"HCCT_PUSH_CREDENTIALS": "me:secret"})
        check(sentence in said and len(server.kept) == (status == 0), f"{name}, --ca {ca}: {said.strip()}")
        if status == 0:
            check(server.headers[-1].get("Authorization") == "Basic bWU6c2VjcmV0", "with credentials")
        check("secret" not in said, "which nobody says")
        server.close()


daemon = StubDaemon(scratch("hcctd.sock"), "calls")
trees = make("trees", TEN_MINUTES)
try:
    test_long_ago()
    test_down()
    test_disk_full()
    test_damaged()
    test_damaged_push()
    test_tls()
    test_killed_daemon()
finally:
    daemon.close()
finish()
