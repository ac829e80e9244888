#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# Each source file says at its head under which licence it is: that of LICENSE.
set -u
cd "$HCCT_SRCDIR" || exit 1
line='SPDX-License-Identifier: LGPL-3.0-or-later'
status=0
found=0
for file in $(find client common daemon preload tests contrib -type f \
    \( -name '*.c' -o -name '*.h' -o -name '*.cc' -o -name '*.py' -o -name '*.sh' \) ! -name '*.pb-c.[ch]'); do
    found=$((found + 1))
    if ! head -n 2 "$file" | grep -qF "$line"; then
        echo "$file does not begin with $line"
        status=1
    fi
done
[ "$found" -gt 600 ] || { echo "only $found files were found in $HCCT_SRCDIR" && status=1; }
exit $status
