# The neutral profile: bounds, filters, merge, diff, evaluation.
noinst_LIBRARIES += libhcct_profile.a
libhcct_profile_a_SOURCES = \
	common/profile/annotate.c common/profile/annotate.h \
	common/profile/bounds.c common/profile/bounds.h \
	common/profile/call_modules.c common/profile/call_modules.h \
	common/profile/call_words.c common/profile/call_words.h \
	common/profile/chance.c common/profile/chance.h \
	common/profile/context_effects.c common/profile/context_effects.h \
	common/profile/copy.c common/profile/copy.h \
	common/profile/diff.c common/profile/diff.h \
	common/profile/diff_bounds.c \
	common/profile/diff_join.c common/profile/diff_join.h \
	common/profile/diff_judge.h \
	common/profile/diff_loss.c \
	common/profile/diff_mode.c \
	common/profile/diff_order.c \
	common/profile/diff_rise.c \
	common/profile/eval.c common/profile/eval.h \
	common/profile/eval_entries.c common/profile/eval_entries.h \
	common/profile/eval_join.c common/profile/eval_join.h \
	common/profile/eval_processes.c common/profile/eval_processes.h \
	common/profile/filter.c common/profile/filter.h \
	common/profile/group.c \
	common/profile/mark_lines.c common/profile/mark_lines.h \
	common/profile/merge.c common/profile/merge.h \
	common/profile/numbers.c common/profile/numbers.h \
	common/profile/places.c common/profile/places.h \
	common/profile/process_fields.c common/profile/process_fields.h \
	common/profile/profile.c common/profile/profile.h \
	common/profile/profile_contexts.c common/profile/profile_contexts.h \
	common/profile/profile_image.c common/profile/profile_image.h \
	common/profile/profile_index.h \
	common/profile/prune.c \
	common/profile/since.c common/profile/since.h \
	common/profile/stacks.c common/profile/stacks.h \
	common/profile/transform.c common/profile/transform.h \
	common/profile/tree_view.c common/profile/tree_view.h
