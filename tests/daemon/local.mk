# Tests of the daemon's own rooms.
check_PROGRAMS += tests/daemon/tree_delta_test
TESTS += tests/daemon/tree_delta_test
tests_daemon_tree_delta_test_SOURCES = tests/daemon/tree_delta_test.c $(TREE_WORLD) $(TREE_STREAMS)
tests_daemon_tree_delta_test_LDADD = libhcct_tree.a libhcct_common.a

check_PROGRAMS += tests/daemon/assemble_test
TESTS += tests/daemon/assemble_test
tests_daemon_assemble_test_SOURCES = tests/daemon/assemble_test.c
tests_daemon_assemble_test_LDADD = libhcct_assemble.a libhcct_tree.a libhcct_code.a libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS) $(ELF_LIBS) \
	$(IBERTY_LIBS)

QUERY_SOURCES = \
	daemon/answers/control.c \
	daemon/answers/marked.c \
	daemon/answers/metrics.c \
	daemon/answers/numbered_copies.c \
	daemon/answers/past.c \
	daemon/answers/process_copies.c \
	daemon/answers/query.c \
	daemon/answers/query_list.c \
	daemon/answers/query_threads.c \
	daemon/render/render_counts.c \
	$(HISTORY_SOURCES)
QUERY_LIBS = libhcct_ingest.a libhcct_assemble.a $(INGEST_TEST_LIBS)

check_PROGRAMS += tests/daemon/moment_test
TESTS += tests/daemon/moment_test
tests_daemon_moment_test_SOURCES = tests/daemon/moment_test.c $(QUERY_SOURCES)
tests_daemon_moment_test_LDADD = $(QUERY_LIBS)
tests_daemon_moment_test_LDFLAGS = -pthread -Wl,--wrap=pthread_mutex_unlock

check_PROGRAMS += tests/daemon/no_list_test
TESTS += tests/daemon/no_list_test
tests_daemon_no_list_test_SOURCES = tests/daemon/no_list_test.c $(QUERY_SOURCES)
tests_daemon_no_list_test_LDADD = $(QUERY_LIBS)
tests_daemon_no_list_test_LDFLAGS = -pthread -Wl,--wrap=calloc

check_PROGRAMS += tests/daemon/long_paths_test
TESTS += tests/daemon/long_paths_test
tests_daemon_long_paths_test_SOURCES = tests/daemon/long_paths_test.c daemon/answers/query_numbers.c $(QUERY_SOURCES)
tests_daemon_long_paths_test_LDADD = $(QUERY_LIBS)
tests_daemon_long_paths_test_LDFLAGS = -pthread

check_PROGRAMS += tests/daemon/counters_test
TESTS += tests/daemon/counters_test
tests_daemon_counters_test_SOURCES = tests/daemon/counters_test.c \
	daemon/state/checkpoint_fields.c daemon/state/checkpoint_fields.h $(QUERY_SOURCES)
tests_daemon_counters_test_LDADD = $(QUERY_LIBS)
tests_daemon_counters_test_LDFLAGS = -pthread

check_PROGRAMS += tests/daemon/agent_frames_test
TESTS += tests/daemon/agent_frames_test
tests_daemon_agent_frames_test_SOURCES = tests/daemon/agent_frames_test.c
tests_daemon_agent_frames_test_LDADD = libhcct_assemble.a libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS)

check_PROGRAMS += tests/daemon/bounds_test
TESTS += tests/daemon/bounds_test
tests_daemon_bounds_test_SOURCES = tests/daemon/bounds_test.c tests/daemon/shown.c \
	tests/daemon/shown.h
tests_daemon_bounds_test_LDADD = libhcct_assemble.a libhcct_tree.a libhcct_code.a libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS) $(ELF_LIBS) \
	$(IBERTY_LIBS)

check_PROGRAMS += tests/daemon/checkpoint_test
TESTS += tests/daemon/checkpoint_test
tests_daemon_checkpoint_test_SOURCES = \
	daemon/state/checkpoint_fields.c daemon/state/checkpoint_fields.h \
	daemon/state/checkpoint_file.c daemon/state/checkpoint_file.h \
	daemon/state/checkpoint_format.h \
	daemon/state/checkpoint_load.c daemon/state/checkpoint_load.h \
	daemon/state/checkpoint_save.c daemon/state/checkpoint_save.h \
	tests/daemon/checkpoint_test.c
tests_daemon_checkpoint_test_LDADD = $(INGEST_TEST_LIBS)

check_PROGRAMS += tests/daemon/history_test
TESTS += tests/daemon/history_test
tests_daemon_history_test_SOURCES = \
	daemon/free.c \
	tests/daemon/history_test.c \
	tests/report/sample.c tests/report/sample.h \
	$(HISTORY_SOURCES)
tests_daemon_history_test_LDADD = libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS) $(ZSTD_LIBS)
tests_daemon_history_test_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=free -Wl,--wrap=openat

check_PROGRAMS += tests/daemon/past_sum_test
TESTS += tests/daemon/past_sum_test
tests_daemon_past_sum_test_SOURCES = \
	daemon/free.c \
	tests/daemon/past_sum_test.c \
	tests/report/forest.c tests/report/forest.h \
	tests/report/sample.c tests/report/sample.h \
	tests/report/sample_dump.c \
	$(HISTORY_SOURCES)
tests_daemon_past_sum_test_LDADD = libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS) $(ZSTD_LIBS)
tests_daemon_past_sum_test_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=free
