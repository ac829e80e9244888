# SPDX-License-Identifier: LGPL-3.0-or-later
"""fleet_test.py with a current ClickHouse, which contrib/readers.sh fetches where CI is set."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "readers"), os.path.join(HERE, "..", "e2e")]
import npm  # noqa: E402
from support import BUILD, skip  # noqa: E402


def directory():
    """Where chdb is; of the build around this one, for builds within (sanitizers)."""
    for build in (BUILD, os.path.dirname(BUILD)):
        path = os.path.join(build, "tests", "remote")
        if os.path.exists(os.path.join(path, "node_modules", ".fetched")):
            return path
    return skip("chdb is not there: CI=1 contrib/readers.sh BUILD-DIRECTORY fetches it")


os.environ.update(HCCT_CHDB=directory(), HCCT_NODE=npm.node())
os.execv(sys.executable, [sys.executable, "-B", os.path.join(HERE, "fleet_test.py")])
