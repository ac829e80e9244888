#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# Builds hcct in build/ (or $HCCT_BUILD), after installing what is missing.
# Arguments go to configure.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
build=${HCCT_BUILD:-$root/build}
. "$root/contrib/packages.sh"

install_missing build
[ "$root/configure" -nt "$root/configure.ac" ] || (cd "$root" && autoreconf -i)
mkdir -p "$build"
cd "$build"
# configure again when other options are given than last time, or other tools
given="$* without: $(missing build configure | tr '\n' ' ')"
if [ ! -f Makefile ] || [ "$given" != "$(cat .configured-with 2>/dev/null)" ]; then
    "$root/configure" -q "$@"
    echo "$given" >.configured-with
fi
make -s -j "$(nproc)"
