# What daemon and client share, room by room: wire and base below, render on top. The agent has
# nothing but wire; it compiles the few files that it needs by itself.
# Below all others: what agent and daemon agree on, and small things that everybody needs.
noinst_LIBRARIES += libhcct_common.a
libhcct_common_a_SOURCES = \
	common/base/array_grow.c common/base/array_grow.h \
	common/base/clock.h \
	common/base/confine.c common/base/confine.h \
	common/base/gzip.c common/base/gzip.h \
	common/base/intern.c common/base/intern.h \
	common/base/json_out.c common/base/json_out.h \
	common/base/memory.c common/base/memory.h \
	common/base/moment.c common/base/moment.h \
	common/base/nearest.c common/base/nearest.h \
	common/base/options.c common/base/options.h \
	common/base/own_directory.c common/base/own_directory.h \
	common/base/roomy_stack.c common/base/roomy_stack.h \
	common/base/seeded_hash.c common/base/seeded_hash.h \
	common/base/few_samples.h \
	common/base/share_class.h \
	common/base/shorten.c common/base/shorten.h \
	common/base/spawn_self.c common/base/spawn_self.h \
	common/base/user_slots.h \
	common/base/utf8.c common/base/utf8.h \
	common/wire/arch.h \
	common/wire/arch_aarch64.h \
	common/wire/arch_x86_64.h \
	common/wire/burst.c common/wire/burst.h \
	common/wire/call_choice.c common/wire/call_choice.h \
	common/wire/call_sites.h \
	common/wire/compiler.h \
	common/wire/counters.h \
	common/wire/metric.c common/wire/metric.h \
	common/wire/paths.c common/wire/paths.h \
	common/wire/percent.c common/wire/percent.h \
	common/wire/ring.h \
	common/wire/tags.c common/wire/tags.h \
	common/wire/unwind_table.h \
	common/wire/wire.h

include common/tree/local.mk
include common/code/local.mk
include common/profile/local.mk
include common/render/local.mk
include common/trace/local.mk
include common/assemble/local.mk
include common/encode/local.mk
