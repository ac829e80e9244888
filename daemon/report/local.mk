# The reporting side: the neutral profile, its readers and writers.

noinst_LIBRARIES += libhcct_report.a

libhcct_report_a_SOURCES = \
	daemon/report/annotate.c daemon/report/annotate.h \
	daemon/report/annotate_json.c daemon/report/annotate_text.c \
	daemon/report/call_graph.c daemon/report/call_graph.h \
	daemon/report/copy.c daemon/report/copy.h \
	daemon/report/diff.c daemon/report/diff.h \
	daemon/report/diff_bounds.c \
	daemon/report/diff_join.c daemon/report/diff_join.h \
	daemon/report/diff_json.c \
	daemon/report/diff_judge.h \
	daemon/report/diff_mode.c \
	daemon/report/diff_order.c \
	daemon/report/diff_rise.c \
	daemon/report/diff_text.c \
	daemon/report/dot_choose.c daemon/report/dot_choose.h \
	daemon/report/eval.c daemon/report/eval.h \
	daemon/report/filter.c daemon/report/filter.h \
	daemon/report/filter_size.c daemon/report/filter_size.h \
	daemon/report/eval_entries.c daemon/report/eval_entries.h \
	daemon/report/eval_join.c daemon/report/eval_join.h \
	daemon/report/eval_json.c \
	daemon/report/eval_processes.c daemon/report/eval_processes.h \
	daemon/report/eval_text.c \
	daemon/report/firefox_shared.c \
	daemon/report/firefox_tables.c daemon/report/firefox_tables.h \
	daemon/report/format.c daemon/report/format.h \
	daemon/report/group.c \
	daemon/report/gzip.c daemon/report/gzip.h \
	daemon/report/human.c daemon/report/human.h \
	daemon/report/intern.c daemon/report/intern.h \
	daemon/report/json_out.c daemon/report/json_out.h \
	daemon/report/chance.c daemon/report/chance.h \
	daemon/report/chance_json.c daemon/report/chance_json.h \
	daemon/report/memory.c daemon/report/memory.h \
	daemon/report/merge.c daemon/report/merge.h \
	daemon/report/page_data.c daemon/report/page_data.h \
	daemon/report/page_facts.c daemon/report/page_facts.h \
	daemon/report/pprof_comments.c daemon/report/pprof_comments.h \
	daemon/report/process_fields.c daemon/report/process_fields.h \
	daemon/report/profile.c daemon/report/profile.h \
	daemon/report/bounds.c \
	daemon/report/bounds.h \
	daemon/report/prune.c \
	daemon/report/read_pprof.c \
	daemon/report/shorten.c daemon/report/shorten.h \
	daemon/report/stacks.c daemon/report/stacks.h \
	daemon/report/text.h \
	daemon/report/text_calls.c \
	daemon/report/text_cells.c \
	daemon/report/text_choose.c daemon/report/text_choose.h \
	daemon/report/text_layout.c \
	daemon/report/text_processes.c \
	daemon/report/text_summary.c \
	daemon/report/text_table.c \
	daemon/report/text_tree.c \
	daemon/report/text_wrap.c daemon/report/text_wrap.h \
	daemon/report/title.c daemon/report/title.h \
	daemon/report/tree_view.c daemon/report/tree_view.h \
	daemon/report/write_callgrind.c \
	daemon/report/write_dot.c \
	daemon/report/write_firefox.c \
	daemon/report/write_folded.c \
	daemon/report/write_html.c daemon/report/write_html.h \
	daemon/report/write_json.c \
	daemon/report/write_pprof.c \
	daemon/report/write_speedscope.c \
	daemon/report/write_text.c

nodist_libhcct_report_a_SOURCES = \
	daemon/report/page/page.inc \
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

# The HTML page: scripts in the order in which they stand in it.
page_scripts = \
	daemon/report/page/format.js \
	daemon/report/page/data.js \
	daemon/report/page/tree.js \
	daemon/report/page/functions.js \
	daemon/report/page/search.js \
	daemon/report/page/theme.js \
	daemon/report/page/labels.js \
	daemon/report/page/layout.js \
	daemon/report/page/draw.js \
	daemon/report/page/detail.js \
	daemon/report/page/header.js \
	daemon/report/page/table.js \
	daemon/report/page/view.js \
	daemon/report/page/pointer.js \
	daemon/report/page/keys.js \
	daemon/report/page/live.js \
	daemon/report/page/main.js
page_parts = daemon/report/page/page.html daemon/report/page/page.css $(page_scripts)

BUILT_SOURCES += daemon/report/page/page.inc
CLEANFILES += daemon/report/page/page.inc
EXTRA_DIST += daemon/report/page/embed.sh $(page_parts)

daemon/report/page/page.inc: daemon/report/page/embed.sh $(page_parts)
	$(AM_V_GEN)$(MKDIR_P) daemon/report/page && dir='$(abs_top_builddir)' && cd $(srcdir) && \
	$(SHELL) daemon/report/page/embed.sh $(page_parts) >"$$dir/$@.new" && \
	mv "$$dir/$@.new" "$$dir/$@"

daemon/report/write_html.$(OBJEXT): daemon/report/page/page.inc
