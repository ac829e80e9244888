# Tests of the reporting side.

check_PROGRAMS += \
	tests/report/annotate_test \
	tests/report/call_modules_test \
	tests/report/chance_crowd_test \
	tests/report/chance_lives_test \
	tests/report/chance_test \
	tests/report/choose_test \
	tests/report/diff_blocks_test \
	tests/report/diff_test \
	tests/report/eval_test \
	tests/report/filter_test \
	tests/report/merge_test \
	tests/report/graph_test \
	tests/report/otlp_test \
	tests/report/pprof_test \
	tests/report/profile_test \
	tests/report/render_order_test \
	tests/report/since_test \
	tests/report/text_summary_test \
	tests/report/text_test \
	tests/report/pprof_join_test \
	tests/report/title_test \
	tests/report/transform_test \
	tests/report/write_sample \
	tests/report/writers_test

tests_report_call_modules_test_SOURCES = tests/report/call_modules_test.c tests/check.h
tests_report_call_modules_test_LDADD = libhcct_profile.a libhcct_common.a

tests_report_chance_crowd_test_SOURCES = \
	preload/sample/draw.c \
	preload/sample/interval.c \
	preload/sample/points.c \
	tests/check.h \
	tests/report/chance_trial.h \
	tests/report/chance_crowd_test.c
tests_report_chance_crowd_test_LDADD = libhcct_tree.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS)

tests_report_chance_lives_test_SOURCES = \
	preload/sample/draw.c \
	preload/sample/interval.c \
	preload/sample/points.c \
	tests/check.h \
	tests/report/chance_trial.h \
	tests/report/chance_lives_test.c
tests_report_chance_lives_test_LDADD = libhcct_tree.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS)

tests_report_chance_test_SOURCES = \
	preload/sample/draw.c \
	preload/sample/interval.c \
	preload/sample/points.c \
	tests/check.h \
	tests/report/chance_trial.h \
	tests/report/chance_test.c
tests_report_chance_test_LDADD = libhcct_tree.a libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS)

tests_report_choose_test_SOURCES = tests/report/choose_test.c tests/report/forest.c \
	tests/report/forest.h tests/check.h
tests_report_choose_test_LDADD = libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS)

tests_report_diff_blocks_test_SOURCES = tests/report/diff_blocks_test.c tests/report/forest.c \
	tests/report/forest.h tests/check.h
tests_report_diff_blocks_test_LDADD = libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS)

tests_report_diff_test_SOURCES = tests/report/diff_test.c tests/report/forest.c \
	tests/report/forest.h tests/check.h
tests_report_diff_test_LDADD = libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS)

tests_report_merge_test_SOURCES = tests/report/merge_test.c tests/report/forest.c \
	tests/report/forest.h tests/check.h
tests_report_merge_test_LDADD = libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS)

tests_report_since_test_SOURCES = tests/report/since_test.c tests/report/forest.c \
	tests/report/forest.h tests/check.h
tests_report_since_test_LDADD = libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS)

tests_report_eval_test_SOURCES = \
	tests/check.h \
	tests/report/eval_test.c \
	tests/report/sample.c tests/report/sample.h \
	tests/report/sample_calls.c
tests_report_eval_test_LDADD = libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS)

tests_report_filter_test_SOURCES = \
	tests/check.h \
	tests/report/filter_test.c \
	tests/report/sample.c tests/report/sample.h \
	tests/report/sample_calls.c
tests_report_filter_test_LDADD = libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS)

tests_report_graph_test_SOURCES = \
	tests/check.h \
	tests/report/graph_test.c \
	tests/report/sample.c tests/report/sample.h \
	tests/report/sample_calls.c \
	tests/report/sample_hard.c
tests_report_graph_test_LDADD = libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS)

tests_report_annotate_test_SOURCES = \
	tests/check.h \
	tests/report/annotate_test.c \
	tests/report/sample.c tests/report/sample.h \
	tests/report/sample_calls.c
tests_report_annotate_test_LDADD = libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS)

tests_report_otlp_test_SOURCES = \
	tests/check.h \
	tests/report/otlp_test.c \
	tests/report/sample.c tests/report/sample.h \
	tests/report/sample_calls.c \
	tests/report/sample_dump.c
tests_report_otlp_test_LDADD = libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS)

tests_report_pprof_test_SOURCES = \
	tests/check.h \
	tests/report/pprof_test.c \
	tests/report/sample.c tests/report/sample.h \
	tests/report/sample_calls.c \
	tests/report/sample_dump.c
tests_report_pprof_test_LDADD = libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS)

tests_report_profile_test_SOURCES = \
	tests/check.h \
	tests/report/profile_test.c \
	tests/report/sample.c tests/report/sample.h \
	tests/report/sample_calls.c
tests_report_profile_test_LDADD = libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS)

tests_report_render_order_test_SOURCES = \
	tests/check.h \
	tests/report/render_order_test.c \
	tests/report/sample.c tests/report/sample.h \
	tests/report/sample_calls.c \
	tests/report/sample_hard.c
tests_report_render_order_test_LDADD = libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS)

tests_report_text_summary_test_SOURCES = \
	tests/check.h \
	tests/report/sample.c tests/report/sample.h \
	tests/report/sample_calls.c \
	tests/report/text_report.h \
	tests/report/text_summary_test.c
tests_report_text_summary_test_LDADD = libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS)

tests_report_text_test_SOURCES = \
	tests/check.h \
	tests/report/sample.c tests/report/sample.h \
	tests/report/sample_calls.c \
	tests/report/text_report.h \
	tests/report/text_test.c
tests_report_text_test_LDADD = libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS)

tests_report_pprof_join_test_SOURCES = tests/report/pprof_join_test.c tests/check.h
tests_report_pprof_join_test_LDADD = libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS)

tests_report_title_test_SOURCES = tests/report/title_test.c tests/check.h
tests_report_title_test_LDADD = libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS)

tests_report_write_sample_SOURCES = \
	tests/report/sample.c tests/report/sample.h \
	tests/report/sample_calls.c \
	tests/report/sample_hard.c \
	tests/report/write_sample.c
tests_report_write_sample_LDADD = libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS)

tests_report_writers_test_SOURCES = \
	tests/check.h \
	tests/report/forest.c tests/report/forest.h \
	tests/report/sample.c tests/report/sample.h \
	tests/report/sample_calls.c \
	tests/report/sample_hard.c \
	tests/report/writers_test.c
tests_report_writers_test_LDADD = libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS)

TESTS += \
	tests/report/call_modules_test \
	tests/report/annotate_test \
	tests/report/chance_crowd_test \
	tests/report/chance_lives_test \
	tests/report/chance_test \
	tests/report/choose_test \
	tests/report/diff_blocks_test \
	tests/report/diff_test \
	tests/report/eval_test \
	tests/report/filter_test \
	tests/report/merge_test \
	tests/report/graph_test \
	tests/report/otlp_test \
	tests/report/pprof_test \
	tests/report/profile_test \
	tests/report/otlp_rules_test.py \
	tests/report/readers_test.py \
	tests/report/render_order_test \
	tests/report/since_test \
	tests/report/text_summary_test \
	tests/report/text_test \
	tests/report/pprof_join_test \
	tests/report/title_test \
	tests/report/transform_test \
	tests/report/writers_test

dist_check_SCRIPTS += tests/report/otlp_rules_test.py tests/report/readers_test.py

EXTRA_DIST += \
	tests/report/otlp_rules.py \
	tests/report/prototext.py \
	tests/report/readers.py \
	tests/report/golden/build.txt \
	tests/report/golden/call-bursts.txt \
	tests/report/golden/calls-narrow.txt \
	tests/report/golden/calls.txt \
	tests/report/golden/deep.txt \
	tests/report/golden/names.txt \
	tests/report/golden/shell-ascii.txt \
	tests/report/golden/shell-color.txt \
	tests/report/golden/shell-line.txt \
	tests/report/golden/shell-module.txt \
	tests/report/golden/shell.txt \
	tests/report/golden/stripped.txt

tests_report_transform_test_SOURCES = tests/report/transform_test.c tests/report/sample_hard.c tests/report/sample.c tests/report/sample.h
tests_report_transform_test_LDADD = libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS)
