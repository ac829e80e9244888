#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# The agent compiles and links for aarch64 without a warning, and nothing is missing there. Whether
# it works is another question: this runs nothing.
compiler=aarch64-linux-gnu-gcc
command -v "$compiler" >/dev/null || exit 77
work=$(mktemp -d "${TMPDIR:-/tmp}/hcct-aarch64.XXXXXX")
trap 'rm -rf "$work"' EXIT
status=0
cd "$HCCT_SRCDIR" || exit 1
for source in $(find preload common/wire -name '*.c' | sort); do
    object=$work/$(echo "$source" | tr / _).o
    "$compiler" -std=gnu11 -D_GNU_SOURCE -I. -I"$HCCT_BUILDDIR" -O2 -fPIC -fvisibility=hidden \
        -Wall -Wextra -Werror -c -o "$object" "$source" || status=1
done
[ $status -eq 0 ] && "$compiler" -shared -Wl,-z,defs -o "$work/agent.so" "$work"/*.o || status=1
[ $status -ne 0 ] || echo "ok      $(find "$work" -name '*.o' | wc -l) files"
exit $status
