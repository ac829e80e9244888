# The monitored calling context tree and its summaries: pure, used by the daemon and the client.
noinst_LIBRARIES += libhcct_tree.a

libhcct_tree_a_SOURCES = \
	daemon/tree/batch.c daemon/tree/batch.h \
	daemon/tree/batch_merge.c daemon/tree/batch_merge.h \
	daemon/tree/batch_run.c daemon/tree/batch_run.h \
	daemon/tree/brief.h \
	daemon/tree/bucket_list.c \
	daemon/tree/budget.h \
	daemon/tree/children.c daemon/tree/children.h \
	daemon/tree/counters.c daemon/tree/counters.h \
	daemon/tree/cursors.c \
	daemon/tree/exact.c \
	daemon/tree/filter.c daemon/tree/filter.h \
	daemon/tree/lazy_queue.c daemon/tree/lazy_queue.h \
	daemon/tree/lossy_counting.c \
	daemon/tree/mcct.c daemon/tree/mcct.h \
	daemon/tree/merge.c \
	daemon/tree/node_list.c daemon/tree/node_list.h \
	daemon/tree/node_pool.c daemon/tree/node_pool.h \
	daemon/tree/packed.c daemon/tree/packed.h daemon/tree/packed_begin.c \
	daemon/tree/packed_sums.c daemon/tree/packed_sums.h \
	daemon/tree/panes.c daemon/tree/panes.h \
	daemon/tree/path_hash.c daemon/tree/path_hash.h \
	daemon/tree/residual.c daemon/tree/residual.h \
	daemon/tree/restore.c \
	daemon/tree/run.c daemon/tree/run.h \
	daemon/tree/run_log.c daemon/tree/run_log.h \
	daemon/tree/space_saving.c \
	daemon/tree/sticky_sampling.c \
	daemon/tree/store.c daemon/tree/store.h \
	daemon/tree/summary.c daemon/tree/summary.h \
	daemon/tree/tree.h \
	daemon/tree/walk.c \
	daemon/tree/zone_sums.c daemon/tree/zone_sums.h \
	daemon/tree/zones.c daemon/tree/zones.h
