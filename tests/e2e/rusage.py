# SPDX-License-Identifier: LGPL-3.0-or-later
"""rusage.py FILE COMMAND...: runs a command and writes to FILE the CPU seconds that the kernel counted
for it and its children, and its own pid; ends with the command's status."""

import os
import resource
import subprocess
import sys

status = subprocess.call(sys.argv[2:])
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as out:
    out.write(f"{usage.ru_utime + usage.ru_stime} {os.getpid()}")
sys.stdout.flush()
os._exit(status if status >= 0 else 128 - status)
