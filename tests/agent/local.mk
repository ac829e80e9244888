# The agent's rooms one by one, and the agent as a library.
check_PROGRAMS += tests/agent/emit_test tests/agent/unwind_test
tests_agent_emit_test_SOURCES = preload/sample/emit.c tests/agent/emit_test.c
tests_agent_emit_test_LDADD = libhcct_ingest.a libhcct_trace.a libhcct_tree.a libhcct_code.a \
	libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS) $(ZSTD_LIBS) $(ELF_LIBS) $(IBERTY_LIBS)
tests_agent_unwind_test_SOURCES = $(UNWIND_SOURCES) $(OWN_TABLES) tests/agent/unwind_test.c
tests_agent_unwind_test_LDADD = libhcct_code.a libhcct_common.a $(ELF_LIBS) $(IBERTY_LIBS)
TESTS += tests/agent/aarch64_test.sh tests/agent/emit_test tests/agent/symbols_test.sh \
	tests/agent/unwind_test
EXTRA_DIST += tests/agent/aarch64_test.sh tests/agent/symbols_test.sh

check_PROGRAMS += tests/agent/restart_test tests/agent/transfer_test tests/agent/wrap_sleep_test
tests_agent_restart_test_SOURCES = $(RESTART_SOURCE) $(INSTRUCTION_SOURCE) preload/life/agent.c preload/sample/stack.c \
	$(SYSCALL_SOURCES) preload/wrap/file_time.c preload/wrap/file_time.h \
	tests/agent/restart_test.c
SLEEP_TEST_SOURCES = preload/wrap/next_symbol.c preload/life/agent.c preload/sample/stack.c $(SLEEP_SOURCES) \
	$(SYSCALL_SOURCES) \
	tests/agent/sleep_stubs.c tests/agent/sleep_stubs.h
tests_agent_transfer_test_SOURCES = $(SLEEP_TEST_SOURCES) tests/agent/transfer_test.c
tests_agent_transfer_test_LDFLAGS = -pthread
tests_agent_wrap_sleep_test_SOURCES = $(SLEEP_TEST_SOURCES) tests/agent/wrap_sleep_test.c
tests_agent_wrap_sleep_test_LDFLAGS = -pthread
TESTS += tests/agent/restart_test tests/agent/transfer_test tests/agent/wrap_sleep_test

if HCCT_X86_64
check_PROGRAMS += tests/agent/syscall_passed_test
TESTS += tests/agent/syscall_passed_test
else
check_PROGRAMS += tests/agent/restart_aarch64_test
TESTS += tests/agent/restart_aarch64_test
endif
tests_agent_restart_aarch64_test_SOURCES = $(RESTART_SOURCE) tests/agent/restart_aarch64_test.c
tests_agent_syscall_passed_test_SOURCES = preload/wrap/syscall_passed.h preload/wrap/syscall_passed_x86_64.c \
	preload/sample/instruction.h preload/sample/instruction_x86_64.c tests/agent/syscall_passed_test.c

# Words of objects that are bound at the start, and of such as are bound when called first.
check_PROGRAMS += tests/agent/got_test tests/agent/got_lazy_test
tests_agent_got_test_SOURCES = preload/redirect/dynamic.c preload/redirect/got.c tests/agent/got_test.c
tests_agent_got_test_CFLAGS = $(AM_CFLAGS) -fPIE -DLAZY=0
tests_agent_got_test_LDFLAGS = -pie -Wl,-z,now,-z,relro
tests_agent_got_lazy_test_SOURCES = $(tests_agent_got_test_SOURCES)
tests_agent_got_lazy_test_CFLAGS = $(AM_CFLAGS) -fPIE -DLAZY=1
tests_agent_got_lazy_test_LDFLAGS = -pie -Wl,-z,lazy
TESTS += tests/agent/got_test tests/agent/got_lazy_test

check_PROGRAMS += tests/agent/next_symbol_test
tests_agent_next_symbol_test_SOURCES = preload/wrap/next_symbol.c preload/wrap/next_symbol.h \
	tests/agent/next_symbol_test.c
tests_agent_next_symbol_test_LDADD = -lm
TESTS += tests/agent/next_symbol_test

# The walk alone: of this very process, and of a machine that exists only as stack words.
OWN_TABLES = tests/agent/own_tables.c tests/agent/own_tables.h
check_PROGRAMS += tests/agent/bare_code_test tests/agent/memo_test
tests_agent_bare_code_test_SOURCES = $(UNWIND_SOURCES) $(OWN_TABLES) tests/agent/bare_code_test.c
tests_agent_bare_code_test_LDADD = libhcct_code.a libhcct_common.a $(ELF_LIBS) $(IBERTY_LIBS)
tests_agent_memo_test_SOURCES = \
	preload/sample/memo.c \
	tests/agent/machine.c tests/agent/machine.h \
	tests/agent/memo_test.c \
	$(OWN_TABLES) \
	$(UNWIND_SOURCES)
tests_agent_memo_test_LDADD = libhcct_code.a libhcct_common.a $(ELF_LIBS) $(IBERTY_LIBS)
TESTS += tests/agent/bare_code_test tests/agent/memo_test
check_PROGRAMS += tests/agent/bare_code_aarch64_test tests/agent/instruction_aarch64_test
tests_agent_bare_code_aarch64_test_SOURCES = $(UNWIND_SOURCES) $(OWN_TABLES) \
	tests/agent/bare_code_aarch64_test.c
tests_agent_bare_code_aarch64_test_LDADD = libhcct_code.a libhcct_common.a $(ELF_LIBS) $(IBERTY_LIBS)
tests_agent_instruction_aarch64_test_SOURCES = $(INSTRUCTION_SOURCE) preload/sample/instruction.h \
	tests/agent/instruction_aarch64_test.c
TESTS += tests/agent/bare_code_aarch64_test tests/agent/instruction_aarch64_test

check_PROGRAMS += tests/agent/pass_over_test
tests_agent_pass_over_test_SOURCES = preload/sample/pass_over.c preload/sample/pass_over.h \
	$(UNWIND_SOURCES) $(OWN_TABLES) tests/agent/pass_over_test.c
tests_agent_pass_over_test_LDADD = libhcct_code.a libhcct_common.a $(ELF_LIBS) $(IBERTY_LIBS)
TESTS += tests/agent/pass_over_test

check_PROGRAMS += tests/agent/instruction_test
tests_agent_instruction_test_SOURCES = $(INSTRUCTION_SOURCE) preload/sample/instruction.h \
	tests/agent/instruction_test.c
TESTS += tests/agent/instruction_test

check_PROGRAMS += tests/agent/calls_stack_test
tests_agent_calls_stack_test_SOURCES = preload/calls/stack.c tests/agent/calls_stack_test.c
TESTS += tests/agent/calls_stack_test

check_PROGRAMS += tests/agent/draw_test
tests_agent_draw_test_SOURCES = preload/sample/draw.c tests/agent/draw_test.c
TESTS += tests/agent/draw_test
check_PROGRAMS += tests/agent/thinning_test
tests_agent_thinning_test_SOURCES = preload/sample/thinning.c preload/sample/interval.c preload/sample/draw.c \
	tests/agent/thinning_test.c
TESTS += tests/agent/thinning_test
# The library of allocations, without an agent.
BLOCKS_ALONE = preload/blocks/rate.c preload/blocks/sites.c preload/blocks/stops.c preload/blocks/table.c \
	preload/blocks/wrap.c preload/events/course.c preload/sample/draw.c preload/wrap/libc.c \
	preload/wrap/next_symbol.c
check_PROGRAMS += tests/agent/blocks_nested_test
tests_agent_blocks_nested_test_SOURCES = $(BLOCKS_ALONE) tests/agent/blocks_nested_test.c
tests_agent_blocks_nested_test_CPPFLAGS = $(AGENT_CPPFLAGS)
tests_agent_blocks_nested_test_CFLAGS = $(AGENT_CFLAGS) -fno-builtin
TESTS += tests/agent/blocks_nested_test

check_PROGRAMS += tests/agent/blocks_late_test
tests_agent_blocks_late_test_SOURCES = $(BLOCKS_ALONE) tests/agent/blocks_late_test.c
tests_agent_blocks_late_test_CPPFLAGS = $(AGENT_CPPFLAGS)
tests_agent_blocks_late_test_CFLAGS = $(AGENT_CFLAGS) -fno-builtin
TESTS += tests/agent/blocks_late_test

check_PROGRAMS += tests/agent/patience_test
tests_agent_patience_test_SOURCES = preload/life/patience.c tests/agent/patience_test.c
TESTS += tests/agent/patience_test

check_PROGRAMS += tests/agent/crawl_test
tests_agent_crawl_test_SOURCES = preload/sample/crawl.c tests/agent/crawl_test.c
TESTS += tests/agent/crawl_test
check_PROGRAMS += tests/agent/stack_test
tests_agent_stack_test_SOURCES = preload/life/agent.c preload/sample/stack.c tests/agent/stack_test.c
tests_agent_stack_test_LDFLAGS = -pthread
TESTS += tests/agent/stack_test
check_PROGRAMS += tests/agent/nap_course_test
tests_agent_nap_course_test_SOURCES = preload/sample/nap_course.c preload/sample/points.c preload/sample/interval.c \
	preload/sample/draw.c tests/agent/nap_course_test.c
tests_agent_nap_course_test_LDADD = -lm
TESTS += tests/agent/nap_course_test
check_PROGRAMS += tests/agent/tick_course_test
tests_agent_tick_course_test_SOURCES = preload/sample/tick_course.c preload/sample/draw.c \
	tests/agent/tick_course_test.c
tests_agent_tick_course_test_LDADD = -lm
TESTS += tests/agent/tick_course_test

check_PROGRAMS += tests/agent/copies_test
tests_agent_copies_test_SOURCES = preload/sample/thinning.c preload/sample/copies.c preload/sample/draw.c preload/sample/interval.c tests/agent/copies_test.c
tests_agent_copies_test_LDADD = -lm
TESTS += tests/agent/copies_test

check_PROGRAMS += tests/agent/interval_test
tests_agent_interval_test_SOURCES = preload/sample/interval.c tests/agent/interval_test.c
tests_agent_interval_test_LDADD = -lm
TESTS += tests/agent/interval_test

check_PROGRAMS += tests/agent/adapt_test
tests_agent_adapt_test_SOURCES = preload/calls/adapt.c preload/calls/period.c \
	preload/sample/draw.c tests/agent/adapt_test.c
tests_agent_adapt_test_LDADD = -lm
TESTS += tests/agent/adapt_test

check_PROGRAMS += tests/agent/governor_test
tests_agent_governor_test_SOURCES = preload/calls/governor.c preload/calls/period.c \
	preload/sample/draw.c tests/agent/governor_test.c
tests_agent_governor_test_LDADD = libhcct_common.a -lm
TESTS += tests/agent/governor_test

check_PROGRAMS += tests/agent/pace_test
tests_agent_pace_test_SOURCES = preload/calls/pace.c tests/agent/pace_test.c
TESTS += tests/agent/pace_test

check_PROGRAMS += tests/agent/period_test
tests_agent_period_test_SOURCES = preload/calls/period.c preload/sample/draw.c tests/agent/period_test.c
tests_agent_period_test_LDADD = -lm
TESTS += tests/agent/period_test

check_PROGRAMS += tests/agent/points_test
tests_agent_points_test_SOURCES = preload/sample/points.c preload/sample/interval.c preload/sample/draw.c \
	tests/agent/points_test.c
tests_agent_points_test_LDADD = -lm
TESTS += tests/agent/points_test

# What stands before malloc: which blocks are sampled, and the table of them.
check_PROGRAMS += tests/agent/blocks_test
tests_agent_blocks_test_SOURCES = preload/blocks/table.c preload/wrap/libc.c preload/wrap/next_symbol.c preload/events/course.c preload/sample/draw.c \
	tests/agent/blocks_test.c
tests_agent_blocks_test_LDADD = -lm
TESTS += tests/agent/blocks_test

# How far apart samples of allocations are.
check_PROGRAMS += tests/agent/rate_test
tests_agent_rate_test_SOURCES = \
	preload/blocks/rate.c preload/blocks/rate.h \
	preload/blocks/sites.c preload/blocks/sites.h \
	preload/blocks/stops.c preload/blocks/stops.h \
	preload/wrap/libc.c preload/wrap/next_symbol.c preload/events/course.c preload/sample/draw.c \
	tests/agent/rate_test.c
tests_agent_rate_test_LDADD = -lm
TESTS += tests/agent/rate_test

# What a program says of itself (hcct.h).
check_PROGRAMS += tests/agent/labels_test
tests_agent_labels_test_SOURCES = \
	preload/labels/said.c preload/labels/said.h \
	preload/labels/table.c preload/labels/table.h \
	preload/labels/thread.h \
	preload/labels/word.c preload/labels/word.h \
	tests/agent/labels_test.c
tests_agent_labels_test_LDFLAGS = -pthread
TESTS += tests/agent/header_test.sh tests/agent/labels_test
EXTRA_DIST += tests/agent/header_test.sh

check_PROGRAMS += tests/agent/otel_test
tests_agent_otel_test_SOURCES = \
	preload/labels/checked.h \
	preload/labels/otel_process.c preload/labels/otel_process.h \
	preload/life/agent.c preload/sample/stack.c \
	tests/agent/otel_test.c \
	tests/targets/otel_message.h
TESTS += tests/agent/otel_test

# Contexts by number.
check_PROGRAMS += tests/agent/context_table_test
tests_agent_context_table_test_SOURCES = \
	preload/context/recent.h \
	preload/context/table.c preload/context/table.h \
	preload/sample/draw.c preload/sample/draw.h \
	tests/agent/context_table_test.c
tests_agent_context_table_test_LDFLAGS = -pthread
TESTS += tests/agent/context_table_test

# The code around calls, of which the thread's open ones are kept: x86-64's.
if HCCT_X86_64
check_PROGRAMS += tests/agent/slot_test
TESTS += tests/agent/slot_test
endif
tests_agent_slot_test_SOURCES = \
	preload/encode/shallow.c preload/encode/shallow.h \
	preload/encode/slot.c preload/encode/slot.h \
	tests/agent/slot_test.c
