# SPDX-License-Identifier: LGPL-3.0-or-later
bwrap --ro-bind / / --dev /dev --proc /proc --tmpfs /run --unshare-pid --unshare-net --die-with-parent \
    sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; echo $$; ls /proc | grep -c "^[0-9]"
        /usr/bin/python3 -c "print(sum(i * i % 7 for i in range(300000)))"; exit 3'
