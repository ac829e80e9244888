#!/bin/sh
# Test suites of real programs of the distribution, without the agent and with it: are the results
# the same? Builds hcct first, unless HCCT_BUILD (or --build DIR) says where it is built. See README.
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
HCCT_BUILD=$build exec "$python" -B "$here/main.py" "$@"
