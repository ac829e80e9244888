# hcct, the command that people type.
# Attaching writes registers and the frame of a signal.
if HCCT_X86_64
ATTACH_SOURCES = client/attach/call.c client/attach/call.h client/attach/inject.c \
	client/attach/point.c client/attach/point.h client/attach/walk.c client/attach/walk.h
else
ATTACH_SOURCES = client/attach/inject_nowhere.c
endif
bin_PROGRAMS += client/hcct
client_hcct_SOURCES = \
	client/ask.c client/ask.h client/attach/code.c \
	client/attach/code.h client/attach/image.c client/attach/image.h $(ATTACH_SOURCES) \
	client/attach/inject.h client/attach/inject_words.c client/attach/stop.c \
	client/attach/stop.h client/attach/target.c client/attach/target.h client/command.h client/command_line.c client/command_line.h \
	client/http_client.c client/http_client.h client/json_in.c client/json_in.h \
	client/locate.c client/locate.h client/main.c \
	client/operand.c client/operand.h client/output.c client/output.h client/pager.c \
	client/pager.h client/processes.c client/processes.h client/profile_file.c \
	client/profile_file.h client/program_file.c client/program_file.h client/view.c \
	client/view.h client/attach/attach.c client/attach/attach.h client/attach/judge.c \
	client/attach/judge.h client/commands/annotate.c client/commands/attach.c client/commands/call_files.c \
	client/commands/call_files.h client/commands/control.c client/commands/diff.c \
	client/commands/doctor.c client/commands/doctor.h client/commands/doctor_calls.c \
	client/commands/doctor_machine.c \
	client/commands/doctor_parts.c client/commands/doctor_process.c client/commands/doctor_program.c client/commands/eval.c \
	client/commands/hot.c \
	client/commands/launch.c client/commands/launch.h client/commands/list.c \
	client/commands/merge.c client/commands/no_agent.c client/commands/no_agent.h \
	client/commands/open.c client/commands/open.h client/commands/private_daemon.c \
	client/commands/private_daemon.h client/commands/record.c \
	client/commands/record_attached.c client/commands/record_attached.h \
	client/commands/record_options.c client/commands/record_options.h \
	client/commands/replay.c client/commands/replay_trace.c client/commands/replay_trace.h \
	client/commands/report.c client/commands/snapshot.c client/commands/top.c \
	client/top/actions.c client/top/actions.h client/top/client.c client/top/client.h \
	client/top/batch.c client/top/batch.h client/top/cells.c client/top/cells.h \
	client/top/file.c client/top/file.h client/top/head.c client/top/head.h client/top/ids.c \
	client/top/ids.h client/top/keys.c client/top/keys.h client/top/loop.c client/top/loop.h \
	client/top/model.c client/top/model.h client/top/panels.c client/top/panels.h \
	client/top/rows.c client/top/rows.h client/top/screen.c client/top/screen.h \
	client/top/shape.c client/top/shape.h client/top/terminal.c client/top/terminal.h \
	client/top/text.c client/top/text.h client/top/threads.c client/top/threads.h \
	client/top/tree.c client/top/tree.h client/top/ui.c client/top/ui.h
client_hcct_CPPFLAGS = $(AM_CPPFLAGS) -DPKGLIBDIR='"$(pkglibdir)"' -DBINDIR='"$(bindir)"' \
	$(NCURSESW_CFLAGS)
client_hcct_LDADD = libhcct_assemble.a libhcct_trace.a libhcct_tree.a libhcct_code.a libhcct_render.a libhcct_profile.a \
	libhcct_common.a $(REPORT_LIBS) $(ELF_LIBS) $(UNWIND_LIBS) $(IBERTY_LIBS) $(ZSTD_LIBS) $(NCURSESW_LIBS)
