# SPDX-License-Identifier: LGPL-3.0-or-later
if [ "$(id -u)" = 0 ]; then
    chown nobody .
    exec setpriv --reuid 65534 --regid 65534 --clear-groups sh -eu "$0"
fi
export PATH=$(ls -d /usr/lib/postgresql/*/bin | tail -1):$PATH PGHOST=$PWD PGUSER=nobody PGDATABASE=postgres
initdb -D d -U nobody -A trust -N >/dev/null
pg_ctl -s -w -D d -o "-k $PWD -h '' -c max_parallel_workers=4 -c logging_collector=off" -l log start
psql -X -At -f pg.sql 2>&1
pgbench -i -q -s 1 >/dev/null 2>&1
pgbench -c 4 -j 2 -t 200 -n 2>&1 | grep -E "processed|failed"
pg_ctl -s -w -D d -m fast restart -l log
psql -X -At -c "select count(*) from pgbench_history" -c checkpoint
pg_ctl -s -w -D d -m fast stop
echo $?
grep -cE "PANIC|terminated by signal|server process" log || true
