# hcct, the command that people type.
# Attaching writes registers and the frame of a signal.
if HCCT_X86_64
ATTACH_SOURCES = \
	client/attach/call.c client/attach/call.h \
	client/attach/inject.c \
	client/attach/point.c client/attach/point.h \
	client/attach/stop.c client/attach/stop.h \
	client/attach/walk.c client/attach/walk.h \
	client/attach/walker.c client/attach/walker.h
else
ATTACH_SOURCES = client/attach/inject_nowhere.c
endif
# The screen of hot contexts, whoever is asked for them.
TOP_SOURCES = \
	client/top/actions.c client/top/actions.h \
	client/top/batch.c client/top/batch.h \
	client/top/cells.c client/top/cells.h \
	client/top/client.c client/top/client.h \
	client/top/file.c client/top/file.h \
	client/top/head.c client/top/head.h \
	client/top/ids.c client/top/ids.h \
	client/top/keys.c client/top/keys.h \
	client/top/kinds.c client/top/kinds.h \
	client/top/loop.c client/top/loop.h \
	client/top/model.c client/top/model.h \
	client/top/panels.c client/top/panels.h \
	client/top/rows.c client/top/rows.h \
	client/top/screen.c client/top/screen.h \
	client/top/shape.c client/top/shape.h \
	client/top/steps.c client/top/steps.h \
	client/top/strip.c client/top/strip.h \
	client/top/terminal.c client/top/terminal.h \
	client/top/text.c client/top/text.h \
	client/top/threads.c client/top/threads.h \
	client/top/tree.c client/top/tree.h \
	client/top/ui.c client/top/ui.h
bin_PROGRAMS += client/hcct
client_hcct_SOURCES = \
	client/ask.c client/ask.h \
	client/attach/attach.c client/attach/attach.h \
	client/attach/code.c client/attach/code.h \
	client/attach/filter.c client/attach/filter.h \
	client/attach/image.c client/attach/image.h \
	client/attach/inject.h \
	client/attach/inject_words.c \
	client/attach/judge.c client/attach/judge.h \
	client/attach/named.c client/attach/named.h \
	client/attach/sight.c client/attach/sight.h \
	client/attach/target.c client/attach/target.h \
	client/attach/waiting.c client/attach/waiting.h \
	client/command.h \
	client/command_line.c client/command_line.h \
	client/commands/annotate.c \
	client/commands/attach.c \
	client/commands/call_files.c client/commands/call_files.h \
	client/commands/control.c \
	client/commands/decode.c \
	client/commands/diff.c \
	client/commands/doctor.c client/commands/doctor.h \
	client/commands/doctor_calls.c \
	client/commands/doctor_machine.c \
	client/commands/doctor_parts.c \
	client/commands/doctor_process.c \
	client/commands/doctor_program.c \
	client/commands/encode.c \
	client/commands/encode_functions.c client/commands/encode_functions.h \
	client/commands/encode_trace.c client/commands/encode_trace.h \
	client/commands/encode_write.c \
	client/commands/eval.c \
	client/commands/hot.c \
	client/commands/launch.c client/commands/launch.h \
	client/commands/list.c \
	client/commands/merge.c \
	client/commands/no_agent.c client/commands/no_agent.h \
	client/commands/open.c client/commands/open.h \
	client/commands/node_logs.c client/commands/node_logs.h \
	client/commands/perf_maps.c client/commands/perf_maps.h \
	client/commands/written_since.h \
	client/commands/private_daemon.c client/commands/private_daemon.h \
	client/commands/record.c \
	client/commands/record_attached.c client/commands/record_attached.h \
	client/commands/record_options.c client/commands/record_options.h \
	client/commands/record_seen.c client/commands/record_seen.h \
	client/commands/remote.c \
	client/commands/replay.c \
	client/commands/replay_trace.c client/commands/replay_trace.h \
	client/commands/report.c \
	client/commands/runtime_names.c client/commands/runtime_names.h \
	client/commands/snapshot.c \
	client/commands/top.c \
	client/diff_limit.c client/diff_limit.h \
	client/diff_output.c client/diff_output.h \
	client/http_client.c client/http_client.h \
	client/json_in.c client/json_in.h \
	client/locate.c client/locate.h \
	client/main.c \
	client/mark_rows.c client/mark_rows.h \
	client/merge_metrics.c client/merge_metrics.h \
	client/metric_answers.c client/metric_answers.h \
	client/operand.c client/operand.h \
	client/option_words.c client/option_words.h \
	client/output.c client/output.h \
	client/pager.c client/pager.h \
	client/processes.c client/processes.h \
	client/profile_file.c client/profile_file.h \
	client/profile_output.c client/profile_output.h \
	client/program_file.c client/program_file.h \
	client/range.c client/range.h \
	$(TOP_SOURCES) \
	client/top/daemon.c client/top/daemon.h \
	client/transform_options.c client/transform_options.h \
	client/view.c client/view.h \
	$(ATTACH_SOURCES)
client_hcct_CPPFLAGS = $(AM_CPPFLAGS) -DPKGLIBDIR='"$(pkglibdir)"' -DPKGLIBEXECDIR='"$(pkglibexecdir)"' -DBINDIR='"$(bindir)"' \
	$(NCURSESW_CFLAGS)
client_hcct_LDADD = libhcct_encode.a libhcct_assemble.a libhcct_trace.a libhcct_tree.a libhcct_code.a libhcct_render.a libhcct_profile.a \
	libhcct_common.a $(REPORT_LIBS) $(ELF_LIBS) $(UNWIND_LIBS) $(IBERTY_LIBS) $(ZSTD_LIBS) $(NCURSESW_LIBS)

# What speaks to other machines, for hcct push and hcct fleet.
EXTRA_DIST += client/remote/push.proto
if HCCT_CURL
pkglibexec_PROGRAMS += client/remote/hcct-remote
BUILT_SOURCES += client/remote/push.pb-c.h
endif
CLEANFILES += client/remote/push.pb-c.c client/remote/push.pb-c.h
client_remote_hcct_remote_SOURCES = \
	client/ask.c client/ask.h \
	client/diff_limit.c client/diff_limit.h \
	client/diff_output.c client/diff_output.h \
	client/http_client.c client/http_client.h \
	client/json_in.c client/json_in.h \
	client/option_words.c client/option_words.h \
	client/output.c client/output.h \
	client/pager.c client/pager.h \
	client/processes.c client/processes.h \
	client/profile_file.c client/profile_file.h \
	client/profile_output.c client/profile_output.h \
	client/program_file.c client/program_file.h \
	client/remote/chance_row.c client/remote/chance_row.h \
	client/remote/clickhouse.c client/remote/clickhouse.h \
	client/remote/collect.c client/remote/collect.h \
	client/remote/fleet.c \
	client/remote/fleet_hours.c client/remote/fleet_hours.h \
	client/remote/fleet_list.c \
	client/remote/fleet_options.c client/remote/fleet_options.h \
	client/remote/fleet_profile.c \
	client/remote/fleet_query.c client/remote/fleet_query.h \
	client/remote/fleet_source.c client/remote/fleet_source.h \
	client/remote/fleet_split.c client/remote/fleet_split.h \
	client/remote/fleet_top.c client/remote/fleet_top.h \
	client/remote/fleet_totals.c \
	client/remote/main.c \
	client/remote/push.c \
	client/remote/remote.h \
	client/remote/schema.c \
	client/remote/sent_stacks.c client/remote/sent_stacks.h \
	client/remote/series.c client/remote/series.h \
	client/remote/span.c client/remote/span.h \
	client/remote/spool.c client/remote/spool.h \
	client/remote/stack_read.c \
	client/remote/stack_row.c client/remote/stack_row.h \
	client/remote/target.c client/remote/target.h \
	client/remote/target_clickhouse.c \
	client/remote/target_otlp.c \
	client/remote/target_parca.c \
	client/remote/target_pyroscope.c \
	client/remote/transfer.c client/remote/transfer.h \
	$(TOP_SOURCES) \
	client/view.c client/view.h
nodist_client_remote_hcct_remote_SOURCES = client/remote/push.pb-c.c client/remote/push.pb-c.h
client_remote_hcct_remote_CPPFLAGS = $(AM_CPPFLAGS) $(CURL_CFLAGS) $(NCURSESW_CFLAGS)
client_remote_hcct_remote_LDADD = libhcct_render.a libhcct_profile.a libhcct_common.a \
	$(CURL_LIBS) $(REPORT_LIBS) $(NCURSESW_LIBS)

client/remote/push.pb-c.c: $(srcdir)/client/remote/push.proto
	$(AM_V_GEN)$(MKDIR_P) client/remote && \
	$(PROTOC_C) --proto_path=$(srcdir)/client/remote --c_out=$(builddir)/client/remote \
		$(srcdir)/client/remote/push.proto

# one command makes both
client/remote/push.pb-c.h: client/remote/push.pb-c.c
	@test -f $@ || { rm -f $<; $(MAKE) $(AM_MAKEFLAGS) $<; }
