#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# check_deb.sh DIRECTORY: installs the packages of a directory in a bare Debian 12 and tries them there
# (installed.sh). "make check-deb" calls it. What bare.sh needs, it needs: root and a package mirror.
set -eu
contrib=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
packages=$(realpath "$1")

HCCT_BARE_ROOT=$(mktemp -d /var/tmp/hcct-bare.XXXXXX)
export HCCT_BARE_ROOT
trap 'rm -rf --one-file-system "$HCCT_BARE_ROOT"' EXIT
trap 'exit 130' INT TERM
"$contrib/bare.sh" true
mkdir "$HCCT_BARE_ROOT/root/packages"
cp "$packages"/*.deb "$HCCT_BARE_ROOT/root/packages/"
"$contrib/bare.sh" ./contrib/installed.sh /root/packages
