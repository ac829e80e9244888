# hcct, the command that people type.
bin_PROGRAMS += client/hcct
client_hcct_SOURCES = \
	client/ask.c client/ask.h \
	client/cmd_doctor.c \
	client/cmd_control.c \
	client/cmd_diff.c \
	client/cmd_annotate.c \
	client/cmd_eval.c \
	client/cmd_hot.c \
	client/cmd_list.c \
	client/cmd_merge.c \
	client/cmd_record.c \
	client/cmd_replay.c \
	client/cmd_report.c \
	client/cmd_snapshot.c \
	client/command.h \
	client/command_line.c \
	client/command_line.h \
	client/doctor.h \
	client/doctor_machine.c \
	client/doctor_parts.c \
	client/doctor_program.c \
	client/http_client.c client/http_client.h \
	client/instrumented.c client/instrumented.h \
	client/launch.c client/launch.h \
	client/locate.c client/locate.h \
	client/main.c \
	client/no_agent.c client/no_agent.h \
	client/operand.c client/operand.h \
	client/open.c client/open.h \
	client/output.c client/output.h \
	client/pager.c client/pager.h \
	client/private_daemon.c client/private_daemon.h \
	client/processes.c client/processes.h \
	client/profile_file.c client/profile_file.h \
	client/replay.c client/replay.h \
	client/program_file.c client/program_file.h \
	client/record_options.c client/record_options.h \
	client/cmd_top.c \
	client/top_actions.c client/top_actions.h \
	client/top_ask.c client/top_ask.h \
	client/top_batch.c client/top_batch.h \
	client/top_cells.c client/top_cells.h \
	client/top_file.c client/top_file.h \
	client/top_head.c client/top_head.h \
	client/top_ids.c client/top_ids.h \
	client/top_keys.c client/top_keys.h \
	client/top_loop.c client/top_loop.h \
	client/top_model.c client/top_model.h \
	client/top_panels.c client/top_panels.h \
	client/top_rows.c client/top_rows.h \
	client/top_screen.c client/top_screen.h \
	client/top_shape.c client/top_shape.h \
	client/top_terminal.c client/top_terminal.h \
	client/top_text.c client/top_text.h \
	client/top_threads.c client/top_threads.h \
	client/top_tree.c client/top_tree.h \
	client/top_ui.c client/top_ui.h \
	client/view.c client/view.h \
	daemon/agent_frames.c daemon/agent_frames.h daemon/freeze_tree.c daemon/freeze_tree.h \
	daemon/symbols.c daemon/symbols.h \
	daemon/tree_copy.c daemon/tree_copy.h
client_hcct_CPPFLAGS = $(AM_CPPFLAGS) -DPKGLIBDIR='"$(pkglibdir)"' -DBINDIR='"$(bindir)"' \
	$(NCURSESW_CFLAGS)
client_hcct_LDADD = libhcct_trace.a libhcct_tree.a libhcct_code.a libhcct_report.a \
	libhcct_common.a $(REPORT_LIBS) $(ELF_LIBS) $(UNWIND_LIBS) $(IBERTY_LIBS) $(ZSTD_LIBS) $(NCURSESW_LIBS)
