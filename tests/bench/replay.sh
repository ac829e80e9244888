#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# Speed and size of the tree on recorded traces of programs of the papers' kind: replay_bench.c.
# They are fetched and built by contrib/paper, and kept in its cache.
#   HCCT_BENCH_TRACES    a directory with traces to use instead
#   HCCT_BENCH_REPLAYED  "gnugo lua": these programs ("gnugo sqlite3 lua")
set -eu
traces=${HCCT_BENCH_TRACES:-}
if [ -z "$traces" ]; then
    traces=$(mktemp -d)
    trap 'rm -rf "$traces"' EXIT
    "$HCCT_SRCDIR/contrib/paper/run.sh" --build "$HCCT_BUILDDIR" --traces "$traces" \
        --programs "${HCCT_BENCH_REPLAYED:-gnugo sqlite3 lua}" ||
        echo 'left out: no program could be built'
fi
for trace in "$traces"/*.trace; do
    [ ! -e "$trace" ] || "$HCCT_BUILDDIR/tests/bench/replay_bench" "$trace"
done
