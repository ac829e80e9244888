#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# The papers' tables, measured with hcct on programs built from the distribution's sources.
# Builds hcct first, unless HCCT_BUILD (or --build DIR) says where it is built. See README.
set -eu
. "$(dirname -- "$0")/../with_build.sh"
with_build main.py "$@"
