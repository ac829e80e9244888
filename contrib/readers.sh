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
# a node.js that came from elsewhere than Debian brings its own npm
command -v npm >/dev/null || install_missing readers
mkdir -p "$into"
for file in package.json package-lock.json; do
    [ "$from/$file" -ef "$into/$file" ] || install -m 644 "$from/$file" "$into/$file"
done
echo "Fetching the readers of tests/readers"
# --loglevel: the newer node that one of them wants is itself among them
npm ci --prefix "$into" --ignore-scripts --no-audit --no-fund --loglevel=error \
    --fetch-retries=1 --fetch-timeout=20000 </dev/null
cp "$into/package-lock.json" "$done"
