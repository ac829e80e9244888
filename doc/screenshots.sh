#!/bin/sh
# screenshots.sh BUILD [top]: makes the pictures of this directory anew: the page of what try.sh
# records, a comparison of two runs of sqlite3, and hcct top on a redis server under load (top: only
# that).
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
build=$(CDPATH='' cd -- "${1:?"usage: screenshots.sh BUILD"}" && pwd)
work=$(mktemp -d)
started=''
trap 'exit 1' INT TERM
trap 'tmux -L hcct-picture kill-server 2>/dev/null || :; kill $started 2>/dev/null; rm -rf "$work"' EXIT

if [ "${2:-page}" = page ]; then
    HCCT_BUILD=$build "$root/contrib/try.sh" >/dev/null
    HCCT_BUILDDIR=$build HCCT_SRCDIR=$root \
        python3 -B "$root/tests/page/screenshot.py" "$root/doc" "$build/try.pb.gz"
fi

for program in redis-server redis-benchmark tmux chromium; do
    command -v $program >/dev/null || {
        echo "screenshots.sh: $program is not installed" >&2
        exit 1
    }
done
export HCCT_SOCKET="$work/hcctd.sock"
"$build/daemon/hcctd" --report-dir none 2>"$work/log" &
started=$!
while [ ! -S "$HCCT_SOCKET" ]; do sleep 0.1; done
LD_PRELOAD=$build/preload/libhcctagent.so HCCT_RATE=1000 redis-server --port 0 \
    --unixsocket "$work/redis.sock" --save '' >/dev/null &
server=$! started="$started $!"
while [ ! -S "$work/redis.sock" ]; do sleep 0.1; done
redis-benchmark -s "$work/redis.sock" -l -q -t lrange,zadd,set,get,hset >/dev/null &
started="$started $!"
sleep 20
tmux -L hcct-picture -f /dev/null new-session -d -x 118 -y 30 \
    "LC_ALL=C.UTF-8 TERM=screen-256color '$build/client/hcct' top -p $server --window 10s; sleep 9"
sleep 12
tmux -L hcct-picture capture-pane -p -e | python3 "$root/contrib/terminal_picture.py" \
    --title "hcct top --window 10s" --columns 118 >"$work/top.svg"
size=$(sed -n '1s/.*width="\([0-9.]*\)" height="\([0-9.]*\)".*/\1,\2/p' "$work/top.svg")
chromium --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --user-data-dir="$work/browser" --hide-scrollbars \
    --window-size="${size:-1020,660}" --screenshot="$work/top.png" "file://$work/top.svg" 2>/dev/null
mv "$work/top.png" "$root/doc/top.png"
echo "doc/top.png"
