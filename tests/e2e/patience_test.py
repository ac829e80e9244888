#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""A program whose hcctd is there but does not answer asks again and again, and seldom in the end (patience.h)."""

import os
import socket
import subprocess
import time

from support import AGENT, check, finish, scratch

BUSY = ["/bin/sh", "-c", "while :; do :; done"]
TRIES = 7
PAUSE_S = 1  # of the first five; then three times as much


def ask_in_vain(listener, tries):
    """When each question came. Each is left without an answer."""
    asked = []
    for _ in range(tries):
        peer, _ = listener.accept()
        with peer:
            asked.append(time.monotonic())
            while peer.recv(4096):
                pass
    return asked


path = scratch("silent.sock")
with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
    listener.bind(path)
    listener.listen()
    listener.settimeout(120)
    app = subprocess.Popen(BUSY, env=dict(os.environ, LD_PRELOAD=AGENT, HCCT_SOCKET=path))
    try:
        questions = ask_in_vain(listener, TRIES)
        check(app.poll() is None, "it goes on meanwhile")
    finally:
        app.kill()
        app.wait()

pauses = [after - before for before, after in zip(questions, questions[1:])]
print("pauses: " + ", ".join(f"{pause:.2f} s" for pause in pauses))
check(min(pauses) > 0.7 * PAUSE_S, "it asks about once a second")
check(min(pauses[-2:]) > 2.5 * PAUSE_S, "and more seldom when it has waited for long")
finish()
