# SPDX-License-Identifier: LGPL-3.0-or-later
head -c 300000 /usr/bin/perl >large
cat >conf <<END
server.document-root = "$PWD"
server.port = $PORT
server.bind = "127.0.0.1"
server.pid-file = "$PWD/pid"
server.errorlog = "$PWD/error"
END
lighttpd -D -f conf &
master=$!
get() { curl -s --retry 20 --retry-all-errors "$@"; }
until get http://127.0.0.1:$PORT/large >/dev/null; do sleep 0.1; done
for i in 1 2 3 4 5; do get http://127.0.0.1:$PORT/large | md5sum; done
ab -q -n 3000 -c 10 http://127.0.0.1:$PORT/large | grep -E "Complete|Failed|Non-2xx|HTML transferred"
kill -INT $master
status=0
wait $master || status=$?
echo $status
