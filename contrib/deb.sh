#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# deb.sh ARCHIVE DIRECTORY: builds Debian packages of a source archive ("make dist") in a directory, and
# has lintian look at them. "make deb" calls it. It fails when lintian has anything to say.
#
# Needs debhelper and lintian beside what building needs; as root, or with sudo, it installs them.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
. "$root/contrib/packages.sh"
archive=$(realpath "$1") directory=$2

install_missing build deb
rm -rf "$directory"
mkdir -p "$directory"
cd "$directory"
tar -xf "$archive"
cd hcct-*
dpkg-buildpackage -us -uc >../build.log 2>&1 || {
    tail -n 30 ../build.log >&2
    echo "deb.sh: dpkg-buildpackage failed; its output: $directory/build.log" >&2
    exit 1
}
cd ..
lintian --allow-root --fail-on error,warning,info --display-info ./*.changes >lintian.log || {
    cat lintian.log >&2
    echo "deb.sh: lintian has found this" >&2
    exit 1
}
rm -rf hcct-*/
mkdir debug
mv ./*-dbgsym_*.deb debug/
ls "$PWD"/*.deb
