# Tests of the daemon's own rooms.
check_PROGRAMS += tests/daemon/tree_delta_test
TESTS += tests/daemon/tree_delta_test
tests_daemon_tree_delta_test_SOURCES = tests/daemon/tree_delta_test.c daemon/tree_delta.c \
	daemon/tree_delta.h daemon/tree_copy.c daemon/tree_copy.h $(TREE_WORLD) $(TREE_STREAMS)
tests_daemon_tree_delta_test_LDADD = libhcct_tree.a
