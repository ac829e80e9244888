#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# check.sh [TEST...]: hcct on aarch64, by an emulator: installs what is missing, builds against Debian's
# arm64 packages, boots Debian's arm64 kernel, runs the tests there, and says how many passed, failed
# and were skipped, each of the last two with its reason. The exit status is 0 when none failed. A test
# may have arguments: check.sh "tests/e2e/check_test.py 20".
#
#   HCCT_AARCH64            the directory for all that it makes: kept, so that the second time is short.
#                           build/aarch64 by default
#   HCCT_AARCH64_LIMIT      seconds that a test may take, by the machine's own clock (machine.sh)
#   HCCT_AARCH64_MACHINES   how many machines run at the same time: as many as processors by default
#   HCCT_AARCH64_PROCESSORS how many processors each of them has: one by default (machine.sh)
#
# Needs a package mirror and 10 GB of disk. What of "make check" is not run there, and why, is in
# skipped.txt. Each hazard is run once.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
here=$root/contrib/aarch64
directory=${HCCT_AARCH64:-$root/build/aarch64}
. "$root/contrib/packages.sh"

# Each hazard once, in parts that keep to the limit. At 10,000 walks a second, or when each is made twice, a
# program would have next to nothing of the emulated processor. Where 10,000 samples are compared there
# are 1,000.
with_arguments() {
    awk -v parts=8 '$0 == "tests/hazards/hazards_test.py" {
            for (part = 1; part <= parts; part++) print $0 " --runs 1 --rate 2000 --part " part "/" parts
            next
        }
        $0 == "tests/e2e/check_test.py" { $0 = $0 " 0 2000" }
        $0 == "tests/e2e/python_judge_test.py" { $0 = $0 " 1000" }
        $0 == "tests/e2e/wall_calls_test.py" { $0 = $0 " 10" }
        $0 == "tests/e2e/storm_test.py" { $0 = $0 " 20 2000" }
        { print }'
}

install_missing aarch64
mkdir -p "$directory"
"$here/root.sh" "$directory"
"$here/build.sh" "$directory"
if [ $# -eq 0 ]; then
    all=yes
    IFS='
'
    # shellcheck disable=SC2046
    set -- $(make -s --no-print-directory -C "$directory/build" print-tests | tr ' ' '\n' |
        grep -v -x -F -e "$(grep -v '^#' "$here/skipped.txt" | cut -d ' ' -f 1)" | with_arguments)
    unset IFS
fi
"$here/machine.sh" "$directory" "$@"

passed=0 failed=0 skipped=0 broken='' left=''
results=$directory/results
[ -f "$results/summary" ] || { echo "the machine has left no results" >&2 && exit 1; }
reason() {
    grep -v '^ok ' "$results/$(echo "$1" | tr '/ ' '_-' | cut -c 1-200).log" | tail -n "$2" | cut -c 1-200 |
        sed 's/^/        /'
}
for test in "$@"; do
    status=$(awk -v test="$test" '{ s = $1; sub(/^[^ ]* [^ ]* [^ ]* /, "") } $0 == test { print s }' "$results/summary")
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
if [ -n "${all:-}" ]; then
    left="$left$(sed -n 's/^\([^# ][^ ]*\) \(.*\)/    \1\n        \2/p' "$here/skipped.txt")
"
    skipped=$((skipped + $(grep -c '^[^#]' "$here/skipped.txt")))
fi
[ -z "$left" ] || printf 'Skipped:\n%s' "$left"
[ -z "$broken" ] || printf 'Failed:\n%s' "$broken"
echo "$passed passed, $failed failed, $skipped skipped on aarch64; what each said: $results"
[ $failed -eq 0 ]
