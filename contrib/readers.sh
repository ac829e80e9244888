#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# readers.sh BUILD: fetches the programs of others that tests read our files with (versions and
# checksums: tests/readers/package-lock.json) into BUILD/tests/readers/node_modules; and where CI is set,
# as it is large, the current ClickHouse that hcct push and hcct fleet are tested with (the same below
# tests/remote). Nothing is run of what is fetched. Without it, or where it fails, the tests that need it
# are skipped.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
build=${1:?"usage: readers.sh BUILD"}
. "$root/contrib/packages.sh"

# fetch DIRECTORY: what its lock file names, unless it is there.
fetch() {
    lock=$root/$1/package-lock.json into=$build/$1/node_modules
    done=$into/.fetched # what was fetched: the lock file then
    if [ -f "$done" ] && cmp -s "$lock" "$done"; then
        return 0
    fi
    install_missing readers
    mkdir -p "$build/$1"
    echo "Fetching what $1/package.json names"
    python3 "$root/contrib/fetch_packages.py" "$lock" "$into"
    cp "$lock" "$done"
}

fetch tests/readers
[ -z "${CI:-}" ] || fetch tests/remote
