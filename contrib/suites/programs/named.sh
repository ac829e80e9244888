# SPDX-License-Identifier: LGPL-3.0-or-later
cat >conf <<END
options { directory "$PWD"; listen-on port $PORT { 127.0.0.1; }; listen-on-v6 { none; }; recursion no; pid-file "$PWD/pid"; session-keyfile "$PWD/key"; };
controls { };
zone "x.test" { type primary; file "$PWD/zone"; };
END
{
    echo '$TTL 60'
    echo '@ IN SOA ns.x.test. me.x.test. 1 60 60 60 60'
    echo '@ IN NS ns.x.test.'
    echo 'ns IN A 127.0.0.1'
    for i in $(seq 2000); do echo "h$i IN A 10.0.$((i / 250)).$((i % 250))"; done
} >zone
named -f -n 3 -c "$PWD/conf" 2>log >log &
server=$!
until dig +short +time=1 +tries=1 -p $PORT @127.0.0.1 ns.x.test A | grep -q 127; do sleep 0.2; done
seq 2000 | sed 's/.*/h&.x.test A/' >names
dig +short +tries=5 -p $PORT @127.0.0.1 -f names | tail -n 1900 | md5sum  # dig leaves the first ones out, by chance
dig +tcp +short -p $PORT @127.0.0.1 x.test AXFR | wc -l
kill -TERM $server
status=0
wait $server || status=$?
echo $status
