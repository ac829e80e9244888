#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# Real programs, without the agent and with it, in all modes, under hcct record and always on: same
# output, status and stderr? Builds hcct first, unless HCCT_BUILD (or --build DIR) says where it is.
# See README.
set -eu
. "$(dirname -- "$0")/../with_build.sh"
with_build battery.py "$@"
