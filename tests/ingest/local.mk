# Tests of daemon/ingest: what is read out of rings, and raw stack samples.
INGEST_TESTS = \
	tests/ingest/arena_test \
	tests/ingest/deferred_unwind_test \
	tests/ingest/families_test \
	tests/ingest/folding_test \
	tests/ingest/heap_process_test \
	tests/ingest/heap_test \
	tests/ingest/ingest_test \
	tests/ingest/module_sweep_test \
	tests/ingest/numbered_test \
	tests/ingest/reader_calls_test tests/ingest/reader_test \
	tests/ingest/session_room_test \
	tests/ingest/thread_name_test

INGEST_TEST_LIBS = libhcct_ingest.a libhcct_trace.a libhcct_tree.a libhcct_code.a \
	libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS) $(ZSTD_LIBS) $(ELF_LIBS) $(UNWIND_LIBS) $(IBERTY_LIBS) $(ZLIB_LIBS)

check_PROGRAMS += $(INGEST_TESTS)
TESTS += $(INGEST_TESTS)

tests_ingest_folding_test_SOURCES = tests/ingest/folding_test.c
tests_ingest_folding_test_LDADD = $(INGEST_TEST_LIBS)
tests_ingest_folding_test_LDFLAGS = -pthread -Wl,--wrap=mcct_merge,--wrap=identity_read

tests_ingest_families_test_SOURCES = tests/ingest/families_test.c
tests_ingest_families_test_LDADD = $(INGEST_TEST_LIBS)
tests_ingest_families_test_LDFLAGS = -pthread

tests_ingest_numbered_test_SOURCES = tests/ingest/numbered_test.c
tests_ingest_numbered_test_LDADD = $(INGEST_TEST_LIBS)
tests_ingest_numbered_test_LDFLAGS = -pthread

tests_ingest_module_sweep_test_SOURCES = tests/ingest/module_sweep_test.c
tests_ingest_module_sweep_test_LDADD = $(INGEST_TEST_LIBS)
tests_ingest_module_sweep_test_LDFLAGS = -pthread

tests_ingest_arena_test_SOURCES = tests/ingest/arena_test.c
tests_ingest_arena_test_LDADD = $(INGEST_TEST_LIBS)
tests_ingest_arena_test_LDFLAGS = -pthread

tests_ingest_heap_process_test_SOURCES = tests/ingest/heap_process_test.c
tests_ingest_heap_process_test_LDADD = $(INGEST_TEST_LIBS)
tests_ingest_heap_process_test_LDFLAGS = -pthread

tests_ingest_heap_test_SOURCES = tests/ingest/heap_test.c
tests_ingest_heap_test_LDADD = $(INGEST_TEST_LIBS)

tests_ingest_ingest_test_SOURCES = tests/ingest/ingest_test.c
tests_ingest_ingest_test_LDADD = $(INGEST_TEST_LIBS)
tests_ingest_ingest_test_LDFLAGS = -pthread -Wl,--wrap=calloc -Wl,--wrap=epoll_wait

tests_ingest_reader_calls_test_SOURCES = tests/ingest/reader_calls_test.c tests/ingest/reader_ring.h
tests_ingest_reader_calls_test_LDADD = $(INGEST_TEST_LIBS)
tests_ingest_reader_test_SOURCES = tests/ingest/reader_test.c tests/ingest/reader_ring.h
tests_ingest_reader_test_LDADD = $(INGEST_TEST_LIBS)

tests_ingest_session_room_test_SOURCES = tests/ingest/session_room_test.c
tests_ingest_session_room_test_LDADD = $(INGEST_TEST_LIBS)
tests_ingest_session_room_test_LDFLAGS = -pthread

tests_ingest_thread_name_test_SOURCES = tests/ingest/thread_name_test.c
tests_ingest_thread_name_test_LDADD = $(INGEST_TEST_LIBS)
tests_ingest_thread_name_test_LDFLAGS = -pthread

tests_ingest_deferred_unwind_test_SOURCES = tests/ingest/deferred_unwind_test.c
tests_ingest_deferred_unwind_test_LDADD = $(INGEST_TEST_LIBS)
