# hcct, the command that people type.
bin_PROGRAMS += client/hcct
client_hcct_SOURCES = \
	client/ask.c client/ask.h \
	client/cmd_hot.c \
	client/cmd_list.c \
	client/cmd_record.c \
	client/cmd_report.c \
	client/cmd_snapshot.c \
	client/command.h \
	client/http_client.c client/http_client.h \
	client/launch.c client/launch.h \
	client/locate.c client/locate.h \
	client/main.c \
	client/no_agent.c client/no_agent.h \
	client/output.c client/output.h \
	client/private_daemon.c client/private_daemon.h \
	client/processes.c client/processes.h \
	client/profile_file.c client/profile_file.h \
	client/view.c client/view.h
client_hcct_CPPFLAGS = $(AM_CPPFLAGS) -DPKGLIBDIR='"$(pkglibdir)"' -DBINDIR='"$(bindir)"'
client_hcct_LDADD = libhcct_report.a libhcct_common.a $(REPORT_LIBS)
