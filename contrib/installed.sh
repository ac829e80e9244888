#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# installed.sh DIRECTORY: installs hcct's packages from there, on a Debian that has nothing else of it,
# and tries what people do first; then removes them, and looks for what is left. As root, where that
# does no harm: check_deb.sh.
set -eu
packages=$1
export DEBIAN_FRONTEND=noninteractive
status=0

check() { # WHAT COMMAND...
    what=$1
    shift
    if "$@" >/tmp/said 2>&1; then
        echo "ok      $what"
    else
        echo "NOT SO  $what: $*"
        sed 's/^/        /' /tmp/said
        status=1
    fi
}

# What is on the disk, but for what apt itself writes.
files() {
    find / -xdev \( -path /root -o -path /tmp -o -path /proc -o -path /var/cache/apt -o -path /var/lib/apt \
        -o -path /var/log -o -path /var/lib/dpkg -o -path /var/cache/ldconfig -o -path /var/cache/man \
        -o -path /var/cache/debconf \) -prune -o -print | sort
}

shows() { # TEXT COMMAND...
    text=$1
    shift
    "$@" >/tmp/shown 2>&1
    grep -q -- "$text" /tmp/shown || {
        head -n 30 /tmp/shown
        return 1
    }
}

apt-get update -q >/dev/null
# What the packages need stays when they go: it is there from the beginning.
needed=$(dpkg-deb -f "$packages"/hcct_*.deb Depends; dpkg-deb -f "$packages"/hcctd_*.deb Depends;
    dpkg-deb -f "$packages"/libhcctagent_*.deb Depends)
# shellcheck disable=SC2046
apt-get install -q -y --no-install-recommends procps \
    $(echo "$needed" | tr ',\n' '  ' | sed 's/([^)]*)//g; s/\<\(hcctd\|libhcctagent\)\>//g') >/tmp/apt.log 2>&1
files >/tmp/before
check "the agent's package needs libc alone" test "$(dpkg-deb -f "$packages"/libhcctagent_*.deb Depends |
    sed 's/ (.*//')" = libc6

check "they install" apt-get install -q -y --no-install-recommends "$packages"/*.deb
cd /tmp
cat >work.sh <<'END'
i=0
while [ $i -lt 300000 ]; do i=$((i + 1)); done
END
check "hcct record" shows "^stacks .*% complete" hcct record -o /tmp/work.pb.gz -- bash work.sh
check "hcct report" shows "execute_command" hcct report /tmp/work.pb.gz
check "hcct doctor" hcct doctor bash
bash -c 'while :; do :; done' &
busy=$!
check "hcct record -p" shows "samples" hcct record -p $busy --duration 1s -o /tmp/attached.pb.gz
check "hcct doctor -p" hcct doctor -p $busy
kill $busy

HCCT_SOCKET=/tmp/hcctd.sock
export HCCT_SOCKET
hcctd &
daemon=$!
while [ ! -S $HCCT_SOCKET ]; do sleep 0.1; done
LD_PRELOAD=$(ls /usr/lib/*/hcct/libhcctagent.so) bash -c 'while :; do :; done' &
busy=$!
tries=0
until shows "execute_command" hcct hot -p $busy || [ $tries -ge 100 ]; do
    tries=$((tries + 1))
    sleep 0.1
done
check "always on" shows "execute_command" hcct hot -p $busy
kill $busy $daemon
wait 2>/dev/null || true

# dpkg leaves manual pages out where the system says so (containers' images do)
for page in man1/hcct.1 man1/hcct-record.1 man3/hcct.h.3 man5/hcct-formats.5 man7/hcct-view.7 man7/libhcctagent.7 man8/hcctd.8; do
    check "manual page $page" shows "/usr/share/man/$page.gz" dpkg -L hcct hcctd hcct-dev libhcctagent
done
check "a program includes hcct.h" test -f /usr/include/hcct.h -a -f /usr/share/pkgconfig/hcct.pc
for unit in /lib/systemd/system /usr/lib/systemd/user; do
    check "unit $unit/hcctd.service" shows "^ExecStart=/usr/bin/hcctd " cat $unit/hcctd.service
    check "unit $unit/hcctd.socket" test -f $unit/hcctd.socket
done
check "nothing is enabled" test -z "$(find /etc/systemd -name 'hcctd*' 2>/dev/null)"

mkdir -p /var/lib/hcct /var/cache/hcct
touch /var/lib/hcct/profile /var/cache/hcct/table
check "they are removed" apt-get purge -q -y hcct hcctd hcct-dev libhcctagent
files >/tmp/after
check "nothing is left" diff /tmp/before /tmp/after
check "nor known" test -z "$(dpkg-query -W -f '${Package} ' 'hcct*' 'libhcct*' 2>/dev/null)"
exit $status
