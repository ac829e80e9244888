# SPDX-License-Identifier: LGPL-3.0-or-later
sed "s/PORT/$PORT/" nginx.conf >conf
head -c 300000 /usr/bin/perl >large
chmod 755 .
nginx -p "$PWD" -c conf 2>err &
master=$!
get() { curl -s --retry 20 --retry-all-errors --unix-socket s "$@"; }
until get http://x/page.html >/dev/null; do sleep 0.1; done
for i in 1 2 3 4 5; do get http://x/page.html | md5sum; get --compressed http://x/large | md5sum; done
get -o /dev/null -w '%{http_code}\n' http://x/none
if command -v wrk >/dev/null; then
    wrk -t1 -c8 -d2 http://127.0.0.1:$PORT/page.html | grep -cE "Non-2xx|Socket errors" || true
fi
kill -HUP $master
sleep 0.5
get --compressed http://x/large | md5sum
if command -v ab >/dev/null; then
    ab -q -n 3000 -c 10 http://127.0.0.1:$PORT/large | grep -E "Complete|Failed|Non-2xx|HTML transferred"
fi
kill -QUIT $master
status=0
wait $master || status=$?
echo $status
grep -vE "open\(\)|notice" err >&2 || true
