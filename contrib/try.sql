-- Some seconds of work for one processor: inserts, an index, a join, sorting, text functions.
CREATE TABLE item (id INTEGER PRIMARY KEY, kind INTEGER, name TEXT, price REAL);
INSERT INTO item
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900000)
    SELECT i, i * 7919 % 1000, hex(i * 104729), i % 9973 / 7.0 FROM n;
CREATE INDEX item_kind ON item (kind, price);
SELECT 'most expensive kind', kind, round(avg(price), 2)
    FROM item GROUP BY kind ORDER BY avg(price) DESC LIMIT 1;
SELECT 'pairs', count(*)
    FROM item a JOIN item b ON a.kind = b.kind AND b.price < a.price WHERE a.id <= 60000;
SELECT 'last by name', name FROM (SELECT upper(name) || id AS name FROM item)
    ORDER BY name DESC LIMIT 1;
SELECT 'names with 37', count(*) FROM item WHERE name LIKE '%37%';
