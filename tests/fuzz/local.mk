# Inputs that nobody thought of: one target for each thing that parses. In "make check" a driver
# tries the inputs that are kept and some thousand made of them, always the same; "make fuzz" builds
# the targets once more, with clang's libFuzzer in the driver's place, and lets each look for more,
# for FUZZ_SECONDS (60). FUZZ_TARGETS="ring trace" runs only these.
FUZZ_NAMES = attach call_sites checkpoint comments demangle eh_frame elf_protocol fleet hello history \
	http_client jit_debug jit_dump jit_object options otlp perf_map pprof query ring session spool trace unwind
FUZZ_TESTS = \
	tests/fuzz/attach_fuzz \
	tests/fuzz/call_sites_fuzz \
	tests/fuzz/checkpoint_fuzz \
	tests/fuzz/comments_fuzz \
	tests/fuzz/demangle_fuzz \
	tests/fuzz/eh_frame_fuzz \
	tests/fuzz/elf_protocol_fuzz \
	tests/fuzz/fleet_fuzz \
	tests/fuzz/hello_fuzz \
	tests/fuzz/history_fuzz \
	tests/fuzz/http_client_fuzz \
	tests/fuzz/jit_debug_fuzz \
	tests/fuzz/jit_dump_fuzz \
	tests/fuzz/jit_object_fuzz \
	tests/fuzz/options_fuzz \
	tests/fuzz/otlp_fuzz \
	tests/fuzz/perf_map_fuzz \
	tests/fuzz/pprof_fuzz \
	tests/fuzz/query_fuzz \
	tests/fuzz/ring_fuzz \
	tests/fuzz/session_fuzz \
	tests/fuzz/spool_fuzz \
	tests/fuzz/trace_fuzz \
	tests/fuzz/unwind_fuzz
check_PROGRAMS += $(FUZZ_TESTS)
TESTS += $(FUZZ_TESTS)

# With libFuzzer, whose own main comes first, the driver is not taken from its library.
check_LIBRARIES = libhcct_fuzz.a
libhcct_fuzz_a_SOURCES = tests/fuzz/driver.c tests/fuzz/fuzz.h
FUZZ_WHOLE = tests/fuzz/whole.c tests/fuzz/whole.h
FUZZ_LINKED =
FUZZ_LINK = $(AM_LDFLAGS) $(FUZZ_LINKED)
FUZZ_INGEST = libhcct_fuzz.a libhcct_ingest.a libhcct_trace.a libhcct_tree.a libhcct_code.a \
	libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS) $(ZSTD_LIBS) $(ELF_LIBS) $(UNWIND_LIBS) \
	$(IBERTY_LIBS)

tests_fuzz_attach_fuzz_SOURCES = client/attach/code.c client/attach/image.c client/attach/target.c tests/fuzz/attach_fuzz.c
tests_fuzz_attach_fuzz_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_attach_fuzz_LDADD = libhcct_fuzz.a

tests_fuzz_call_sites_fuzz_SOURCES = tests/fuzz/call_sites_fuzz.c
tests_fuzz_call_sites_fuzz_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_call_sites_fuzz_LDADD = libhcct_fuzz.a libhcct_code.a libhcct_common.a $(ELF_LIBS) $(IBERTY_LIBS)

tests_fuzz_checkpoint_fuzz_SOURCES = daemon/state/checkpoint_fields.c daemon/state/checkpoint_load.c \
	daemon/state/checkpoint_save.c tests/fuzz/checkpoint_fuzz.c
tests_fuzz_checkpoint_fuzz_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_checkpoint_fuzz_LDADD = $(FUZZ_INGEST)

tests_fuzz_comments_fuzz_SOURCES = tests/fuzz/comments_fuzz.c
tests_fuzz_comments_fuzz_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_comments_fuzz_LDADD = libhcct_fuzz.a libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS)

tests_fuzz_demangle_fuzz_SOURCES = tests/fuzz/demangle_fuzz.c
tests_fuzz_demangle_fuzz_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_demangle_fuzz_LDADD = libhcct_fuzz.a libhcct_code.a libhcct_common.a $(IBERTY_LIBS)

tests_fuzz_eh_frame_fuzz_SOURCES = tests/fuzz/eh_frame_fuzz.c
tests_fuzz_eh_frame_fuzz_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_eh_frame_fuzz_LDADD = libhcct_fuzz.a libhcct_code.a libhcct_common.a $(ELF_LIBS) $(IBERTY_LIBS)

tests_fuzz_elf_protocol_fuzz_SOURCES = tests/fuzz/elf_protocol_fuzz.c
tests_fuzz_elf_protocol_fuzz_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_elf_protocol_fuzz_LDADD = libhcct_fuzz.a libhcct_code.a libhcct_common.a $(ELF_LIBS) $(UNWIND_LIBS) \
	$(IBERTY_LIBS)

tests_fuzz_fleet_fuzz_SOURCES = \
	client/ask.c \
	client/http_client.c \
	client/json_in.c \
	client/option_words.c \
	client/processes.c \
	client/remote/chance_row.c \
	client/remote/clickhouse.c \
	client/remote/fleet_hours.c \
	client/remote/fleet_list.c \
	client/remote/fleet_profile.c \
	client/remote/fleet_query.c \
	client/remote/fleet_source.c \
	client/remote/fleet_split.c \
	client/remote/fleet_totals.c \
	client/remote/span.c \
	client/remote/stack_read.c \
	client/top/client.c \
	client/top/ids.c \
	client/top/kinds.c \
	client/top/model.c \
	client/top/steps.c \
	client/top/strip.c \
	client/top/text.c \
	client/top/threads.c \
	client/top/tree.c \
	tests/fuzz/fleet_fuzz.c $(FUZZ_WHOLE)
tests_fuzz_fleet_fuzz_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_fleet_fuzz_LDADD = libhcct_fuzz.a libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS)

tests_fuzz_hello_fuzz_SOURCES = tests/fuzz/hello_fuzz.c
tests_fuzz_hello_fuzz_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_hello_fuzz_LDADD = $(FUZZ_INGEST)

tests_fuzz_history_fuzz_SOURCES = $(HISTORY_SOURCES) $(FUZZ_WHOLE) tests/fuzz/history_fuzz.c tests/report/sample.c \
	tests/report/sample.h
tests_fuzz_history_fuzz_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_history_fuzz_LDADD = libhcct_fuzz.a libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS) $(ZSTD_LIBS)

tests_fuzz_http_client_fuzz_SOURCES = \
	client/ask.c \
	client/http_client.c \
	client/json_in.c \
	client/option_words.c \
	client/processes.c \
	client/top/strip.c \
	client/top/text.c \
	client/top/threads.c \
	tests/fuzz/http_client_fuzz.c
tests_fuzz_http_client_fuzz_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_http_client_fuzz_LDADD = libhcct_fuzz.a libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS) $(IBERTY_LIBS)

tests_fuzz_jit_debug_fuzz_SOURCES = tests/fuzz/jit_debug_fuzz.c
tests_fuzz_jit_debug_fuzz_LDFLAGS = $(FUZZ_LINK) -Wl,--wrap=pread
tests_fuzz_jit_debug_fuzz_LDADD = libhcct_fuzz.a libhcct_code.a libhcct_common.a $(ELF_LIBS) $(IBERTY_LIBS)

tests_fuzz_jit_object_fuzz_SOURCES = tests/fuzz/jit_object_fuzz.c tests/targets/made_object.h
tests_fuzz_jit_object_fuzz_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_jit_object_fuzz_LDADD = libhcct_fuzz.a libhcct_code.a libhcct_common.a

tests_fuzz_options_fuzz_SOURCES = common/wire/burst.c common/wire/percent.c common/base/nearest.c common/base/nearest.h common/base/utf8.c common/base/utf8.h tests/fuzz/options_fuzz.c
tests_fuzz_options_fuzz_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_options_fuzz_LDADD = libhcct_fuzz.a -lm

tests_fuzz_otlp_fuzz_SOURCES = tests/fuzz/otlp_fuzz.c
tests_fuzz_otlp_fuzz_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_otlp_fuzz_LDADD = libhcct_fuzz.a libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS)

tests_fuzz_jit_dump_fuzz_SOURCES = tests/fuzz/jit_dump_fuzz.c
tests_fuzz_jit_dump_fuzz_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_jit_dump_fuzz_LDADD = libhcct_fuzz.a libhcct_code.a libhcct_common.a

tests_fuzz_perf_map_fuzz_SOURCES = tests/fuzz/perf_map_fuzz.c
tests_fuzz_perf_map_fuzz_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_perf_map_fuzz_LDADD = libhcct_fuzz.a libhcct_code.a libhcct_common.a

tests_fuzz_pprof_fuzz_SOURCES = tests/fuzz/pprof_fuzz.c
tests_fuzz_pprof_fuzz_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_pprof_fuzz_LDADD = libhcct_fuzz.a libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS)

tests_fuzz_query_fuzz_SOURCES = daemon/answers/marked.c daemon/answers/numbered_copies.c daemon/answers/process_copies.c $(HISTORY_SOURCES) daemon/answers/past.c daemon/answers/query.c tests/fuzz/query_fuzz.c
tests_fuzz_query_fuzz_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_query_fuzz_LDADD = libhcct_assemble.a $(FUZZ_INGEST)

tests_fuzz_ring_fuzz_SOURCES = tests/fuzz/ring_fuzz.c
tests_fuzz_ring_fuzz_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_ring_fuzz_LDADD = $(FUZZ_INGEST)

tests_fuzz_session_fuzz_SOURCES = tests/fuzz/session_fuzz.c
tests_fuzz_session_fuzz_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_session_fuzz_LDADD = $(FUZZ_INGEST)

tests_fuzz_spool_fuzz_SOURCES = client/remote/spool.c tests/fuzz/spool_fuzz.c $(FUZZ_WHOLE) tests/report/sample.c tests/report/sample.h
tests_fuzz_spool_fuzz_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_spool_fuzz_LDADD = libhcct_fuzz.a libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS)

tests_fuzz_trace_fuzz_SOURCES = client/commands/encode_functions.c client/commands/encode_trace.c \
	tests/fuzz/trace_fuzz.c
tests_fuzz_trace_fuzz_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_trace_fuzz_LDADD = libhcct_encode.a $(FUZZ_INGEST)

tests_fuzz_unwind_fuzz_SOURCES = \
	common/code/unwind_table_check.c \
	preload/sample/memo.c \
	preload/sample/unwind.c \
	preload/sample/unwind_bare.c \
	preload/sample/unwind_evidence.c \
	preload/sample/unwind_follow.c \
	preload/sample/unwind_search.c \
	tests/fuzz/unwind_fuzz.c \
	$(INSTRUCTION_SOURCE)
tests_fuzz_unwind_fuzz_LDFLAGS = $(FUZZ_LINK)
tests_fuzz_unwind_fuzz_LDADD = libhcct_fuzz.a

FUZZ_CC = clang
FUZZ_CC_PLUS = clang++
EXTRA_DIST += tests/fuzz/corpus tests/fuzz/crashes tests/fuzz/fuzz.py

fuzz-programs:
	@command -v $(FUZZ_CC) >/dev/null || { \
	    echo 'make fuzz needs clang, whose libFuzzer makes the inputs.' >&2; exit 1; }
	@$(MKDIR_P) libfuzzer
	@cd libfuzzer && { test -f Makefile || '$(abs_top_srcdir)/configure' -q CC=$(FUZZ_CC) \
	    CXX=$(FUZZ_CC_PLUS) CFLAGS='-O1 -g' --enable-sanitizers=fuzzer-no-link,address,undefined; }
	cd libfuzzer && $(MAKE) $(AM_MAKEFLAGS) $(BUILT_SOURCES)
	cd libfuzzer && $(MAKE) $(AM_MAKEFLAGS) FUZZ_LINKED=-fsanitize=fuzzer $(FUZZ_TESTS)

fuzz: fuzz-programs
	$(AM_V_at)$(PYTHON3) -B $(srcdir)/tests/fuzz/fuzz.py --seconds $${FUZZ_SECONDS:-60} \
	    --programs libfuzzer/tests/fuzz --sources $(srcdir)/tests/fuzz \
	    $${FUZZ_TARGETS:-$(FUZZ_NAMES)}

# What was found in "make fuzz" goes to the corpus, with all that says nothing new left out.
fuzz-merge: fuzz-programs
	$(AM_V_at)$(PYTHON3) -B $(srcdir)/tests/fuzz/fuzz.py --merge \
	    --programs libfuzzer/tests/fuzz --sources $(srcdir)/tests/fuzz \
	    $${FUZZ_TARGETS:-$(FUZZ_NAMES)}

.PHONY: fuzz fuzz-merge fuzz-programs
