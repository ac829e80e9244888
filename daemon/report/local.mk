# The reporting side: the neutral profile, its readers and writers.

noinst_LIBRARIES += libhcct_report.a

libhcct_report_a_SOURCES = \
	daemon/report/copy.c daemon/report/copy.h \
	daemon/report/eval.c daemon/report/eval.h \
	daemon/report/eval_entries.c daemon/report/eval_entries.h \
	daemon/report/eval_join.c daemon/report/eval_join.h \
	daemon/report/eval_json.c \
	daemon/report/eval_processes.c daemon/report/eval_processes.h \
	daemon/report/eval_text.c \
	daemon/report/format.c daemon/report/format.h \
	daemon/report/group.c \
	daemon/report/gzip.c daemon/report/gzip.h \
	daemon/report/human.c daemon/report/human.h \
	daemon/report/intern.c daemon/report/intern.h \
	daemon/report/memory.c daemon/report/memory.h \
	daemon/report/pprof_comments.c daemon/report/pprof_comments.h \
	daemon/report/process_fields.c daemon/report/process_fields.h \
	daemon/report/profile.c daemon/report/profile.h \
	daemon/report/prune.c \
	daemon/report/read_pprof.c \
	daemon/report/shorten.c daemon/report/shorten.h \
	daemon/report/text.h \
	daemon/report/text_calls.c \
	daemon/report/text_summary.c \
	daemon/report/text_table.c \
	daemon/report/text_tree.c \
	daemon/report/tree_view.c daemon/report/tree_view.h \
	daemon/report/utf8.c daemon/report/utf8.h \
	daemon/report/write_folded.c \
	daemon/report/write_json.c \
	daemon/report/write_pprof.c \
	daemon/report/write_text.c

nodist_libhcct_report_a_SOURCES = \
	daemon/report/profile.pb-c.c \
	daemon/report/profile.pb-c.h

BUILT_SOURCES += daemon/report/profile.pb-c.h
CLEANFILES += daemon/report/profile.pb-c.c daemon/report/profile.pb-c.h
EXTRA_DIST += daemon/report/profile.proto

daemon/report/profile.pb-c.c: $(srcdir)/daemon/report/profile.proto
	$(AM_V_GEN)$(MKDIR_P) daemon/report && \
	$(PROTOC_C) --proto_path=$(srcdir)/daemon/report --c_out=$(builddir)/daemon/report \
		$(srcdir)/daemon/report/profile.proto

# one command makes both
daemon/report/profile.pb-c.h: daemon/report/profile.pb-c.c
	@test -f $@ || { rm -f $<; $(MAKE) $(AM_MAKEFLAGS) $<; }
