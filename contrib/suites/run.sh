#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# Test suites of real programs of the distribution, without the agent and with it: are the results
# the same? Builds hcct first, unless HCCT_BUILD (or --build DIR) says where it is built. See README.
set -eu
. "$(dirname -- "$0")/../with_build.sh"
with_build main.py "$@"
