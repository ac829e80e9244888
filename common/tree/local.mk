# The monitored calling context tree and its summaries: pure, used by the daemon and the client.
noinst_LIBRARIES += libhcct_tree.a
libhcct_tree_a_SOURCES = \
	common/tree/batch.c common/tree/batch.h \
	common/tree/batch_merge.c common/tree/batch_merge.h \
	common/tree/batch_run.c common/tree/batch_run.h \
	common/tree/batch_steps.c \
	common/tree/batch_wait.c \
	common/tree/bucket_list.c \
	common/tree/budget.h \
	common/tree/burst_sums.h \
	common/tree/children.c common/tree/children.h \
	common/tree/correlation.c common/tree/correlation.h \
	common/tree/counters.c common/tree/counters.h \
	common/tree/cursor.c \
	common/tree/draws.h \
	common/tree/poisson.h \
	common/tree/exact.c \
	common/tree/filter.c common/tree/filter.h \
	common/tree/lazy_queue.c common/tree/lazy_queue.h \
	common/tree/life.c \
	common/tree/lossy_counting.c \
	common/tree/mcct.h \
	common/tree/merge.c \
	common/tree/minifloat.h \
	common/tree/node_list.c common/tree/node_list.h \
	common/tree/node_pool.c common/tree/node_pool.h \
	common/tree/packed.c common/tree/packed.h \
	common/tree/packed_begin.c \
	common/tree/packed_sums.c common/tree/packed_sums.h \
	common/tree/path_hash.c common/tree/path_hash.h \
	common/tree/prune.c \
	common/tree/residual.c common/tree/residual.h \
	common/tree/restore.c \
	common/tree/run.c common/tree/run.h \
	common/tree/run_log.c common/tree/run_log.h \
	common/tree/saturating.h \
	common/tree/scatter.c common/tree/scatter.h \
	common/tree/scatter_effects.c common/tree/scatter_effects.h \
	common/tree/scatter_total.c common/tree/scatter_total.h \
	common/tree/space_saving.c \
	common/tree/sticky_sampling.c \
	common/tree/store.c common/tree/store.h \
	common/tree/subwindows.c common/tree/subwindows.h \
	common/tree/summary.c common/tree/summary.h \
	common/tree/tree.h \
	common/tree/tree_copy.c common/tree/tree_copy.h \
	common/tree/tree_delta.c common/tree/tree_delta.h \
	common/tree/walk.c \
	common/tree/zone_sums.c common/tree/zone_sums.h \
	common/tree/zones.c common/tree/zones.h
