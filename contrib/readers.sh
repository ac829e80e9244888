#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# readers.sh BUILD: fetches the programs of others that tests read our files with (versions and
# checksums: tests/readers/package-lock.json) into BUILD/tests/readers/node_modules. Nothing is run
# of what is fetched. Without it, or where it fails, the tests that need it are skipped.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
build=${1:?"usage: readers.sh BUILD"}
. "$root/contrib/packages.sh"

from=$root/tests/readers into=$build/tests/readers
done=$into/node_modules/.fetched # what was fetched: the lock file then

if [ -f "$done" ] && cmp -s "$from/package-lock.json" "$done"; then
    exit 0
fi
install_missing readers
mkdir -p "$into"
echo "Fetching the readers of tests/readers"
python3 "$root/contrib/fetch_packages.py" "$from/package-lock.json" "$into/node_modules"
cp "$from/package-lock.json" "$done"
