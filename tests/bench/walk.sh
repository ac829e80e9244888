#!/bin/sh
# What a walk of the stack costs, next to other walkers: see walk_bench.c.
exec "$HCCT_BUILDDIR/tests/bench/walk_bench"
