# Tests of common/code: unwind tables, modules, frames, symbols, the worker child.
CODE_TESTS = \
	tests/code/call_sites_test \
	tests/code/unwind_compile_test \
	tests/code/unwind_hostile_test \
	tests/code/module_test \
	tests/code/frame_test \
	tests/code/hostile_elf_test \
	tests/code/init_code_test \
	tests/code/jit_code_test \
	tests/code/jit_debug_test \
	tests/code/perf_map_test \
	tests/code/remote_init_test \
	tests/code/remote_unwind_test \
	tests/code/symbol_service_test \
	tests/code/demangle_test \
	tests/code/symbolize_test \
	tests/code/table_cache_test \
	tests/code/elf_pool_test \
	tests/code/elf_worker_test

CODE_TEST_LIBS = libhcct_code.a libhcct_common.a $(ELF_LIBS) $(UNWIND_LIBS) $(IBERTY_LIBS)

check_PROGRAMS += $(CODE_TESTS)
TESTS += $(CODE_TESTS)
EXTRA_DIST += tests/code/inlined.c tests/code/shapes.cc tests/code/nested.rs

tests_code_call_sites_test_SOURCES = tests/code/call_sites_test.c
tests_code_call_sites_test_LDADD = $(CODE_TEST_LIBS)
check_PROGRAMS += tests/code/show_call_sites
tests_code_show_call_sites_SOURCES = tests/code/show_call_sites.c
tests_code_show_call_sites_LDADD = $(CODE_TEST_LIBS)
dist_check_SCRIPTS += tests/code/call_sites_objdump_test.py
TESTS += tests/code/call_sites_objdump_test.py
check_PROGRAMS += tests/code/call_reasons.so
tests_code_call_reasons_so_SOURCES = tests/code/call_reasons.c
tests_code_call_reasons_so_CFLAGS = $(TARGET_CFLAGS) $(SHARED_CFLAGS)
tests_code_call_reasons_so_LDFLAGS = $(SHARED_LINKING)

tests_code_unwind_compile_test_SOURCES = tests/code/unwind_compile_test.c
tests_code_unwind_compile_test_LDADD = $(CODE_TEST_LIBS)

tests_code_unwind_hostile_test_SOURCES = tests/code/unwind_hostile_test.c
tests_code_unwind_hostile_test_LDADD = $(CODE_TEST_LIBS)

tests_code_module_test_SOURCES = tests/code/module_test.c
tests_code_module_test_LDADD = $(CODE_TEST_LIBS)

tests_code_frame_test_SOURCES = tests/code/frame_test.c
tests_code_frame_test_LDADD = $(CODE_TEST_LIBS)

tests_code_init_code_test_SOURCES = tests/code/init_code_test.c
tests_code_init_code_test_LDADD = libhcct_code.a libhcct_common.a $(ELF_LIBS)

tests_code_jit_code_test_SOURCES = tests/code/jit_code_test.c tests/code/jit_names_of.h
tests_code_jit_code_test_LDADD = libhcct_ingest.a $(CODE_TEST_LIBS)

tests_code_jit_debug_test_SOURCES = tests/code/jit_debug_test.c tests/code/jit_names_of.h tests/targets/made_object.h
tests_code_jit_debug_test_LDADD = $(CODE_TEST_LIBS)

tests_code_perf_map_test_SOURCES = tests/code/perf_map_test.c
tests_code_perf_map_test_LDADD = $(CODE_TEST_LIBS)

REMOTE_WALK = tests/code/remote_walk.c tests/code/remote_walk.h tests/code/stack_snapshot.c \
	tests/code/stack_snapshot.h
tests_code_remote_unwind_test_SOURCES = tests/code/remote_unwind_test.c $(REMOTE_WALK)
tests_code_remote_unwind_test_LDADD = $(CODE_TEST_LIBS)

tests_code_remote_init_test_SOURCES = tests/code/remote_init_test.c $(REMOTE_WALK)
tests_code_remote_init_test_LDADD = $(CODE_TEST_LIBS)

tests_code_table_cache_test_SOURCES = tests/code/table_cache_test.c
tests_code_table_cache_test_LDADD = libhcct_ingest.a libhcct_common.a $(CODE_TEST_LIBS) $(ZLIB_LIBS)

tests_code_demangle_test_SOURCES = tests/code/demangle_test.c
tests_code_demangle_test_LDADD = $(CODE_TEST_LIBS)
tests_code_symbolize_test_SOURCES = tests/code/symbolize_test.c
tests_code_symbolize_test_LDADD = $(CODE_TEST_LIBS)

tests_code_elf_pool_test_SOURCES = tests/code/elf_pool_test.c
tests_code_elf_pool_test_LDADD = $(CODE_TEST_LIBS)

tests_code_elf_worker_test_SOURCES = tests/code/elf_worker_test.c
tests_code_elf_worker_test_LDADD = $(CODE_TEST_LIBS)

tests_code_symbol_service_test_SOURCES = tests/code/symbol_service_test.c
tests_code_symbol_service_test_CFLAGS = $(AM_CFLAGS) -g
tests_code_symbol_service_test_LDADD = $(CODE_TEST_LIBS)

# A small program with debug information, which the test changes.
check_PROGRAMS += tests/code/hostile_target
tests_code_hostile_target_SOURCES = tests/code/inlined.c
tests_code_hostile_target_CFLAGS = -g -O2
tests_code_hostile_elf_test_SOURCES = tests/code/hostile_elf_test.c
tests_code_hostile_elf_test_LDADD = $(CODE_TEST_LIBS)
