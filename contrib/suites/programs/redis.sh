# SPDX-License-Identifier: LGPL-3.0-or-later
redis-server --port 0 --unixsocket "$PWD/s" --save "" --daemonize no >log 2>&1 &
server=$!
cli() { redis-cli -s s "$@"; }
until cli ping >/dev/null 2>&1; do sleep 0.1; done
cli set a 5
cli eval "local s=0; for i=1,2000000 do s=(s*31+i)%1000003 end return s" 0
redis-benchmark -s s -n 20000 -r 1000 -q -t set,get,lpush,sadd,zadd >/dev/null
cli save
cli bgrewriteaof >/dev/null
while cli info persistence | grep -q "aof_rewrite_in_progress:1"; do sleep 0.1; done
cli debug sleep 0.2 2>&1
cli dbsize
cli strlen mylist 2>&1
cli shutdown save
status=0
wait $server || status=$?
echo $status
redis-check-rdb dump.rdb | grep -E "keys read|looks OK" | sed 's/^\[[^]]*\] *//'
grep -cE "CRASH|signal" log || true
