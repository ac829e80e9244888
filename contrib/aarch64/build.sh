#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# build.sh DIRECTORY [OPTION OF CONFIGURE...]: hcct and its tests in DIRECTORY/build, for aarch64,
# against what root.sh has made. A warning is an error.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
directory=$1
shift
tree=$directory/root
libraries=$tree/usr/lib/aarch64-linux-gnu

[ "$root/configure" -nt "$root/configure.ac" ] || (cd "$root" && autoreconf -i)
mkdir -p "$directory/build"
self=$root/contrib/aarch64/build.sh
cd "$directory/build"
export PKG_CONFIG_SYSROOT_DIR="$tree" PKG_CONFIG_PATH=
export PKG_CONFIG_LIBDIR="$libraries/pkgconfig:$tree/usr/share/pkgconfig"
if [ ! -f .configured-with ] || [ "$self" -nt .configured-with ] || [ "$*" != "$(cat .configured-with)" ]; then
    "$root/configure" -q --host=aarch64-linux-gnu --enable-werror \
        CC="aarch64-linux-gnu-gcc --sysroot=$tree" CXX="aarch64-linux-gnu-g++ --sysroot=$tree" \
        PYTHON3=/usr/bin/python3 "$@"
    echo "$*" >.configured-with
fi
make -s -j "$(nproc)"
make -s -j "$(nproc)" check TESTS=
