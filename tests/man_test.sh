#!/bin/sh
# The manual pages are well-formed, and name each option that --help names.
set -u
man=$HCCT_SRCDIR/man
status=0

if command -v mandoc >/dev/null; then
    mandoc -T lint -W warning "$man"/*.[1578] || status=1
fi

# options PROGRAM [SUBCOMMAND]: their long names, as --help has them
options() {
    "$@" --help | sed -n '/^examples:/q; s/^  .*--\([a-z-]*\).*/\1/p' |
        grep -v -x -e help -e version
}

# named PAGE PROGRAM [SUBCOMMAND]
named() {
    page=$1
    shift
    names=$(options "$@")
    if [ -z "$names" ]; then
        echo "$* --help names no option"
        status=1
    fi
    for option in $names; do
        if ! grep -q "Fl -$option\( \|\$\)" "$page"; then
            echo "$page says nothing of --$option ($*)"
            status=1
        fi
    done
}

for subcommand in record hot list snapshot report replay eval; do
    named "$man/hcct.1" "$HCCT_BUILDDIR/client/hcct" $subcommand
done
named "$man/hcctd.8" "$HCCT_BUILDDIR/daemon/hcctd"

# and each setting that the agent reads
for setting in $(sed -n 's/.*{"\(HCCT_[A-Z]*\)".*/\1/p' "$HCCT_SRCDIR/preload/settings.c"); do
    if ! grep -q "$setting" "$man/libhcctagent.7"; then
        echo "libhcctagent.7 says nothing of $setting"
        status=1
    fi
done
exit $status
