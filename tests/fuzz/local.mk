# Inputs that nobody thought of. The test runs made-up ones, always the same; "make fuzz" lets
# libFuzzer look for more, for FUZZ_SECONDS (60).
check_PROGRAMS += tests/fuzz/unwind_fuzz
tests_fuzz_unwind_fuzz_SOURCES = daemon/code/unwind_table_check.c preload/memo.c preload/unwind.c preload/unwind_bare.c \
	tests/fuzz/unwind_fuzz.c
TESTS += tests/fuzz/unwind_fuzz

FUZZ_CC = clang
FUZZ_CFLAGS = -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
	-DHCCT_LIBFUZZER
CLEANFILES += tests/fuzz/unwind_libfuzzer

fuzz:
	@command -v $(FUZZ_CC) >/dev/null || { \
	    echo 'make fuzz needs clang, whose libFuzzer makes the inputs.' >&2; exit 1; }
	$(MKDIR_P) tests/fuzz
	cd $(srcdir) && $(FUZZ_CC) $(FUZZ_CFLAGS) $(WARN_CFLAGS) -I. -D_GNU_SOURCE \
	    -o $(abs_builddir)/tests/fuzz/unwind_libfuzzer $(tests_fuzz_unwind_fuzz_SOURCES)
	tests/fuzz/unwind_libfuzzer -max_len=8192 -len_control=0 -artifact_prefix=tests/fuzz/ \
	    -max_total_time=$${FUZZ_SECONDS:-60} -print_final_stats=1

.PHONY: fuzz
