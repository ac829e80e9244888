#!/bin/sh
# Installs what is missing, builds hcct in build/, and profiles a real program with it: some seconds
# of queries on a database in memory.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
build=${HCCT_BUILD:-$root/build}
. "$root/contrib/packages.sh"

install_missing build try
"$root/contrib/build.sh"
cd "$root/contrib"
echo
echo "\$ hcct record -o $build/try.pb.gz -- sqlite3 :memory: '.read try.sql'"
"$build/client/hcct" record -o "$build/try.pb.gz" -- sqlite3 :memory: '.read try.sql'
echo
echo "The profile: $build/try.pb.gz"
echo "See it by module, or convert it for flame graphs:"
echo "    $build/client/hcct report --by module $build/try.pb.gz"
echo "    $build/client/hcct report -o try.folded $build/try.pb.gz"
