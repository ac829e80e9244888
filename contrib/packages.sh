# SPDX-License-Identifier: LGPL-3.0-or-later
# Functions of the other scripts: the packages in packages.txt, and what of them is missing.
# To be read by ".", with $root set to the root of the sources.
# shellcheck shell=sh disable=SC2154,SC2086,SC2046

# packages SECTION...: their names, one a line.
packages() {
    for section in "$@"; do
        sed -n "/^\[$section\]/,/^\[/{/^[^#[]/p}" "$root/contrib/packages.txt"
    done | sort -u
}

# missing SECTION...: those that are not installed.
missing() {
    for package in $(packages "$@"); do
        case $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) in
        *' installed') ;;
        *) echo "$package" ;;
        esac
    done
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        echo "This needs root, and there is no sudo here. As root: $*" >&2
        return 1
    fi
}

# install_missing SECTION...
install_missing() {
    if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
        echo "This is not Debian; what is needed is called there:" $(packages "$@") >&2
        return 0
    fi
    wanted=$(missing "$@")
    [ -n "$wanted" ] || return 0
    echo "Installing" $wanted
    as_root apt-get update -q </dev/null || return 1
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
        $wanted </dev/null
}
