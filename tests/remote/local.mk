# Tests of what speaks to other machines: over loopback, with servers of their own.
TESTS += tests/remote/fleet_answers_test.py tests/remote/fleet_test.py tests/remote/grafana_test.py tests/remote/push_test.py
dist_check_SCRIPTS += tests/remote/fleet_answers_test.py tests/remote/fleet_test.py tests/remote/grafana_test.py tests/remote/push_test.py
EXTRA_DIST += tests/remote/chdb_server.js tests/remote/clickhouse.py tests/remote/stub.py
