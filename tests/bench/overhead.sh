#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# What profiling costs a program, next to an empty signal handler and to other profilers.
# HCCT_BENCH_ROUNDS, HCCT_BENCH_PROGRAMS, HCCT_BENCH_RATES, HCCT_BENCH_TABLES: see overhead.py.
here=$(dirname -- "$0")
command -v python3 >/dev/null || {
    echo 'left out: python3 is not installed'
    exit 0
}
exec python3 -B "$here/overhead.py"
