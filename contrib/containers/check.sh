#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# check.sh PACKAGES BUILD: the recipes of this directory, in containers of a bare Debian 12 that has the
# packages installed, run by bubblewrap as an ordinary user: other mount, PID, network and user
# namespaces, no capabilities, a root that can't be written to. "make check-containers" calls it. It
# needs what bare.sh needs, and bubblewrap.
set -eu
contrib=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
packages=$(realpath "$1") build=$(realpath "$2")
status=0

command -v bwrap >/dev/null || {
    echo "check.sh: bubblewrap is not installed" >&2
    exit 125
}
HCCT_BARE_ROOT=$(mktemp -d /var/tmp/hcct-bare.XXXXXX)
work=$(mktemp -d)
export HCCT_BARE_ROOT
trap 'kill $started 2>/dev/null || true; rm -rf --one-file-system "$HCCT_BARE_ROOT" "$work"' EXIT
trap 'exit 130' INT TERM
started=

check() { # WHAT FILE TEXT
    if grep -q -- "$3" "$2"; then
        echo "ok      $1"
    else
        echo "NOT SO  $1: there is no '$3' in"
        sed 's/^/        /' "$2"
        status=1
    fi
}

# contain OPTIONS... COMMAND...: as an image's entrypoint is run.
contain() {
    setpriv --reuid 1000 --regid 1000 --clear-groups bwrap --die-with-parent --unshare-user --unshare-net \
        --unshare-ipc --unshare-uts --uid 1000 --gid 1000 --cap-drop ALL --ro-bind "$HCCT_BARE_ROOT" / \
        --dev /dev --tmpfs /run --bind "$work" /run/hcct --chdir / --clearenv \
        --setenv PATH /usr/bin:/bin "$@"
}

until_there() { # FILE
    tries=0
    until [ -e "$1" ] || [ $tries -ge 300 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
}

"$contrib/bare.sh" true
mkdir "$HCCT_BARE_ROOT/root/packages"
cp "$packages"/*.deb "$HCCT_BARE_ROOT/root/packages/"
"$contrib/bare.sh" sh -c 'apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y \
    --no-install-recommends /root/packages/*.deb && cp /usr/lib/*/hcct/libhcctagent.so /usr/lib/' \
    >"$work/apt.log" 2>&1
chmod 777 "$work"
work_loop='my $x; my $e = time + $ARGV[0]; while (time < $e) { $x = reverse $x . "a" for 1 .. 1000; $x = "" }'

contain --unshare-pid --proc /proc hcct record -o /run/hcct/app.pb.gz -- perl -e "$work_loop" 2 \
    2>"$work/record.log" || true
check "Dockerfile: hcct record is the entrypoint" "$work/record.log" "Perl_pp_reverse"

contain --unshare-pid --proc /proc cp /usr/lib/libhcctagent.so /run/hcct/
contain --ro-bind /proc /proc hcctd --socket /run/hcct/hcctd.sock --report-dir none 2>"$work/hcctd.log" &
started="$started $!"
until_there "$work/hcctd.sock"
contain --unshare-pid --proc /proc --setenv HCCT_SOCKET /run/hcct/hcctd.sock --setenv LD_PRELOAD \
    /run/hcct/libhcctagent.so perl -e "$work_loop" 5 || true
contain --unshare-pid --proc /proc hcct hot --socket /run/hcct/hcctd.sock >"$work/hot.log" 2>&1 || true
check "compose.yaml, kubernetes.yaml: hcctd and the program in two containers" "$work/hot.log" "Perl_pp_reverse"

contain --unshare-pid --proc /proc sh -c "echo x >/run/hcct/begun; exec perl -e '$work_loop' 20" &
started="$started $!"
until_there "$work/begun"
sleep 1
pid=$(pgrep -n -u 1000 -x perl)
"$build/client/hcct" record -p "$pid" --duration 2s -o "$work/outside.pb.gz" 2>"$work/outside.log" || true
check "attached to from the host" "$work/outside.log" "Perl_pp_reverse"
exit $status
