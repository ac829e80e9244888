#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# Each test stands in a list of tests: one that is in none is never run.
set -u
cd "$HCCT_SRCDIR" || exit 1
tests=$(ls tests/*_test.* tests/*/*_test.* contrib/*/*_test.* | sed -n 's/\.cc*$//p; t; /\.\(py\|sh\)$/p')
unlisted=$(sed 's/[^A-Za-z0-9_./]/\n/g' Makefile.am contrib/local.mk tests/local.mk tests/*/local.mk man/local.mk |
    tests=$tests awk '
        { listed[$0] = 1 }
        END {
            number = split(ENVIRON["tests"], names, "\n")
            for (i = 1; i <= number; i++)
                if (!(names[i] in listed))
                    print names[i] " is in no list of tests"
        }')
[ -z "$unlisted" ] || echo "$unlisted"
found=$(echo "$tests" | wc -l)
[ "$found" -gt 100 ] || { echo "only $found tests were found in $HCCT_SRCDIR" && exit 1; }
[ -z "$unlisted" ]
