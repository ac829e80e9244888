#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# A build of several hundred files with every process profiled, beside builds without. Builds hcct
# first, unless HCCT_BUILD (or --build DIR) says where it is built. See README.
set -eu
. "$(dirname -- "$0")/../with_build.sh"
with_build build_load.py "$@"
