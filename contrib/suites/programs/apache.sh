# SPDX-License-Identifier: LGPL-3.0-or-later
# workers with threads, and their end by signals
head -c 300000 /usr/bin/perl >large
chmod 755 .
mkdir logs
cat >conf <<END
ServerRoot "$PWD"
ServerName x
PidFile pid
Listen 127.0.0.1:$PORT
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule deflate_module /usr/lib/apache2/modules/mod_deflate.so
LoadModule filter_module /usr/lib/apache2/modules/mod_filter.so
LoadModule cgid_module /usr/lib/apache2/modules/mod_cgid.so
DocumentRoot "$PWD"
ErrorLog logs/error
StartServers 2
ThreadsPerChild 8
ThreadLimit 8
ScriptSock "$PWD/cgisock"
<Location />
SetOutputFilter DEFLATE
Require all granted
</Location>
<Files cgi.sh>
SetHandler cgi-script
Options +ExecCGI
</Files>
END
printf '#!/bin/sh\necho Content-Type: text/plain\necho\necho "$QUERY_STRING"\n' >cgi.sh
chmod 755 cgi.sh
apache2 -f "$PWD/conf" -DFOREGROUND &
master=$!
get() { curl -s --retry 20 --retry-all-errors "$@"; }
until get http://127.0.0.1:$PORT/large >/dev/null; do sleep 0.1; done
for i in 1 2 3 4 5; do get "http://127.0.0.1:$PORT/cgi.sh?$i"; get --compressed http://127.0.0.1:$PORT/large | md5sum; done
get -o /dev/null -w '%{http_code}\n' http://127.0.0.1:$PORT/none
kill -USR1 $master
sleep 0.5
ab -q -n 2000 -c 10 -H "Accept-Encoding: gzip" http://127.0.0.1:$PORT/large | grep -E "Complete|Failed|Non-2xx|HTML transferred"
kill -TERM $master
status=0
wait $master || status=$?
echo $status
grep -oE "AH0[0-9]+: (child|.*segfault|.*exit).*" logs/error | sed 's/[0-9]\{3,\}/N/g' | sort | uniq -c >&2 || true
