# SPDX-License-Identifier: LGPL-3.0-or-later
"""users_support.py - another user, played by a child of a test that root runs."""

import os
import signal
import traceback

OTHER = 65534


class Other:
    """A function in a child with the rights of another user. It gets a function `say`, which tells
    the test a line, and one that waits until the test lets it go on."""

    def __init__(self, work, *arguments, uid=OTHER):
        said, say = os.pipe()
        hear, tell = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(said)
            os.close(tell)
            self._work(work, arguments, uid, say, hear)
        os.close(say)
        os.close(hear)
        self.said, self.tell = os.fdopen(said), tell

    @staticmethod
    def _work(work, arguments, uid, say, hear):
        status = 1
        try:
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            work(lambda text: os.write(say, text.encode() + b"\n"), lambda: os.read(hear, 1), *arguments)
            status = 0
        except BaseException:  # a child must not go on with the test
            traceback.print_exc()
        os._exit(status)

    def line(self):
        """What it says next; empty when it has ended."""
        return self.said.readline().strip()

    def go_on(self):
        os.write(self.tell, b"\n")

    def end(self, kill=False):
        """Its exit status."""
        if kill:
            os.kill(self.pid, signal.SIGKILL)
        os.close(self.tell)
        self.said.close()
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
