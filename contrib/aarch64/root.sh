#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# root.sh DIRECTORY: Debian's arm64 packages, unpacked in DIRECTORY/root: what is compiled against, and
# what the tests find when they run. No package's script runs, so that nothing here needs root, or a
# processor of that kind; what scripts would have made of what is needed is made here.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
. "$root/contrib/packages.sh"
. "$root/contrib/mirror.sh"
directory=$1
tree=$directory/root apt=$directory/apt
release=bookworm

# apt's own state, apart from this machine's: for the other architecture, as if nothing was installed.
# How it reaches the network is as on this machine.
configure_apt() {
    mkdir -p "$apt/etc/apt.conf.d" "$apt/etc/preferences.d" "$apt/etc/trusted.gpg.d" \
        "$apt/etc/sources.list.d" "$apt/lists/partial" "$apt/cache/archives/partial"
    : >"$apt/status"
    cp -L /etc/apt/apt.conf.d/*proxy* "$apt/etc/apt.conf.d/" 2>/dev/null || true
    keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    for suite in $release $release-security; do
        echo "deb [signed-by=$keyring] $(mirror $suite) $suite main"
    done >"$apt/etc/sources.list"
    cat >"$apt/apt.conf" <<END
Dir::Etc "$apt/etc";
Dir::State "$apt";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Install-Recommends "false";
APT::Sandbox::User "";
END
}

link() {
    [ -e "$tree/$2" ] || [ -L "$tree/$2" ] || ln -s "$1" "$tree/$2"
}

unpack() {
    rm -rf "$tree.new"
    mkdir -p "$tree.new"
    for package in "$apt"/cache/archives/*.deb; do
        dpkg-deb --extract "$package" "$tree.new"
    done
    rm -rf "$tree"
    mv "$tree.new" "$tree"
}

# What the packages' scripts would have made.
finish() {
    mkdir -p "$tree/mnt"
    for name in passwd group; do
        cp "$tree/usr/share/base-passwd/$name.master" "$tree/etc/$name"
    done
    link dash bin/sh
    link mawk usr/bin/awk
    printf '127.0.0.1 localhost\n' >"$tree/etc/hosts"
    printf 'aarch64\n' >"$tree/etc/hostname"
    printf 'passwd: files\ngroup: files\nhosts: files\n' >"$tree/etc/nsswitch.conf"
}

configure_apt
export APT_CONFIG="$apt/apt.conf"
wanted=$(packages aarch64-machine | tr '\n' ' ')
if [ -x "$tree/bin/bash" ] && [ "$wanted" = "$(cat "$directory/root.packages" 2>/dev/null)" ]; then
    exit 0
fi
apt-get update -q
rm -f "$apt"/cache/archives/*.deb
# shellcheck disable=SC2086
apt-get install -q -y --download-only base-passwd $wanted </dev/null
unpack
finish
echo "$wanted" >"$directory/root.packages"
