#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# Each source file says at its head under which licence it is: that of LICENSE.
set -u
cd "$HCCT_SRCDIR" || exit 1
line='SPDX-License-Identifier: LGPL-3.0-or-later'
# one process for many files: a process for each would take most of a minute
said=$(find client common daemon preload tests contrib -type f \
    \( -name '*.c' -o -name '*.h' -o -name '*.cc' -o -name '*.py' -o -name '*.sh' \) ! -name '*.pb-c.[ch]' \
    -exec awk -v line="$line" '
        FNR > 2 { nextfile }
        index($0, line) { says[FILENAME] = 1 }
        END {
            for (i = 1; i < ARGC; i++)
                print ARGV[i], ARGV[i] in says ? "says it" : "does not begin with " line
        }' {} +)
wrong=$(echo "$said" | grep -v ' says it$')
[ -z "$wrong" ] || echo "$wrong"
found=$(echo "$said" | wc -l)
[ "$found" -gt 600 ] || { echo "only $found files were found in $HCCT_SRCDIR" && exit 1; }
[ -z "$wrong" ]
