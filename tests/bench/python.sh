#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# What functions of Python cost a sample: see python_frames.py.
here=$(dirname -- "$0")
command -v python3 >/dev/null || {
    echo 'left out: python3 is not installed'
    exit 0
}
exec python3 -B "$here/python_frames.py"
