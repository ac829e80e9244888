# SPDX-License-Identifier: LGPL-3.0-or-later
if [ "$(id -u)" = 0 ]; then
    chown nobody .
    exec setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$PWD" sh -eu "$0"
fi
export HOME=$PWD
timeout 100 chromium --headless --disable-gpu --no-first-run --user-data-dir="$PWD/d" \
    --virtual-time-budget=2000 --dump-dom "file://$PWD/page.html" 2>/dev/null
timeout 100 chromium --headless --disable-gpu --no-first-run --user-data-dir="$PWD/d" --screenshot="$PWD/s.png" \
    --window-size=300,200 "file://$PWD/page.html" 2>/dev/null
md5sum s.png
