#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# Installs what is missing, builds, runs all tests and the formatting check. The last lines name what
# failed, with the end of what it said, and say how many passed, failed and were skipped; the exit
# status is 0 when none failed. Tests run side by side; one that fails then has a second try by itself,
# and is named as well. What waits is done beside what computes: packages that only tests need are fetched
# while hcct is built, and the source archive is built by what the tests leave of the processors.
#
#   --werror      a compiler warning is an error
#   --sanitize    the tests again, under the address, undefined-behaviour and thread sanitizers
#   --distcheck   a source archive has all files, and is built, installed and tested by a few tests with a
#                 read-only source tree
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
build=${HCCT_BUILD:-$root/build}
. "$root/contrib/packages.sh"

configure_options='' sanitize=no distcheck=no
for option in "$@"; do
    case $option in
    --werror) configure_options=--enable-werror ;;
    --sanitize) sanitize=yes ;;
    --distcheck) distcheck=yes ;;
    *)
        echo "test.sh: there is no option $option; see its first lines" >&2
        exit 2
        ;;
    esac
done

# what is built once needs no record of what it was made of
[ -z "${CI:-}" ] || configure_options="$configure_options --disable-dependency-tracking"

FEW=8
work=$(mktemp -d)
trap 'stop; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
began=$(date +%s)
passed=0 failed=0 skipped=0 broken='' luck='' by='' fetching='' sleeping='' archiving=''

# stop: what runs beside others, where all is given up. Signals of the terminal do not reach it.
stop() {
    for process in $fetching $sleeping $archiving; do
        kill $(cat "/proc/$process/task/$process/children" 2>/dev/null) 2>/dev/null || true
    done
}

# broke NAME: a test has failed.
broke() {
    failed=$((failed + 1))
    broken="$broken    $1
"
}

# results DIRECTORY ACTION...: find's action on the results that "make check" left there.
results() {
    directory=$1
    shift
    find "$directory" \( -path "$directory/sanitize-*" -o -path "$directory/hcct-*" \) -prune -o \
        -name '*.trs' "$@"
}

# why LOG: the first things that were not so, and the end of what the test said.
why() {
    grep '^NOT SO' "$1" | head -n 10
    grep -v -e '^ok ' -e '^NOT SO' "$1" | tail -n 10
}

# count DIRECTORY: adds them up.
count() {
    for file in $(results "$1" -print); do
        case $(sed -n 's/^:test-result: //p' "$file") in
        PASS | XFAIL) passed=$((passed + 1)) ;;
        SKIP) skipped=$((skipped + 1)) ;;
        *) broke "${file%.trs}, its output: ${file%.trs}.log
$(why "${file%.trs}.log" | cut -c 1-200 | sed 's/^/        /')" ;;
        esac
    done
}

# step NAME COMMAND...: a check that counts as one test.
step() {
    name=$1
    shift
    if "$@"; then
        echo "PASS: $name"
        passed=$((passed + 1))
    else
        echo "FAIL: $name"
        broke "$name"
    fi
}

# tests ACTION...: all, one on a line, as grep's action leaves them: those that run whole programs, which
# take most of the time, or with -v all others.
tests() {
    make -s --no-print-directory -C "$build" print-tests | tr ' ' '\n' |
        grep "$@" -e '^tests/\(e2e\|hazards\|soak\)/' -e '^tests/client/record_test.py$' | grep .
}

# beside NAME COMMAND...: begins to run it beside what comes next. $work/NAME is what it says.
beside() {
    output=$work/$1
    shift
    { "$@" >"$output" 2>&1 && echo 0 || echo 1; } >"$output.status" &
}

# ended NAME PROCESS: waits for it, and shows what it has said.
ended() {
    wait "$2" || true # it may have been waited for
    cat "$work/$1"
    return "$(cat "$work/$1.status")"
}

# archive [PREFIX...]: the source archive. Its tests are run by PREFIX. What compilers make of it with optimization
# has been tested already: they take half as long again for that. Of the programs that are only for tests it makes
# those that its tests need.
archive() {
    $by make -s -j "$(nproc)" -C "$build" distcheck VERBOSE=1 TESTS="$(few_tests)" TESTS_ENVIRONMENT="$*" \
        check_PROGRAMS="$FEW_PROGRAMS" DISTCHECK_CONFIGURE_FLAGS='CFLAGS=-O0 CXXFLAGS=-O0' && whole
}

# sources: all files that the project has, as git knows them; where there is none, all that is not made.
sources() {
    git -C "$root" ls-files 2>/dev/null || find . \( -path ./.git -o -path "./${build#"$root/"}" -o -name autom4te.cache \
        -o -name __pycache__ \) -prune -o -type f ! -name '*~' -printf '%P\n'
}

# whole: each of them is in the source archive. So what is compiled of it is what has been compiled and tested.
whole() {
    tar -tzf "$build"/hcct-*.tar.gz | sed 's,^[^/]*/,,' >"$work/archived"
    left_out=$(cd "$root" && sources | grep -v -x -F -e .gitignore -f "$work/archived") || return 0
    echo "The source archive lacks:" $left_out >&2
    return 1
}

# idle_archive: it takes of the processors what nobody else wants, until the tests of the build are over, as
# $work/over says; its own tests begin then.
idle_archive() {
    by='chrt --idle 0'
    cat >"$work/later" <<END
while [ -d "$work" ] && [ ! -e "$work/over" ]; do sleep 1; done
exec "\$@"
END
    archive sh "$work/later"
}
can_be_idle() {
    chrt --idle 0 chrt --other 0 true 2>/dev/null # it takes a right to come back
}

# as_usual PROCESS: that and all that it has begun are as others again. What one begins meanwhile is, too.
as_usual() {
    chrt --other --pid 0 "$1" 2>/dev/null || return 0
    for process in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
        as_usual "$process"
    done
}

# make_check: all tests, side by side, the long ones first, as many as there are processors and one of those
# that are mostly asleep; those that failed once more, one at a time. The source archive, where it is asked for,
# is built beside them.
make_check() {
    make -s -j "$(nproc)" -C "$build" check TESTS= || return
    passed_all=yes
    if [ $distcheck = yes ] && can_be_idle; then
        beside archive idle_archive
        archiving=$!
    fi
    asleep=$(make -s -C "$build" print-asleep)
    beside asleep make -s -k -C "$build" check VERBOSE=1 TESTS="$asleep" TEST_SUITE_LOG=asleep.log
    sleeping=$!
    make -s -k -j "$(nproc)" -C "$build" check VERBOSE=1 \
        TESTS="$( (tests && tests -v) | grep -v -x -F "$(echo "$asleep" | tr ' ' '\n')" | tr '\n' ' ')" || passed_all=no
    ended asleep $sleeping || passed_all=no
    [ -z "$archiving" ] || as_usual "$archiving"
    : >"$work/over"
    [ "$passed_all" = yes ] || once_more
}

# once_more: the machine was busy with the other tests, which no test may mind. One that passes now is
# named at the end, with what was not so. Where many failed, it was not that.
once_more() {
    [ -z "$archiving" ] || wait "$archiving" || true # alone
    failures=$(results "$build" -exec grep -l '^:test-result: \(FAIL\|ERROR\)' {} +) || return
    [ "$(echo "$failures" | wc -l)" -le $FEW ] || return
    for file in $failures; do
        cp "${file%.trs}.log" "${file%.trs}.first"
    done
    again=0
    make -s -k -C "$build" recheck VERBOSE=1 || again=$?
    for file in $failures; do
        [ -e "$file" ] || echo ':test-result: ERROR' >"$file" # it was killed
        grep -q '^:test-result: PASS' "$file" || continue
        luck="$luck    ${file%.trs}
$(why "${file%.trs}.first" | cut -c 1-200 | sed 's/^/        /')
"
    done
    return $again
}

# longest DIRECTORY: which tests have taken most of the time, beside others. A log is born when its test
# begins, where the file system says when that was; not one that there was before, or of a second try.
longest() {
    echo 'Longest tests:'
    for file in $(results "$1" -print); do
        log=${file%.trs}.log born=0
        [ ! -e "$log" ] || born=$(stat -c %W "$log")
        [ "$born" -lt $began ] || [ -e "${file%.trs}.first" ] || echo "$(($(stat -c %Y "$file") - born)) $log"
    done | sort -rn | head -n 12 | awk '{ printf "%7d s  %s\n", $1, $2 }'
}

# check DIRECTORY COMMAND...: runs the tests, counts those in DIRECTORY.
check() {
    directory=$1
    shift
    [ ! -d "$directory" ] || results "$directory" -exec rm -f {} +
    before=$((passed + failed + skipped)) failed_before=$failed
    made=yes
    "$@" || made=no
    [ ! -d "$directory" ] || count "$directory"
    # a build that broke before any test ran, or beside them, is a failure too
    if [ $made = no ] && [ $failed = "$failed_before" ] ||
        [ $((passed + failed + skipped)) = $before ]; then
        echo "FAIL: $*"
        broke "$*"
    fi
}

# Those that read the sources, and two that say that what is built of the archive works. The others have run, and
# would say nothing new: they are run with the same files, which the archive has.
few_tests() {
    tests -v | grep '\.\(py\|sh\)$' | grep -v -e '^tests/\(step\|fuzz\|page\|readers\|remote\|trace\|code\)/' \
        -e '^tests/client/.*py$' -e '/readers_test.py$' -e '/otlp_rules_test.py$' -e '^tests/agent/\(aarch64\|header\)_test.sh$' | tr '\n' ' '
    echo tests/e2e/daemon_test.py tests/client/query_test.py
}
FEW_PROGRAMS=tests/targets/known_shares

# fetch: what only tests need.
fetch() {
    install_missing test ${CI:+metrics clickhouse} || return
    "$root/contrib/readers.sh" "$build" ||
        echo "The readers could not be fetched: tests of files with them are skipped"
}

install_missing build configure
if [ "$(id -u)" -eq 0 ]; then # else sudo may ask for a password
    beside fetched fetch
    fetching=$!
else
    fetch
fi
built=yes
"$root/contrib/build.sh" $configure_options || built=no
if [ $built = yes ] && [ -n "$fetching" ]; then # make_check makes the rest, and says what can't be made
    make -s -j "$(nproc)" -C "$build" check TESTS= >/dev/null 2>&1 || true
fi
[ -z "$fetching" ] || ended fetched $fetching
if [ $built = yes ]; then
    check "$build" make_check
    longest "$build"
    step "formatting (make format-check)" make -s -C "$build" format-check
    if [ $sanitize = yes ]; then
        for kind in address thread; do
            check "$build/sanitize-$kind" make -s -C "$build" "check-$kind" VERBOSE=1
        done
    fi
    if [ -n "$archiving" ]; then
        step "make distcheck" ended archive "$archiving"
    elif [ $distcheck = yes ]; then
        step "make distcheck" archive
    fi
else
    echo "FAIL: build"
    broke "build"
fi

[ -z "$luck" ] || printf 'Failed beside other tests, and passed by themselves:\n%s' "$luck"
[ -z "$broken" ] || printf 'Failed:\n%s' "$broken"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
