#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# The manual pages are well-formed, and name each option that --help names; there is one for each
# command.
set -u
man=$HCCT_SRCDIR/man
status=0

if command -v mandoc >/dev/null; then
    mandoc -T lint -W warning "$man"/*.[13578] || status=1
fi

# options PROGRAM [SUBCOMMAND]: their long names, as --help has them
options() {
    "$@" --help | sed -n '/^examples:/q; s/^  .*--\([a-z-]*\).*/\1/p' |
        grep -v -x -e help -e version
}

# named PAGES PROGRAM [SUBCOMMAND]
named() {
    pages=$1
    shift
    known=$(cat $pages | grep -o -E 'Fl -[a-z-]+( |$)' | sed 's/^Fl -//; s/ $//')
    unknown=$(options "$@" | grep -v -x -F -e "$known")
    if [ -n "$unknown" ]; then
        echo "$pages say nothing of" $unknown "($*)"
        status=1
    fi
}

hcct=$HCCT_BUILDDIR/client/hcct
subcommands=$("$hcct" --help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ -n "$subcommands" ] || { echo "hcct --help names no command" && status=1; }
for subcommand in $subcommands; do
    page=$man/hcct-$subcommand.1
    if [ ! -e "$page" ]; then
        echo "$page is missing"
        status=1
    elif ! grep -q "Xr hcct-$subcommand 1" "$man/hcct.1"; then
        echo "hcct.1 says nothing of $subcommand"
        status=1
    else
        named "$page $man/hcct-view.7" "$hcct" "$subcommand"
    fi
done
named "$man/hcctd.8" "$HCCT_BUILDDIR/daemon/hcctd"

# and each setting that the agent reads
for setting in $(sed -n 's/.*{"\(HCCT_[A-Z]*\)".*/\1/p' "$HCCT_SRCDIR/preload/life/settings.c"); do
    if ! grep -q "$setting" "$man/libhcctagent.7"; then
        echo "libhcctagent.7 says nothing of $setting"
        status=1
    fi
done
exit $status
