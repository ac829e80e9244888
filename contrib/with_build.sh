# SPDX-License-Identifier: LGPL-3.0-or-later
# with_build.sh - sourced by scripts that run a Python program of their directory on a built hcct:
# with_build PROGRAM ARGS... builds hcct first, unless HCCT_BUILD (or --build DIR) says where it is
# built, or only help is wanted. Does not return.
with_build() {
    directory=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
    root=$(CDPATH='' cd -- "$directory/../.." && pwd)
    program=$directory/$1
    shift
    python=/usr/bin/python3
    [ -x "$python" ] || python=python3
    HCCT_BUILD=${HCCT_BUILD:-$root/build}
    case " $* " in
    *" --build"* | *" --help "* | *" -h "*) ;;
    *) [ -x "$HCCT_BUILD/client/hcct" ] || HCCT_BUILD=$HCCT_BUILD "$root/contrib/build.sh" ;;
    esac
    export HCCT_BUILD
    exec "$python" -B "$program" "$@"
}
