#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# check.sh [TEST...]: hcct on aarch64, by an emulator: installs what is missing, builds against Debian's
# arm64 packages, boots Debian's arm64 kernel, runs the tests there, and says how many passed, failed
# and were skipped, each of the last two with its reason. The exit status is 0 when none failed.
#
#   HCCT_AARCH64         the directory for all that it makes: kept, so that the second time is short.
#                        build/aarch64 by default
#   HCCT_AARCH64_LIMIT   seconds that a test may take, by the machine's own clock (machine.sh)
#
# Needs a package mirror and 10 GB of disk. What of "make check" is not run there, and why, is in
# skipped.txt.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
here=$root/contrib/aarch64
directory=${HCCT_AARCH64:-$root/build/aarch64}
. "$root/contrib/packages.sh"

install_missing aarch64
mkdir -p "$directory"
"$here/root.sh" "$directory"
"$here/build.sh" "$directory"
tests=$*
[ -n "$tests" ] || tests=$(make -s -C "$directory/build" print-tests | tr ' ' '\n' |
    grep -v -x -F -e "$(grep -v '^#' "$here/skipped.txt" | cut -d ' ' -f 1)" | tr '\n' ' ')
# shellcheck disable=SC2086
"$here/machine.sh" "$directory" $tests

passed=0 failed=0 skipped=0 broken='' left=''
results=$directory/results
[ -f "$results/summary" ] || { echo "the machine has left no results" >&2 && exit 1; }
reason() {
    grep -v '^ok ' "$results/$(echo "$1" | tr / _).log" | tail -n "$2" | cut -c 1-200 |
        sed 's/^/        /'
}
for test in $tests; do
    status=$(sed -n "s,^\([0-9]*\) [0-9]* $test\$,\1,p" "$results/summary")
    case ${status:-none} in
    0) passed=$((passed + 1)) ;;
    77)
        skipped=$((skipped + 1))
        left="$left    $test
$(reason "$test" 1)
"
        ;;
    *)
        failed=$((failed + 1))
        broken="$broken    $test (status ${status:-none: the machine did not come so far})
$(reason "$test" 15)
"
        ;;
    esac
done
if [ $# -eq 0 ]; then
    left="$left$(sed -n 's/^\([^# ][^ ]*\) \(.*\)/    \1\n        \2/p' "$here/skipped.txt")
"
    skipped=$((skipped + $(grep -c '^[^#]' "$here/skipped.txt")))
fi
[ -z "$left" ] || printf 'Skipped:\n%s' "$left"
[ -z "$broken" ] || printf 'Failed:\n%s' "$broken"
echo "$passed passed, $failed failed, $skipped skipped on aarch64; what each said: $results"
[ $failed -eq 0 ]
