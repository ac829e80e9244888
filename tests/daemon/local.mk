# Tests of the daemon's own rooms.
check_PROGRAMS += tests/daemon/tree_delta_test
TESTS += tests/daemon/tree_delta_test
tests_daemon_tree_delta_test_SOURCES = tests/daemon/tree_delta_test.c daemon/tree_delta.c \
	daemon/tree_delta.h daemon/tree_copy.c daemon/tree_copy.h $(TREE_WORLD) $(TREE_STREAMS)
tests_daemon_tree_delta_test_LDADD = libhcct_tree.a

check_PROGRAMS += tests/daemon/freeze_test
TESTS += tests/daemon/freeze_test
tests_daemon_freeze_test_SOURCES = tests/daemon/freeze_test.c daemon/freeze_tree.c \
	daemon/freeze_tree.h daemon/tree_copy.h
tests_daemon_freeze_test_LDADD = libhcct_code.a libhcct_report.a libhcct_common.a $(REPORT_LIBS) $(ELF_LIBS) \
	$(IBERTY_LIBS)

QUERY_SOURCES = daemon/query.c daemon/query_list.c daemon/query_threads.c daemon/metrics.c \
	daemon/control.c daemon/agent_frames.c daemon/freeze.c daemon/freeze_tree.c \
	daemon/tree_copy.c daemon/symbols.c

check_PROGRAMS += tests/daemon/moment_test
TESTS += tests/daemon/moment_test
tests_daemon_moment_test_SOURCES = tests/daemon/moment_test.c $(QUERY_SOURCES)
tests_daemon_moment_test_LDADD = $(INGEST_TEST_LIBS)
tests_daemon_moment_test_LDFLAGS = -pthread -Wl,--wrap=pthread_mutex_unlock

check_PROGRAMS += tests/daemon/no_list_test
TESTS += tests/daemon/no_list_test
tests_daemon_no_list_test_SOURCES = tests/daemon/no_list_test.c $(QUERY_SOURCES)
tests_daemon_no_list_test_LDADD = $(INGEST_TEST_LIBS)
tests_daemon_no_list_test_LDFLAGS = -pthread -Wl,--wrap=calloc

check_PROGRAMS += tests/daemon/agent_frames_test
TESTS += tests/daemon/agent_frames_test
tests_daemon_agent_frames_test_SOURCES = tests/daemon/agent_frames_test.c daemon/agent_frames.c \
	daemon/agent_frames.h
tests_daemon_agent_frames_test_LDADD = libhcct_report.a libhcct_common.a $(REPORT_LIBS)

check_PROGRAMS += tests/daemon/bounds_test
TESTS += tests/daemon/bounds_test
tests_daemon_bounds_test_SOURCES = tests/daemon/bounds_test.c tests/daemon/shown.c \
	tests/daemon/shown.h daemon/freeze_tree.c daemon/freeze_tree.h daemon/tree_copy.h
tests_daemon_bounds_test_LDADD = libhcct_code.a libhcct_report.a libhcct_common.a $(REPORT_LIBS) $(ELF_LIBS) \
	$(IBERTY_LIBS)

check_PROGRAMS += tests/daemon/checkpoint_test
TESTS += tests/daemon/checkpoint_test
tests_daemon_checkpoint_test_SOURCES = tests/daemon/checkpoint_test.c daemon/checkpoint_fields.c \
	daemon/checkpoint_fields.h daemon/checkpoint_file.c daemon/checkpoint_file.h \
	daemon/checkpoint_format.h daemon/checkpoint_load.c daemon/checkpoint_load.h \
	daemon/checkpoint_save.c daemon/checkpoint_save.h daemon/tree_copy.c daemon/tree_copy.h
tests_daemon_checkpoint_test_LDADD = $(INGEST_TEST_LIBS)
