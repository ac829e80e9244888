#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# What hcct push costs on a host with a hundred processes: see push_cost.py.
here=$(dirname -- "$0")
command -v python3 >/dev/null || {
    echo 'left out: python3 is not installed'
    exit 0
}
exec python3 -B "$here/push_cost.py" "$@"
