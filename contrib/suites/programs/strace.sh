# SPDX-License-Identifier: LGPL-3.0-or-later
status=0
strace -f -qq -e trace=execve,exit_group -e signal=none -o trace sh -c \
    'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; /bin/echo x; exit 3' || status=$?
echo $status
sed 's/^[0-9]* *//; s/0x[0-9a-f]*.*vars/vars/' trace
