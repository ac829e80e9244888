# hcctd: the rooms below daemon/, wired together.
HISTORY_SOURCES = \
	daemon/history/history.c daemon/history/history.h \
	daemon/history/history_add.c daemon/history/history_add.h \
	daemon/history/history_column.c daemon/history/history_column.h \
	daemon/history/history_earlier.c daemon/history/history_earlier.h \
	daemon/history/history_log.c daemon/history/history_log.h \
	daemon/history/history_pack.h \
	daemon/history/history_read.c daemon/history/history_read.h \
	daemon/history/history_sum.c daemon/history/history_sum.h \
	daemon/history/history_words.c daemon/history/history_words.h \
	daemon/history/history_write.c daemon/history/history_write.h \
	daemon/history/process_choice.c daemon/history/process_choice.h
bin_PROGRAMS += daemon/hcctd
daemon_hcctd_SOURCES = \
	daemon/answers/config.h \
	daemon/answers/control.c daemon/answers/control.h \
	daemon/answers/marked.c daemon/answers/marked.h \
	daemon/answers/metrics.c daemon/answers/metrics.h \
	daemon/answers/numbered_copies.c daemon/answers/numbered_copies.h \
	daemon/answers/past.c daemon/answers/past.h \
	daemon/answers/process_copies.c daemon/answers/process_copies.h \
	daemon/answers/query.c daemon/answers/query.h \
	daemon/answers/query_list.c \
	daemon/answers/query_numbers.c daemon/answers/query_numbers.h \
	daemon/answers/query_threads.c daemon/answers/query_threads.h \
	daemon/answers/timeline.c daemon/answers/timeline.h \
	daemon/free.c \
	daemon/hcctd.c \
	daemon/render/descriptors.c daemon/render/descriptors.h \
	daemon/render/render_child.c daemon/render/render_child.h \
	daemon/render/render_counts.c daemon/render/render_counts.h \
	daemon/render/render_protocol.h \
	daemon/render/render_server.c daemon/render/render_server.h \
	daemon/render/render_slots.c daemon/render/render_slots.h \
	daemon/render/renderer.c daemon/render/renderer.h \
	daemon/serve/acceptor.c daemon/serve/acceptor.h \
	daemon/serve/activation.c daemon/serve/activation.h \
	daemon/serve/answer_stream.c daemon/serve/answer_stream.h \
	daemon/serve/http.c daemon/serve/http.h \
	daemon/serve/http_jobs.c daemon/serve/http_jobs.h \
	daemon/serve/http_peers.c daemon/serve/http_peers.h \
	daemon/serve/http_render.c daemon/serve/http_render.h \
	daemon/serve/http_tcp.c daemon/serve/http_tcp.h \
	daemon/serve/http_wait.c daemon/serve/http_wait.h \
	daemon/serve/listener.c daemon/serve/listener.h \
	daemon/serve/notify.c daemon/serve/notify.h \
	daemon/serve/query_pprof.c daemon/serve/query_pprof.h \
	daemon/state/checkpoint.c daemon/state/checkpoint.h \
	daemon/state/checkpoint_fields.c daemon/state/checkpoint_fields.h \
	daemon/state/checkpoint_file.c daemon/state/checkpoint_file.h \
	daemon/state/checkpoint_format.h \
	daemon/state/checkpoint_load.c daemon/state/checkpoint_load.h \
	daemon/state/checkpoint_save.c daemon/state/checkpoint_save.h \
	daemon/state/history_keeper.c daemon/state/history_keeper.h \
	daemon/state/recording.c daemon/state/recording.h \
	daemon/state/snapshot.c daemon/state/snapshot.h \
	daemon/state/snapshot_report.c daemon/state/snapshot_report.h \
	daemon/state/timed_thread.c daemon/state/timed_thread.h \
	$(HISTORY_SOURCES)
daemon_hcctd_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=free
daemon_hcctd_LDADD = libhcct_ingest.a libhcct_assemble.a libhcct_trace.a libhcct_tree.a libhcct_code.a libhcct_render.a libhcct_profile.a \
	libhcct_common.a $(MHD_LIBS) $(ELF_LIBS) $(UNWIND_LIBS) $(IBERTY_LIBS) $(REPORT_LIBS) $(ZSTD_LIBS)

include daemon/ingest/local.mk
