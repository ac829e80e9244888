# Benchmarks: ratios within one run. None passes or fails on time.
BENCHES += tests/bench/overhead.sh
EXTRA_DIST += tests/bench/overhead.sh tests/bench/overhead.py

# Speed and size of the tree on synthetic streams: make tests/bench/tree_bench
EXTRA_PROGRAMS += tests/bench/tree_bench
CLEANFILES += tests/bench/tree_bench
tests_bench_tree_bench_SOURCES = tests/bench/tree_bench.c $(TREE_WORLD)
tests_bench_tree_bench_LDADD = libhcct_tree.a
