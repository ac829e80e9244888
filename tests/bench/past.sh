#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# What questions about two weeks of hours cost: see past_bench.c.
exec "${HCCT_BUILDDIR:-.}/tests/bench/past_bench"
