#!/bin/sh
# A build of several hundred files with every process profiled, beside builds without. See README.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(dirname -- "$(dirname -- "$here")")
python=/usr/bin/python3
[ -x "$python" ] || python=python3
build=${HCCT_BUILD:-$root/build}
case " $* " in
*" --build"* | *" --help "* | *" -h "*) ;;
*) [ -x "$build/client/hcct" ] || HCCT_BUILD=$build "$root/contrib/build.sh" ;;
esac
HCCT_BUILD=$build exec "$python" -B "$here/build_load.py" "$@"
