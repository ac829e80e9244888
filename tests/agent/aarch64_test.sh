#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# The agent, the one that is attached and what stands before malloc and locks compile and link for aarch64
# without a warning, and nothing is missing there; and so do the files of client/attach that are for each
# machine. Whether they work is another question: this runs nothing.
compiler=aarch64-linux-gnu-gcc
command -v "$compiler" >/dev/null || exit 77
work=$(mktemp -d "${TMPDIR:-/tmp}/hcct-aarch64.XXXXXX")
trap 'rm -rf "$work"' EXIT
status=0
cd "$HCCT_SRCDIR" || exit 1
for source in $(find preload common/wire -name '*.c' ! -name '*_x86_64.c' | sort); do
    object=$work/$(echo "$source" | tr / _).o
    case $source in
    *_aarch64.c) optimization=-O2 ;;
    *) optimization=-O1 ;; # what -O2 warns of is the same on each machine; it takes a quarter longer
    esac
    "$compiler" -std=gnu11 -D_GNU_SOURCE -I. -I"$HCCT_BUILDDIR" $optimization -fPIC -fvisibility=hidden \
        -Wall -Wextra -Werror -c -o "$object" "$source" || status=1
done
# What client/local.mk names for x86-64 alone is left out.
elsewhere=$(sed -n '/^if HCCT_X86_64/,/^else/p' client/local.mk | grep -o 'client/attach/[a-z_]*\.c')
for source in $(find client/attach -name '*.c' | grep -v -x -F "$elsewhere" | sort); do
    "$compiler" -std=gnu11 -D_GNU_SOURCE -I. -I"$HCCT_BUILDDIR" -O1 -Wall -Wextra -Werror -c \
        -o "$work/attach.object" "$source" || status=1
done
# link NAME ACTION...: a library of the objects that grep's action leaves
link() {
    name=$1
    shift
    objects=$(ls "$work"/*.o | grep "$@")
    [ $status -eq 0 ] && "$compiler" -shared -Wl,-z,defs -o "$work/$name" $objects || status=1
}

blocks='preload_blocks_' locks='preload_locks_' events='preload_events_'
both="$events|preload_sample_draw\.c|preload_wrap_(next_symbol|libc)\.c"
link libhcctagent.so -Ev "preload_life_late|$blocks|$locks|$events"
link libhcctattach.so -v "preload_life_start\.c"
link libhcctblocks.so -E "$blocks|$both"
link libhcctlocks.so -E "$locks|$both"
[ $status -ne 0 ] || echo "ok      $(find "$work" -name '*.o' | wc -l) files"
exit $status
