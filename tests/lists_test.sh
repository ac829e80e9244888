#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# Each test stands in a list of tests: one that is in none is never run.
set -u
cd "$HCCT_SRCDIR" || exit 1
listed=$(sed 's/[^A-Za-z0-9_./]/\n/g' Makefile.am contrib/local.mk tests/local.mk tests/*/local.mk man/local.mk)
status=0
found=0
for test in tests/*_test.* tests/*/*_test.* contrib/*/*_test.*; do
    case $test in
        *.c | *.cc) name=${test%.*} ;;
        *.py | *.sh) name=$test ;;
        *) continue ;;
    esac
    found=$((found + 1))
    if ! printf '%s\n' "$listed" | grep -q -x -F "$name"; then
        echo "$test is in no list of tests"
        status=1
    fi
done
[ "$found" -gt 100 ] || { echo "only $found tests were found in $HCCT_SRCDIR" && status=1; }
exit $status
