#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# What walks cost in deep recursion, next to an empty signal handler: see deep_slices.c.
#   HCCT_BENCH_SLICES   pairs of slices of each line (80)
set -eu
bench=$HCCT_BUILDDIR/tests/bench
slices=${HCCT_BENCH_SLICES:-80}
files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT

empty() {
    EMPTY_HANDLER_RATE=$1 EMPTY_HANDLER_COUNT=$files/count \
        LD_PRELOAD=$bench/empty_handler.so "$bench/deep_slices" "$2" "$slices"
}

walks() {
    "$HCCT_BUILDDIR/client/hcct" record --rate "$1" -o "$files/profile.txt" -- \
        "$bench/deep_slices" "$2" "$slices" 2>"$files/messages" | sed -n 1p
}

echo 'CPU time more than with the signal blocked, of slices of one run: median (quartiles)'
printf '%7s %8s   %-26s %s\n' walks/s frames 'an empty handler' walks
for rate in 250 1000; do
    for depth in 10 1000 10000; do
        printf '%7s %8s   %-26s %s\n' "$rate" "$depth" "$(empty "$rate" "$depth")" \
            "$(walks "$rate" "$depth")"
    done
done
