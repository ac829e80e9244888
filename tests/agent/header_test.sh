#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# hcct.h compiles without a warning in each language that it is for, links nothing, and programs that
# include it run without the agent, at a fixed address, too.
status=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/program.c" <<'END'
#include "preload/labels/hcct.h"
#include "preload/labels/hcct.h"
int main(void) {
    hcct_label_set("route", "/pay");
    hcct_label_clear("route");
    hcct_stop();
    hcct_start();
    return 0;
}
END
printf '#include "preload/labels/hcct.h"\n' >"$work/unused.c"
cp "$work/program.c" "$work/program.cc"
cp "$work/unused.c" "$work/unused.cc"

tries=0
try() { # COMPILER SUFFIX FLAG...
    compiler=$1 suffix=$2
    shift 2
    command -v "$compiler" >/dev/null || return 0
    tries=$((tries + 1))
    if "$compiler" -pedantic -Wall -Wextra -Wshadow -Werror -Wno-unused-command-line-argument -I"$HCCT_SRCDIR" "$@" \
        -c "$work/program.$suffix" -o "$work/program.o" &&
        "$compiler" -pedantic -Wall -Wextra -Werror -Wno-unused-command-line-argument -I"$HCCT_SRCDIR" "$@" -c "$work/unused.$suffix" \
            -o "$work/unused.o" &&
        "$compiler" "$@" "$work/program.o" -o "$work/program" && "$work/program"; then
        strong=$(nm "$work/program.o" | grep -i hcct | grep -v ' [wtW] ')
        [ -z "$strong" ] && echo "ok      $compiler $*" && return 0
    fi
    echo "NOT SO  $compiler $*: $strong"
    status=1
}

for how in -O0 -O2 '-O2 -fno-pie -no-pie' '-O2 -static'; do
    for compiler in gcc clang; do
        for standard in c99 c11 gnu17; do try $compiler c -std=$standard $how; done
    done
    for compiler in g++ clang++; do
        for standard in c++11 c++20; do try $compiler cc -std=$standard $how; done
    done
done
[ $tries -ge 10 ] || exit 77
exit $status
