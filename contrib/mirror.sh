# SPDX-License-Identifier: LGPL-3.0-or-later
# mirror.sh - sourced by scripts that fetch packages for another system than this one.
# shellcheck shell=sh

# mirror SUITE: where this machine has that suite from, else Debian's own address.
mirror() {
    found=$(apt-get indextargets --format '$(REPO_URI)' "Codename: $1" 2>/dev/null | head -n 1)
    case $1:$found in
    *-security:) echo http://deb.debian.org/debian-security ;;
    *:) echo http://deb.debian.org/debian ;;
    *) echo "${found%/}" ;;
    esac
}
