#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# bare.sh [COMMAND...]: runs a command of the sources, ./contrib/test.sh by default, on a Debian 12
# that has nothing but what debootstrap makes: so that what passes here passes for a stranger. What
# is committed is cloned there; the exit status is the command's, 125 when there can be no such root.
#
#   HCCT_BARE_ROOT    where the root is; it is made when it is not there, and stays. Else it is made in
#                     /var/tmp, and removed afterwards
#
# Needs root, a package mirror and a gigabyte or four. Where packages come from, and through which
# proxy and with which certificates, is as on this machine.
set -eu
sources=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
[ $# -gt 0 ] || set -- ./contrib/test.sh
release=bookworm
. "$sources/contrib/mirror.sh"

no_root() {
    echo "bare.sh: $1" >&2
    exit 125
}

make_root() {
    [ ! -x "$root/usr/bin/apt-get" ] || return 0
    # what debootstrap makes, in half of the time
    mmdebstrap --quiet --variant=minbase --dpkgopt=force-unsafe-io --include=usr-is-merged \
        --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr $release "$root" "$(mirror $release)" >"$root.log" 2>&1 || {
        tail -n 5 "$root.log" >&2
        return 1
    }
    rm -f "$root.log"
}

# Nobody needs it after a power failure: packages need not wait for the disk.
be_quick() {
    echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io"
}

# What tells programs how to reach the mirrors from here.
bring_network() {
    {
        echo "deb $(mirror $release) $release main"
        echo "deb $(mirror $release-security) $release-security main"
    } >"$root/etc/apt/sources.list"
    cp -L /etc/apt/apt.conf.d/*proxy* "$root/etc/apt/apt.conf.d/" 2>/dev/null || true
    for file in /etc/resolv.conf /etc/hosts; do
        [ ! -e "$file" ] || cp -L "$file" "$root$file"
    done
    certificates=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}
    [ ! -e "$certificates" ] || install -m 644 -D "$certificates" "$root/etc/ssl/machine.crt"
}

[ "$(id -u)" -eq 0 ] || no_root "only root can make a root directory for another system"
if ! command -v mmdebstrap >/dev/null; then
    apt-get update -q >/dev/null && apt-get install -q -y --no-install-recommends mmdebstrap \
        >/dev/null || no_root "mmdebstrap can't be installed"
fi
unshare --mount true 2>/dev/null || no_root "mounts of its own are not allowed here"

root=${HCCT_BARE_ROOT:-$(mktemp -d /var/tmp/hcct-bare.XXXXXX)}
mkdir -p "$root"
chmod 755 "$root" # it will be "/", for all users there
[ -n "${HCCT_BARE_ROOT:-}" ] || trap 'rm -rf --one-file-system "$root"' EXIT
trap 'exit 130' INT TERM
make_root || no_root "mmdebstrap failed"
be_quick
bring_network
rm -rf "$root/root/hcct"
git clone -q --no-local "$sources" "$root/root/hcct"

settings=
[ ! -e "$root/etc/ssl/machine.crt" ] || settings="SSL_CERT_FILE=/etc/ssl/machine.crt"
for name in CI http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
    value=$(printenv "$name" || true)
    [ -z "$value" ] || settings="$settings $name=$value"
done

# shellcheck disable=SC2016,SC2086
unshare --mount --propagation private sh -c '
    root=$1 settings=$2
    shift 2
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
        TERM=dumb LC_ALL=C.UTF-8 $settings \
        chroot "$root" sh -c "cd /root/hcct && exec \"\$@\"" sh "$@"
' sh "$root" "$settings" "$@" </dev/null
