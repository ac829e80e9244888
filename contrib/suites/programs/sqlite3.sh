# SPDX-License-Identifier: LGPL-3.0-or-later
sqlite3 d <<'S'
pragma threads = 2;
create table t(i integer primary key, k, m);
with recursive c(i) as (select 1 union all select i + 1 from c where i < 150000) insert into t select i, i * 31 % 1003, hex(i) from c;
create index x on t(k, m);
select count(*), sum(k), max(m) from t;
select k, count(*) from t group by k having k < 4;
pragma integrity_check;
select nothing from t;
S
echo $?
