# Tests of common/tree: the tree itself, what its summaries guarantee, merging, bounded memory.
TREE_WORLD = tests/tree/nodes.h tests/tree/world.c tests/tree/world.h
TREE_STREAMS = tests/tree/streams.c tests/tree/streams.h
TREE_TESTS = \
	tests/tree/batch_test \
	tests/tree/mcct_test \
	tests/tree/summary_test \
	tests/tree/space_saving_test \
	tests/tree/merge_test \
	tests/tree/packed_test \
	tests/tree/subwindows_test \
	tests/tree/residual_test \
	tests/tree/run_test \
	tests/tree/bounded_test \
	tests/tree/zones_test

check_PROGRAMS += $(TREE_TESTS)
TESTS += $(TREE_TESTS)

tests_tree_batch_test_SOURCES = tests/tree/batch_test.c $(TREE_WORLD)
tests_tree_batch_test_LDADD = libhcct_tree.a libhcct_common.a

tests_tree_mcct_test_SOURCES = tests/tree/mcct_test.c $(TREE_WORLD)
tests_tree_mcct_test_LDADD = libhcct_tree.a libhcct_common.a

tests_tree_summary_test_SOURCES = tests/tree/summary_test.c $(TREE_WORLD) $(TREE_STREAMS)
tests_tree_summary_test_LDADD = libhcct_tree.a libhcct_common.a

tests_tree_space_saving_test_SOURCES = tests/tree/space_saving_test.c $(TREE_WORLD) $(TREE_STREAMS)
tests_tree_space_saving_test_LDADD = libhcct_tree.a libhcct_common.a

tests_tree_merge_test_SOURCES = tests/tree/merge_test.c $(TREE_WORLD)
tests_tree_merge_test_LDADD = libhcct_tree.a libhcct_common.a

tests_tree_packed_test_SOURCES = tests/tree/packed_test.c $(TREE_WORLD) $(TREE_STREAMS)
tests_tree_packed_test_LDADD = libhcct_tree.a libhcct_common.a

tests_tree_residual_test_SOURCES = tests/tree/residual_test.c $(TREE_WORLD)
tests_tree_residual_test_LDADD = libhcct_tree.a libhcct_common.a

tests_tree_run_test_SOURCES = tests/tree/run_test.c $(TREE_WORLD)
tests_tree_run_test_LDADD = libhcct_tree.a libhcct_common.a

tests_tree_subwindows_test_SOURCES = tests/tree/subwindows_test.c $(TREE_WORLD)
tests_tree_subwindows_test_LDADD = libhcct_tree.a libhcct_common.a

tests_tree_bounded_test_SOURCES = tests/tree/bounded_test.c $(TREE_WORLD)
tests_tree_bounded_test_LDADD = libhcct_tree.a libhcct_common.a

tests_tree_zones_test_SOURCES = tests/tree/zones_test.c $(TREE_WORLD)
tests_tree_zones_test_LDADD = libhcct_tree.a libhcct_common.a

# What is shown of trees, from the stream to the file.
check_PROGRAMS += tests/tree/truth_test
TESTS += tests/tree/truth_test
tests_tree_truth_test_SOURCES = \
	daemon/state/checkpoint_fields.c daemon/state/checkpoint_fields.h \
	daemon/state/checkpoint_file.c daemon/state/checkpoint_file.h \
	daemon/state/checkpoint_format.h \
	daemon/state/checkpoint_load.c daemon/state/checkpoint_load.h \
	daemon/state/checkpoint_save.c daemon/state/checkpoint_save.h \
	tests/daemon/shown.c tests/daemon/shown.h \
	tests/tree/truth_test.c \
	$(TREE_WORLD)
tests_tree_truth_test_LDADD = libhcct_assemble.a $(INGEST_TEST_LIBS)
tests_tree_truth_test_LDFLAGS = -pthread
