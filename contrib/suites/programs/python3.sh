# SPDX-License-Identifier: LGPL-3.0-or-later
/usr/bin/python3 -B p.py
