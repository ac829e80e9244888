#!/bin/sh
# A build of several hundred files with every process profiled, beside builds without. Builds hcct
# first, unless HCCT_BUILD (or --build DIR) says where it is built. See README.
set -eu
. "$(dirname -- "$0")/../with_build.sh"
with_build build_load.py "$@"
