# Tests of what speaks to other machines: over loopback, with servers of their own.
REMOTE_TESTS = tests/remote/fleet_answers_test.py tests/remote/fleet_bounds_test.py tests/remote/fleet_chance_test.py \
	tests/remote/fleet_current_test.py tests/remote/fleet_faults_test.py tests/remote/fleet_settings_test.py tests/remote/fleet_test.py tests/remote/fleet_top_test.py \
	tests/remote/grafana_test.py tests/remote/push_faults_test.py tests/remote/push_test.py
TESTS += $(REMOTE_TESTS)
dist_check_SCRIPTS += $(REMOTE_TESTS)
EXTRA_DIST += tests/remote/chdb_server.js tests/remote/clickhouse.py tests/remote/package-lock.json tests/remote/package.json tests/remote/stub.py tests/remote/stub_hcctd.py

check_PROGRAMS += tests/remote/host_trees
tests_remote_host_trees_SOURCES = tests/remote/host_trees.c tests/daemon/shown.c tests/daemon/shown.h $(TREE_WORLD)
tests_remote_host_trees_LDADD = libhcct_assemble.a libhcct_tree.a libhcct_code.a libhcct_render.a libhcct_profile.a libhcct_common.a \
	$(REPORT_LIBS) $(ELF_LIBS) $(IBERTY_LIBS)
