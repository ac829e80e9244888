# Benchmarks: ratios within one run. None passes or fails on time.
BENCHES += tests/bench/overhead.sh
EXTRA_DIST += tests/bench/overhead.sh tests/bench/overhead.py tests/bench/profilers.py \
	tests/bench/programs.py tests/bench/together.py
EXTRA_PROGRAMS += tests/bench/recursive tests/bench/empty_handler.so
CLEANFILES += tests/bench/recursive tests/bench/empty_handler.so
tests_bench_recursive_SOURCES = tests/bench/recursive.cc
tests_bench_recursive_CXXFLAGS = -Wall -Wextra $(WERROR_CFLAGS) -O2
tests_bench_empty_handler_so_SOURCES = tests/bench/empty_handler.c
tests_bench_empty_handler_so_CFLAGS = $(TARGET_CFLAGS) -O2 $(SHARED_CFLAGS)
tests_bench_empty_handler_so_LDFLAGS = $(SHARED_LINKING)
bench: tests/bench/recursive tests/bench/empty_handler.so

# Speed and size of the tree on synthetic streams, beside the article's: make tests/bench/tree_bench
BENCH_ARTICLE = tests/bench/article_tree.c tests/bench/article_tree.h
BENCH_CONTEST = tests/bench/contest.c tests/bench/contest.h $(BENCH_ARTICLE)
EXTRA_PROGRAMS += tests/bench/tree_bench
CLEANFILES += tests/bench/tree_bench
tests_bench_tree_bench_SOURCES = tests/bench/tree_bench.c $(BENCH_CONTEST) $(TREE_WORLD)
tests_bench_tree_bench_LDADD = libhcct_tree.a libhcct_common.a

# The article's tree is right.
check_PROGRAMS += tests/bench/article_test
TESTS += tests/bench/article_test
tests_bench_article_test_SOURCES = tests/bench/article_test.c $(BENCH_ARTICLE) $(TREE_WORLD)
tests_bench_article_test_LDADD = libhcct_tree.a libhcct_common.a

# The same on recorded traces.
BENCHES += tests/bench/replay.sh
EXTRA_DIST += tests/bench/replay.sh
bench: tests/bench/replay_bench
EXTRA_PROGRAMS += tests/bench/replay_bench
CLEANFILES += tests/bench/replay_bench
tests_bench_replay_bench_SOURCES = tests/bench/replay_bench.c $(BENCH_CONTEST)
tests_bench_replay_bench_LDADD = $(TRACE_TEST_LIBS)

# What a walk costs. The walk is compiled as in the agent.
BENCHES += tests/bench/walk.sh
EXTRA_DIST += tests/bench/walk.sh
check_PROGRAMS += tests/bench/walk_bench
tests_bench_walk_bench_SOURCES = \
	preload/sample/memo.c \
	tests/agent/own_tables.c \
	tests/bench/walk_bench.c \
	tests/bench/walk_levels.c tests/bench/walk_levels.h \
	$(UNWIND_SOURCES)
tests_bench_walk_bench_CPPFLAGS = $(AGENT_CPPFLAGS)
tests_bench_walk_bench_CFLAGS = $(AGENT_CFLAGS)
tests_bench_walk_bench_LDADD = libhcct_code.a libhcct_common.a $(ELF_LIBS) $(UNWIND_LIBS) $(IBERTY_LIBS)
tests_bench_walk_bench_LDFLAGS = $(AM_LDFLAGS) -pthread

# What functions of Python cost a sample.
BENCHES += tests/bench/python.sh
EXTRA_DIST += tests/bench/python.sh tests/bench/python_frames.py

# Contexts as numbers: what a call costs, and reading and decoding one: make tests/bench/stubs_bench
EXTRA_PROGRAMS += tests/bench/stubs_bench
CLEANFILES += tests/bench/stubs_bench
tests_bench_stubs_bench_SOURCES = tests/bench/stubs_bench.c tests/encode/stubs.c tests/encode/stubs.h
tests_bench_stubs_bench_LDADD = libhcct_encode.a libhcct_common.a

# What walks cost in deep recursion.
BENCHES += tests/bench/deep.sh
EXTRA_DIST += tests/bench/deep.sh
EXTRA_PROGRAMS += tests/bench/deep_slices
CLEANFILES += tests/bench/deep_slices
tests_bench_deep_slices_SOURCES = tests/bench/deep_slices.c
bench: tests/bench/deep_slices

# Are the shares those of perf? For one command, by hand: tests/bench/against_perf.py -- COMMAND...
EXTRA_DIST += tests/bench/against_perf.py

# Does hcct diff cry wolf? Takes minutes: tests/bench/diff_runs.py in the build directory's terms.
EXTRA_DIST += tests/bench/diff_runs.py

# How far are profiles from the truth? make unbiased UNBIASED="--runs 3 --settings 1000"
EXTRA_DIST += tests/bench/unbiased.py
check_PROGRAMS += tests/targets/mixture
tests_targets_mixture_SOURCES = tests/targets/mixture.c
tests_targets_mixture_CFLAGS = $(TARGET_CFLAGS) -O1 -fno-optimize-sibling-calls -pthread
tests_targets_mixture_LDADD = -lm
tests_targets_mixture_LDFLAGS = -pthread

unbiased: all tests/targets/mixture
	@$(AM_TESTS_ENVIRONMENT) $(PYTHON3) -B '$(srcdir)/tests/bench/unbiased.py' $(UNBIASED)

# Have short lives their share? make short-lives SHORT_LIVES="--cases forks:2"
EXTRA_DIST += tests/bench/short_lives.py

short-lives: all tests/targets/lives
	@$(AM_TESTS_ENVIRONMENT) $(PYTHON3) -B '$(srcdir)/tests/bench/short_lives.py' $(SHORT_LIVES)

.PHONY: unbiased short-lives

# Calls that can sleep, short processes, memory.
BENCHES += tests/bench/events.sh
EXTRA_DIST += tests/bench/events.sh tests/bench/events.py
EXTRA_PROGRAMS += tests/bench/events_bench
CLEANFILES += tests/bench/events_bench
tests_bench_events_bench_SOURCES = tests/bench/events_bench.c
tests_bench_events_bench_CFLAGS = $(TARGET_CFLAGS) -O2 -fno-builtin -pthread
tests_bench_events_bench_LDFLAGS = -pthread
bench: tests/bench/events_bench

BENCHES += tests/bench/small.sh
EXTRA_DIST += tests/bench/small.sh tests/bench/small.py

# Programs of many short children and threads.
BENCHES += tests/bench/many_lives.sh
EXTRA_DIST += tests/bench/many_lives.sh tests/bench/many_lives.py
bench: tests/bench/many_lives
EXTRA_PROGRAMS += tests/bench/many_lives
CLEANFILES += tests/bench/many_lives
tests_bench_many_lives_SOURCES = tests/bench/many_lives.c
tests_bench_many_lives_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_bench_many_lives_LDFLAGS = -pthread

# Two weeks of hours, and what questions about them cost: takes minutes
BENCHES += tests/bench/past.sh
EXTRA_DIST += tests/bench/past.sh
bench: tests/bench/past_bench
EXTRA_PROGRAMS += tests/bench/past_bench
CLEANFILES += tests/bench/past_bench
tests_bench_past_bench_SOURCES = tests/bench/past_bench.c $(HISTORY_SOURCES) daemon/free.c
tests_bench_past_bench_LDADD = libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS) $(ZSTD_LIBS) -lm
tests_bench_past_bench_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=free

# hcct fleet over a day of 200 hosts.
BENCHES += tests/bench/fleet_day.sh
EXTRA_DIST += tests/bench/fleet_day.sh tests/bench/fleet_day.py
BENCHES += tests/bench/push_cost.sh
EXTRA_DIST += tests/bench/push_cost.sh tests/bench/push_cost.py
