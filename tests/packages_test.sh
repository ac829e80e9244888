#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# The Debian packages are of this version, and need what contrib/packages.txt says. ("make check-deb"
# builds and installs them.)
set -u
cd "$HCCT_SRCDIR" || exit 1
status=0
check() { # WHAT GOT WANTED
    if [ "$2" = "$3" ]; then
        echo "ok      $1"
    else
        printf 'NOT SO  %s\n--- found\n%s\n--- wanted\n%s\n' "$1" "$2" "$3"
        status=1
    fi
}

version=$(sed -n 's/^AC_INIT(\[hcct\], \[\(.*\)\])/\1/p' configure.ac)
check "the version" "$(sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)" "$version"

# What each build of a Debian package has need not be said there, nor what debhelper brings.
usual='^\(autoconf\|automake\|gcc\|libc6-dev\|make\)$'
built=$(sed -n '/^Build-Depends:/,/^$/s/^ \([a-z0-9.+-]*\).*/\1/p' debian/control | grep -v '^\(debhelper\|dpkg-dev\)' | sort)
listed=$(sed -n '/^\[build\]/,/^\[/{/^[^#[]/p}' contrib/packages.txt | grep -v "$usual" | sort)
check "what they are built with" "$built" "$listed"
exit $status
