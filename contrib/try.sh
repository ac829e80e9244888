#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# Installs what is missing, builds hcct in build/, and profiles a real program with it: a redis server
# that some clients keep busy for some seconds. No server of the machine is started or asked.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
build=${HCCT_BUILD:-$root/build}
. "$root/contrib/packages.sh"

install_missing build try
"$root/contrib/build.sh"

profile=$build/try.pb.gz
work=$(mktemp -d)
trap 'exit 130' INT TERM
trap 'rm -rf "$work"' EXIT
cd "$work"
# The package redis-tools has the server's program under this name; it is what it is called by.
ln -s "$(command -v redis-check-rdb)" redis-server

echo
echo "\$ hcct record -o $profile -- ./redis-server --port 0 --unixsocket socket --save ''"
"$build/client/hcct" record -o "$profile" -- \
    ./redis-server --port 0 --unixsocket socket --save '' >server.log &
record=$!
while [ ! -S socket ]; do
    kill -0 $record 2>/dev/null || {
        cat server.log >&2
        echo "try.sh: the server has not started" >&2
        exit 1
    }
    sleep 0.1
done
redis-benchmark -s socket -q -P 16 -r 10000 -n 300000 -t set,get,lpush,lrange_100,zadd >clients.log
redis-cli -s socket shutdown nosave >>clients.log 2>&1 || true
wait $record
echo
echo "The profile: $profile"
echo "See it by module, or as a page for the browser:"
echo "    $build/client/hcct report --by module $profile"
echo "    $build/client/hcct report -o try.html $profile"
