#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# What a walk of the stack costs, next to other walkers: see walk_bench.c.
exec "$HCCT_BUILDDIR/tests/bench/walk_bench"
