# hcctd: the rooms below daemon/, wired together.
bin_PROGRAMS += daemon/hcctd
daemon_hcctd_SOURCES = \
	daemon/agent_frames.c daemon/agent_frames.h daemon/answer_stream.c daemon/answer_stream.h daemon/activation.c daemon/activation.h daemon/control.c daemon/control.h \
	daemon/checkpoint.c daemon/checkpoint.h daemon/checkpoint_fields.c daemon/checkpoint_fields.h \
	daemon/checkpoint_file.c daemon/checkpoint_file.h daemon/checkpoint_format.h \
	daemon/checkpoint_load.c daemon/checkpoint_load.h daemon/checkpoint_save.c \
	daemon/checkpoint_save.h \
	daemon/http_jobs.c daemon/http_jobs.h daemon/http_peers.c daemon/http_peers.h daemon/http_tcp.c daemon/http_tcp.h daemon/http_wait.c daemon/http_wait.h \
	daemon/metrics.c daemon/metrics.h daemon/notify.c daemon/notify.h \
	daemon/query_pprof.c daemon/query_pprof.h daemon/tree_delta.c daemon/tree_delta.h \
	daemon/config.h daemon/door.c daemon/door.h daemon/freeze.c daemon/freeze.h \
	daemon/free.c daemon/freeze_tree.c daemon/freeze_tree.h \
	daemon/hcctd.c daemon/http.c daemon/http.h daemon/listener.c daemon/listener.h \
	daemon/query.c daemon/query.h daemon/query_list.c daemon/query_threads.c daemon/query_threads.h daemon/recording.c daemon/recording.h daemon/snapshot.c daemon/snapshot.h \
	daemon/symbols.c daemon/symbols.h daemon/tree_copy.c daemon/tree_copy.h
daemon_hcctd_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=free
daemon_hcctd_LDADD = libhcct_ingest.a libhcct_trace.a libhcct_tree.a libhcct_code.a libhcct_report.a \
	libhcct_common.a $(MHD_LIBS) $(ELF_LIBS) $(UNWIND_LIBS) $(IBERTY_LIBS) $(REPORT_LIBS) $(ZSTD_LIBS)
