# SPDX-License-Identifier: LGPL-3.0-or-later
user=$([ "$(id -u)" = 0 ] && echo "-u nobody" || true)
chmod 777 .
for options in "-m 16" "-m 16 -k"; do
    memcached $user $options -s "$PWD/s" -a 777 2>err &
    server=$!
    /usr/bin/python3 mc.py "$PWD/s"
    kill $server
    status=0
    wait $server || status=$?
    echo $options: $status
    cat err >&2
    rm -f s
done
