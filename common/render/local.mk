# The formats that a profile is written in and read from.
noinst_LIBRARIES += libhcct_render.a
libhcct_render_a_SOURCES = \
	common/render/annotate_json.c \
	common/render/annotate_text.c \
	common/render/call_graph.c common/render/call_graph.h \
	common/render/chance_json.c common/render/chance_json.h \
	common/render/diff_json.c \
	common/render/diff_text.c \
	common/render/dot_choose.c common/render/dot_choose.h \
	common/render/eval_json.c \
	common/render/eval_text.c \
	common/render/firefox_shared.c \
	common/render/firefox_tables.c common/render/firefox_tables.h \
	common/render/format.c common/render/format.h \
	common/render/format_number.c common/render/format_number.h \
	common/render/format_read.c \
	common/render/page_data.c common/render/page_data.h \
	common/render/page_facts.c common/render/page_facts.h \
	common/render/page_order.c common/render/page_order.h \
	common/render/page_overview.c common/render/page_overview.h \
	common/render/pprof_comments.c common/render/pprof_comments.h \
	common/render/pprof_join.c common/render/pprof_join.h \
	common/render/pprof_message.h \
	common/render/pprof_message_read.c \
	common/render/read_otlp.c \
	common/render/read_pprof.c \
	common/render/render_order.c common/render/render_order.h \
	common/render/results.h \
	common/render/text.h \
	common/render/text_call_modules.c \
	common/render/text_calls.c \
	common/render/text_cells.c \
	common/render/text_choose.c common/render/text_choose.h \
	common/render/text_layout.c \
	common/render/text_missing.c \
	common/render/text_processes.c \
	common/render/text_sampling.c \
	common/render/text_summary.c \
	common/render/text_table.c \
	common/render/text_tree.c \
	common/render/text_wrap.c common/render/text_wrap.h \
	common/render/title.c common/render/title.h \
	common/render/write_callgrind.c \
	common/render/write_dot.c \
	common/render/write_firefox.c \
	common/render/write_folded.c \
	common/render/write_html.c common/render/write_html.h \
	common/render/write_json.c \
	common/render/write_otlp.c common/render/write_otlp.h \
	common/render/write_pprof.c \
	common/render/write_speedscope.c \
	common/render/write_text.c

nodist_libhcct_render_a_SOURCES = \
	common/render/otlp.pb-c.c \
	common/render/otlp.pb-c.h \
	common/render/page/page.inc \
	common/render/profile.pb-c.c \
	common/render/profile.pb-c.h

BUILT_SOURCES += common/render/otlp.pb-c.h common/render/profile.pb-c.h
CLEANFILES += common/render/otlp.pb-c.c common/render/otlp.pb-c.h \
	common/render/profile.pb-c.c common/render/profile.pb-c.h
EXTRA_DIST += common/render/otlp.proto common/render/profile.proto

common/render/profile.pb-c.c: $(srcdir)/common/render/profile.proto
	$(AM_V_GEN)$(MKDIR_P) common/render && \
	$(PROTOC_C) --proto_path=$(srcdir)/common/render --c_out=$(builddir)/common/render \
		$(srcdir)/common/render/profile.proto

common/render/otlp.pb-c.c: $(srcdir)/common/render/otlp.proto
	$(AM_V_GEN)$(MKDIR_P) common/render && \
	$(PROTOC_C) --proto_path=$(srcdir)/common/render --c_out=$(builddir)/common/render \
		$(srcdir)/common/render/otlp.proto

# one command makes both
common/render/profile.pb-c.h: common/render/profile.pb-c.c
	@test -f $@ || { rm -f $<; $(MAKE) $(AM_MAKEFLAGS) $<; }

common/render/otlp.pb-c.h: common/render/otlp.pb-c.c
	@test -f $@ || { rm -f $<; $(MAKE) $(AM_MAKEFLAGS) $<; }

# The HTML page: scripts in the order in which they stand in it.
page_scripts = \
	common/render/page/format.js \
	common/render/page/parts.js \
	common/render/page/room.js \
	common/render/page/data.js \
	common/render/page/overview.js \
	common/render/page/tree.js \
	common/render/page/functions.js \
	common/render/page/transform.js \
	common/render/page/state.js \
	common/render/page/search.js \
	common/render/page/theme.js \
	common/render/page/labels.js \
	common/render/page/layout.js \
	common/render/page/draw.js \
	common/render/page/detail.js \
	common/render/page/header.js \
	common/render/page/table.js \
	common/render/page/view.js \
	common/render/page/pointer.js \
	common/render/page/keys.js \
	common/render/page/metrics.js \
	common/render/page/strip.js \
	common/render/page/live.js \
	common/render/page/main.js
page_parts = common/render/page/page.html common/render/page/page.css $(page_scripts)

BUILT_SOURCES += common/render/page/page.inc
CLEANFILES += common/render/page/page.inc
EXTRA_DIST += common/render/page/embed.sh $(page_parts)

common/render/page/page.inc: common/render/page/embed.sh $(page_parts)
	$(AM_V_GEN)$(MKDIR_P) common/render/page && dir='$(abs_top_builddir)' && cd $(srcdir) && \
	$(SHELL) common/render/page/embed.sh $(page_parts) >"$$dir/$@.new" && \
	mv "$$dir/$@.new" "$$dir/$@"

common/render/write_html.$(OBJEXT): common/render/page/page.inc
