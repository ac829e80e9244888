#!/bin/sh
# tools_test.sh - do readers that are not ours take the files, with all of the weight?
#
# Each tool that is not installed is left out; when none is there, the test is skipped (77).

srcdir=${srcdir:-.}
write=${WRITE_SAMPLE:-tests/report/write_sample}
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
failed=0
tools=0

# check NAME GOT WANT
check() {
    if [ "$2" != "$3" ]; then
        echo "$1: got \"$2\", wanted \"$3\"" >&2
        failed=1
    fi
}

# contains NAME FILE TEXT
contains() {
    if ! grep -qF -- "$3" "$2"; then
        echo "$1: no \"$3\" in:" >&2
        head -30 "$2" >&2
        failed=1
    fi
}

# run OUTPUT COMMAND...: it must succeed and say nothing on stderr
run() {
    output=$1
    shift
    if ! "$@" >"$output" 2>"$tmp/stderr" || [ -s "$tmp/stderr" ]; then
        echo "failed or complained: $*" >&2
        cat "$tmp/stderr" >&2
        failed=1
    fi
}

for sample in shell build names calls; do
    for format in pprof json folded total; do
        "$write" "$sample" "$format" >"$tmp/$sample.$format" || exit 99
    done
done

# The samples of `pprof -raw`, "weight error: ids", added up: column 1 or 2.
raw_sum() {
    awk -v column="$1" '
        /^Locations/ { samples = 0 }
        samples && /^ *[0-9]+ +[0-9]+:/ { sub(":", "", $2); sum += $column }
        /^Samples:/ { samples = 1 }
        END { printf "%.0f\n", sum }' "$2"
}

if command -v go >/dev/null && go tool pprof -help >/dev/null 2>&1; then
    tools=$((tools + 1))
    export PPROF_TMPDIR="$tmp" HOME="$tmp"
    for sample in shell build names calls; do
        file=$tmp/$sample.pprof
        run "$tmp/raw" go tool pprof -symbolize=none -raw "$file"
        check "pprof -raw $sample" "$(raw_sum 1 "$tmp/raw")" "$(cat "$tmp/$sample.total")"
        run "$tmp/top" go tool pprof -symbolize=none -top -trim=false "$file"
        contains "pprof -top $sample" "$tmp/top" ", 100% of "
    done
    file=$tmp/shell.pprof
    run "$tmp/out" go tool pprof -symbolize=none -top -trim=false -unit=ns "$file"
    contains "total of pprof -top" "$tmp/out" "$(cat "$tmp/shell.total")ns total"
    contains "a function of pprof -top" "$tmp/out" "sqlite3VdbeSerialGet (inline)"
    contains "File line of pprof" "$tmp/out" "File: sqlite3"
    contains "comments of pprof -top" "$tmp/out" "hcct: profile 1 phi=0.01 epsilon=0.002"
    run "$tmp/out" go tool pprof -symbolize=none -comments "$file"
    contains "pprof -comments" "$tmp/out" "hcct: process 1 command=sqlite3 exe=/usr/bin/sqlite3"
    run "$tmp/raw" go tool pprof -symbolize=none -raw "$file"
    run "$tmp/out" go tool pprof -symbolize=none -top -unit=ns -sample_index=cpu_error "$file"
    contains "pprof -sample_index" "$tmp/out" "$(raw_sum 2 "$tmp/raw")ns total"
    run "$tmp/out" go tool pprof -symbolize=none -peek='sqlite3VdbeExec$' "$file"
    contains "pprof -peek" "$tmp/out" "sqlite3BtreeIndexMoveto"
    run "$tmp/out" go tool pprof -symbolize=none -tags "$tmp/build.pprof"
    contains "pprof -tags" "$tmp/out" ": cc1"
    contains "pprof -tags" "$tmp/out" ": 4711"
    run "$tmp/out" go tool pprof -symbolize=none -tagfocus=process=as -top -unit=ns \
        "$tmp/build.pprof"
    contains "pprof -tagfocus" "$tmp/out" "md_assemble"
    run "$tmp/out" go tool pprof -raw -symbolize=none "$tmp/names.pprof"
    contains "names in pprof" "$tmp/out" "日本語の関数"
    contains "names in pprof" "$tmp/out" "<alloc::vec::Vec<[u8; 16]> as core::iter::Extend<T>>::extend"
fi

if command -v protoc >/dev/null && command -v gzip >/dev/null; then
    tools=$((tools + 1))
    for sample in shell build names calls; do
        gzip -dc <"$tmp/$sample.pprof" >"$tmp/plain" || failed=1
        run "$tmp/out" sh -c 'protoc --decode=perftools.profiles.Profile --proto_path="$1" \
            profile.proto <"$2"' sh "$srcdir/daemon/report" "$tmp/plain"
        check "weight of protoc --decode $sample" \
            "$(awk '/^sample {/ { first = 1 } /^  value:/ && first { sum += $2; first = 0 }
                    END { printf "%.0f\n", sum }' "$tmp/out")" "$(cat "$tmp/$sample.total")"
        check "unknown fields of $sample" "$(grep -cE '^ *[0-9]+:' "$tmp/out")" 0
    done
fi

if command -v python3 >/dev/null; then
    tools=$((tools + 1))
    for sample in shell build names calls; do
        run "$tmp/out" python3 -m json.tool "$tmp/$sample.json"
        check "weight of JSON $sample" "$(awk -F'[:,]' \
            '/^ *"count":/ { sum += $2 } END { printf "%.0f\n", sum }' "$tmp/out")" \
            "$(cat "$tmp/$sample.total")"
    done
fi

flamegraph=$(command -v flamegraph.pl || dpkg -L libdevel-nytprof-perl 2>/dev/null |
    grep '/flamegraph\.pl$')
if [ -n "$flamegraph" ] && command -v perl >/dev/null; then
    tools=$((tools + 1))
    for sample in shell build names calls; do
        run "$tmp/out" perl "$flamegraph" --countname=units "$tmp/$sample.folded"
        total=$(sed -e ':a' -e 's/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/;ta' \
            "$tmp/$sample.total")
        contains "flamegraph.pl $sample" "$tmp/out" "all ($total units, 100%)"
    done
fi

[ "$tools" -gt 0 ] || exit 77
echo "$tools tools took the files"
exit "$failed"
