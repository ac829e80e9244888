#!/bin/sh
# What profiling costs a program, next to other profilers: see overhead.py.
# HCCT_BENCH_ROUNDS: how often each program runs with each profiler (5).
here=$(dirname -- "$0")
command -v python3 >/dev/null || {
    echo 'left out: python3 is not installed'
    exit 0
}
exec python3 -B "$here/overhead.py"
