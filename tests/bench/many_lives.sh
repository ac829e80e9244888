#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# What the agent costs programs of many short children and threads: see many_lives.py.
here=$(dirname -- "$0")
command -v python3 >/dev/null || {
    echo 'left out: python3 is not installed'
    exit 0
}
exec python3 -B "$here/many_lives.py" "$@"
