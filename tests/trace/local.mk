# Tests of common/trace: what goes in comes out, and what is damaged is reported.
TRACE_TESTS = \
	tests/trace/damaged_test \
	tests/trace/trace_test

TRACE_TEST_LIBS = libhcct_trace.a libhcct_tree.a libhcct_code.a libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS) \
	$(ELF_LIBS) $(UNWIND_LIBS) $(IBERTY_LIBS) $(ZSTD_LIBS)

check_PROGRAMS += $(TRACE_TESTS) tests/trace/write_trace
TESTS += $(TRACE_TESTS) tests/trace/live_test.py
EXTRA_DIST += tests/trace/live_test.py

tests_trace_damaged_test_SOURCES = tests/trace/damaged_test.c
tests_trace_damaged_test_LDADD = $(TRACE_TEST_LIBS)

tests_trace_trace_test_SOURCES = tests/trace/trace_test.c $(TREE_WORLD)
tests_trace_trace_test_LDADD = $(TRACE_TEST_LIBS)

tests_trace_write_trace_SOURCES = tests/trace/write_trace.c
tests_trace_write_trace_CFLAGS = $(AM_CFLAGS) -g
tests_trace_write_trace_LDADD = $(TRACE_TEST_LIBS)

check_PROGRAMS += tests/trace/live_target
tests_trace_live_target_SOURCES = tests/trace/live_target.c
tests_trace_live_target_CFLAGS = $(TARGET_CFLAGS) -finstrument-functions -pthread
tests_trace_live_target_LDFLAGS = -pthread
