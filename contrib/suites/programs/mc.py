# SPDX-License-Identifier: LGPL-3.0-or-later
import socket
import sys
import time

for _ in range(100):
    try:
        s = socket.socket(socket.AF_UNIX)
        s.connect(sys.argv[1])
        break
    except OSError:
        time.sleep(0.1)
f = s.makefile("rb")
for i in range(10000):
    s.sendall(b"set k%d 0 0 5\r\nhello\r\n" % i)
    assert f.readline() == b"STORED\r\n"
s.sendall(b"get k7\r\nincr none 1\r\n")
print([f.readline() for _ in range(4)])
