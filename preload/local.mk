# The agent: libc is its only library, nothing of it is visible but what it intercepts, and all its
# symbols are bound before the first signal can come.
# One library is preloaded, and one is loaded into a process that runs (late.h): they differ in who
# begins.
agentdir = $(pkglibdir)
noinst_PROGRAMS += preload/libhcctagent.so preload/libhcctattach.so
agent_DATA += preload/libhcctagent.so preload/libhcctattach.so
AGENT_ARCHIVES = preload/libagent.a preload/libplain.a
WHOLE_AGENT = -Wl,--whole-archive,preload/libagent.a,preload/libplain.a,--no-whole-archive
WHOLE_EVENTS = -Wl,--whole-archive,preload/libevents.a,--no-whole-archive
# What differs by architecture: each file has the same names.
if HCCT_X86_64
CALL_NUMBER_SOURCE = preload/sample/call_number_x86_64.c
HANDLER_ENTRY_SOURCE = preload/wrap/handler_entry_x86_64.c
HANDLER_STACK_SOURCE = preload/life/handler_stack_x86_64.c
INSTRUCTION_SOURCE = preload/sample/instruction_x86_64.c
JUMP_SOURCE = preload/wrap/jump_x86_64.c
RESTART_SOURCE = $(RESTART_COMMON) preload/wrap/restart_x86_64.c \
	preload/wrap/syscall_passed.h preload/wrap/syscall_passed_x86_64.c
SYSCALL_SOURCES = preload/wrap/syscall_code.h preload/wrap/syscall_code_x86_64.c
SLEEP_SOURCES = $(SLEEP_COMMON) preload/wrap/sleep_x86_64.c
else
CALL_NUMBER_SOURCE = preload/sample/call_number_aarch64.c
HANDLER_ENTRY_SOURCE = preload/wrap/handler_entry_aarch64.c
HANDLER_STACK_SOURCE = preload/life/handler_stack_aarch64.c
INSTRUCTION_SOURCE = preload/sample/instruction_aarch64.c
JUMP_SOURCE = preload/wrap/jump_aarch64.c
RESTART_SOURCE = $(RESTART_COMMON) preload/wrap/restart_aarch64.c
SYSCALL_SOURCES =
SLEEP_SOURCES = $(SLEEP_COMMON) preload/wrap/sleep_aarch64.c
endif
RESTART_COMMON = preload/wrap/restart_due.c preload/wrap/restart_due.h
SLEEP_COMMON = preload/wrap/announced_call.h preload/wrap/file_time.c preload/wrap/file_time.h preload/wrap/sleep.c preload/wrap/sleep.h \
	preload/wrap/sleep_list.h preload/wrap/sleep_machine.h preload/wrap/sleep_open.c preload/wrap/sleep_open.h \
	preload/wrap/transfer.c preload/wrap/transfer.h
# The walk without a memory of the last one; tests have it, too.
UNWIND_SOURCES = \
	preload/sample/instruction.h \
	preload/sample/unwind.c preload/sample/unwind.h \
	preload/sample/unwind_bare.c preload/sample/unwind_bare.h \
	preload/sample/unwind_evidence.c preload/sample/unwind_evidence.h \
	preload/sample/unwind_follow.c preload/sample/unwind_follow.h \
	preload/sample/unwind_inner.h \
	preload/sample/unwind_search.c preload/sample/unwind_search.h \
	preload/sample/unwind_types.h \
	$(INSTRUCTION_SOURCE)

noinst_LIBRARIES += preload/libagent.a
preload_libagent_a_SOURCES = \
	common/wire/arch.h \
	common/wire/arch_aarch64.h \
	common/wire/arch_x86_64.h \
	common/wire/attach.h \
	common/wire/burst.c common/wire/burst.h \
	common/wire/call_choice.c common/wire/call_choice.h \
	common/wire/call_sites.h \
	common/wire/compiler.h \
	common/wire/metric.c common/wire/metric.h \
	common/wire/paths.c common/wire/paths.h \
	common/wire/percent.c common/wire/percent.h \
	common/wire/ring.h \
	common/wire/tags.c common/wire/tags.h \
	common/wire/unwind_table.h \
	common/wire/waits.h \
	common/wire/wire.h \
	preload/blocks/link.h \
	preload/calls/adapt.c preload/calls/adapt.h \
	preload/calls/align.c \
	preload/calls/burst_account.c \
	preload/calls/burst_adapt.c \
	preload/calls/burst_parts.h \
	preload/calls/burst_wait.c \
	preload/calls/call_burst.c preload/calls/call_burst.h \
	preload/calls/calls.c preload/calls/calls.h \
	preload/calls/code.c \
	preload/calls/commit.c \
	preload/calls/fork.c \
	preload/calls/governor.c preload/calls/governor.h \
	preload/calls/hot.h \
	preload/calls/known.c \
	preload/calls/pace.c preload/calls/pace.h \
	preload/calls/period.c preload/calls/period.h \
	preload/calls/price.c preload/calls/price.h \
	preload/calls/session.c \
	preload/calls/stack.c \
	preload/calls/start.c \
	preload/calls/tell.c \
	preload/calls/tick_price.c preload/calls/tick_price.h \
	preload/context/context.h \
	preload/context/exports.h \
	preload/context/quick.c \
	preload/context/recent.h \
	preload/context/said.c \
	preload/context/send.c preload/context/send.h \
	preload/context/slow.c \
	preload/context/table.c preload/context/table.h \
	preload/encode/dear.c preload/encode/dear.h \
	preload/encode/encode.c preload/encode/encode.h \
	preload/encode/shallow.c preload/encode/shallow.h \
	preload/encode/slot.c preload/encode/slot.h \
	preload/encode/unwinder.c preload/encode/unwinder.h \
	preload/events/link.h \
	preload/labels/checked.h \
	preload/labels/mark.c \
	preload/labels/marks.c preload/labels/marks.h \
	preload/labels/otel.c preload/labels/otel.h \
	preload/labels/otel_process.c preload/labels/otel_process.h \
	preload/labels/otel_thread.c preload/labels/otel_thread.h \
	preload/labels/said.c preload/labels/said.h \
	preload/labels/send.c preload/labels/send.h \
	preload/labels/table.c preload/labels/table.h \
	preload/labels/thread.h \
	preload/labels/word.c preload/labels/word.h \
	preload/life/agent.c preload/life/agent.h \
	preload/life/attach.c preload/life/attach.h \
	preload/life/child_ends.c preload/life/child_ends.h \
	preload/life/confine.c preload/life/confine.h \
	preload/life/confine_born.c \
	preload/life/connect.c preload/life/connect.h \
	preload/life/ends.c preload/life/ends.h \
	preload/life/fork.c preload/life/fork.h \
	preload/life/glibc.h \
	preload/life/handler.c preload/life/handler.h \
	preload/life/handler_room.c preload/life/handler_room.h \
	preload/life/handler_shared.c preload/life/handler_shared.h \
	preload/life/handler_stack.c preload/life/handler_stack.h \
	preload/life/hooks.h \
	preload/life/hooks_of_all.h \
	preload/life/mean.h \
	preload/life/memory.c preload/life/memory.h \
	preload/life/modules.c preload/life/modules.h \
	preload/life/no_room.c preload/life/no_room.h \
	preload/life/patience.c preload/life/patience.h \
	preload/life/program_name.c preload/life/program_name.h \
	preload/life/session.c preload/life/session.h \
	preload/life/session_blocks.c preload/life/session_blocks.h \
	preload/life/session_left.c preload/life/session_left.h \
	preload/life/session_slots.c preload/life/session_slots.h \
	preload/life/settings.c preload/life/settings.h \
	preload/life/signal.c preload/life/signal.h \
	preload/life/signal_set.h \
	preload/life/silence.c preload/life/silence.h \
	preload/life/stopped.c preload/life/stopped.h \
	preload/life/thread_name.c preload/life/thread_name.h \
	preload/life/stream.h \
	preload/life/sys.h \
	preload/life/thread.c preload/life/thread.h \
	preload/life/thread_life.c preload/life/thread_life.h \
	preload/life/unsampled.c preload/life/unsampled.h \
	preload/locks/link.h \
	preload/python/frames.c preload/python/frames.h \
	preload/python/names.c preload/python/names.h \
	preload/python/runtime.c preload/python/runtime.h \
	preload/python/show.c preload/python/show.h \
	preload/python/thread.h \
	preload/redirect/chain.h \
	preload/redirect/choose.c \
	preload/redirect/dynamic.c preload/redirect/dynamic.h \
	preload/redirect/enter.h \
	preload/redirect/forked.c \
	preload/redirect/form.h \
	preload/redirect/found.c \
	preload/redirect/gone.c \
	preload/redirect/got.c preload/redirect/got.h \
	preload/redirect/lookup.c preload/redirect/lookup.h \
	preload/redirect/module.h \
	preload/redirect/module_list.c preload/redirect/module_list.h \
	preload/redirect/opened.c preload/redirect/opened.h \
	preload/redirect/places.c preload/redirect/places.h \
	preload/redirect/price.c \
	preload/redirect/ready.c preload/redirect/ready.h \
	preload/redirect/redirect.h \
	preload/redirect/renew.c \
	preload/redirect/stub.c preload/redirect/stub.h \
	preload/redirect/stub_form.c \
	preload/redirect/text_copy.c preload/redirect/text_copy.h \
	preload/sample/block_sample.c preload/sample/block_sample.h \
	preload/sample/burst.c preload/sample/burst.h preload/sample/burst_inner.h \
	preload/sample/call_number.h \
	preload/sample/call_points.c preload/sample/call_points.h \
	preload/sample/calm.c preload/sample/calm.h \
	preload/sample/check.c preload/sample/check.h \
	preload/sample/copies.c preload/sample/copies.h \
	preload/sample/crawl.c preload/sample/crawl.h \
	preload/sample/draw.c preload/sample/draw.h \
	preload/sample/edge.c preload/sample/edge.h \
	preload/sample/emit.c preload/sample/emit.h \
	preload/sample/emit_raw_stack.c preload/sample/emit_raw_stack.h \
	preload/sample/event_inside.c preload/sample/event_inside.h \
	preload/sample/event_library.c preload/sample/event_library.h \
	preload/sample/event_sample.c preload/sample/event_sample.h \
	preload/sample/first.c preload/sample/first.h \
	preload/sample/held_sample.c preload/sample/held_sample.h \
	preload/sample/interrupted.h \
	preload/sample/interval.c preload/sample/interval.h \
	preload/sample/kernel_ticks.c preload/sample/kernel_ticks.h \
	preload/sample/memo.c preload/sample/memo.h \
	preload/sample/nap_course.c preload/sample/nap_course.h \
	preload/sample/nap_watch.c preload/sample/nap_watch.h \
	preload/sample/open_call.c preload/sample/open_call.h \
	preload/sample/own_time.c preload/sample/own_time.h \
	preload/sample/pass_over.c preload/sample/pass_over.h \
	preload/sample/plan.h \
	preload/sample/points.c preload/sample/points.h \
	preload/sample/sampling.c preload/sample/sampling.h \
	preload/sample/stack.c preload/sample/stack.h \
	preload/sample/system_call.c preload/sample/system_call.h \
	preload/sample/thinning.c preload/sample/thinning.h \
	preload/sample/thread_timer.c preload/sample/thread_timer.h \
	preload/sample/tick_course.c preload/sample/tick_course.h \
	preload/sample/ticker.c preload/sample/ticker.h \
	preload/sample/trigger.c preload/sample/trigger.h \
	preload/sample/unwind_usual.h \
	preload/sample/walk.c preload/sample/walk.h \
	preload/sample/wall.c preload/sample/wall.h \
	preload/sample/wall_clock.c preload/sample/wall_clock.h \
	preload/sample/wall_leave.c preload/sample/wall_leave.h \
	preload/sample/wall_sleep.c preload/sample/wall_sleep.h \
	preload/wrap/dl.c \
	preload/wrap/exit.c \
	preload/wrap/handler_entry.c preload/wrap/handler_entry.h \
	preload/wrap/handler_in_call.c preload/wrap/handler_in_call.h \
	preload/wrap/handler_masks.c preload/wrap/handler_masks.h \
	preload/wrap/identity.c \
	preload/wrap/jump.c \
	preload/wrap/jump_target.h \
	preload/wrap/keys.c \
	preload/wrap/memory.c \
	preload/wrap/libc.c preload/wrap/libc.h \
	preload/wrap/next_symbol.c preload/wrap/next_symbol.h \
	preload/wrap/profil.c \
	preload/wrap/real.c preload/wrap/real.h \
	preload/wrap/restart.h \
	preload/wrap/seccomp.c \
	preload/wrap/signal.c \
	preload/wrap/thread.c \
	preload/wrap/timers.c \
	$(CALL_NUMBER_SOURCE) \
	$(HANDLER_ENTRY_SOURCE) \
	$(HANDLER_STACK_SOURCE) \
	$(JUMP_SOURCE) \
	$(RESTART_SOURCE) \
	$(SLEEP_SOURCES) \
	$(SYSCALL_SOURCES) \
	$(UNWIND_SOURCES)
preload_libagent_a_CFLAGS = $(AGENT_CFLAGS)
preload_libagent_a_CPPFLAGS = $(AGENT_CPPFLAGS)
preload_libhcctagent_so_SOURCES = preload/life/start.c
preload_libhcctagent_so_CFLAGS = $(AGENT_CFLAGS)
EXTRA_preload_libhcctagent_so_DEPENDENCIES = $(AGENT_ARCHIVES)
preload_libhcctagent_so_LDADD =
preload_libhcctattach_so_SOURCES = \
	preload/life/late.c preload/life/late.h \
	preload/life/late_bind.c preload/life/late_bind.h \
	preload/life/late_tasks.c preload/life/late_tasks.h \
	preload/life/late_threads.c preload/life/late_threads.h \
	preload/life/late_wake.c preload/life/late_wake.h
preload_libhcctattach_so_CFLAGS = $(AGENT_CFLAGS)
preload_libhcctattach_so_CPPFLAGS = $(AGENT_CPPFLAGS)
EXTRA_preload_libhcctattach_so_DEPENDENCIES = $(AGENT_ARCHIVES) preload/libevents.a
preload_libhcctattach_so_LDADD =
# What stands before malloc and before locks, in the library that comes later.
noinst_LIBRARIES += preload/libevents.a
preload_libevents_a_SOURCES = \
	preload/blocks/allocate.h \
	preload/blocks/operators.c \
	preload/blocks/rate.c preload/blocks/rate.h \
	preload/blocks/sites.c preload/blocks/sites.h \
	preload/blocks/stops.c preload/blocks/stops.h \
	preload/blocks/table.c preload/blocks/table.h \
	preload/blocks/wrap.c \
	preload/events/course.c preload/events/course.h \
	preload/locks/held.c preload/locks/held.h \
	preload/locks/inside.h \
	preload/locks/release.c \
	preload/locks/wrap.c
preload_libevents_a_CFLAGS = $(AGENT_CFLAGS) -fno-builtin
preload_libevents_a_CPPFLAGS = $(AGENT_CPPFLAGS)
noinst_LIBRARIES += preload/libplain.a
preload_libplain_a_SOURCES = preload/redirect/enter.c
preload_libplain_a_CFLAGS = $(AGENT_PLAIN_CFLAGS)
preload_libplain_a_CPPFLAGS = $(AGENT_CPPFLAGS)
preload_libhcctagent_so_LDFLAGS = $(AGENT_LINKING) $(WHOLE_AGENT) -Wl,-z,nodlopen
# What was loaded once stays: a signal may be on its way.
preload_libhcctattach_so_LDFLAGS = $(AGENT_LINKING) $(WHOLE_AGENT) $(WHOLE_EVENTS) -Wl,-z,nodelete

# What programs include, and what they find it by.
include_HEADERS = preload/labels/hcct.h
pkgconfigdir = $(datadir)/pkgconfig
pkgconfig_DATA = preload/labels/hcct.pc

# What stands before malloc: only in programs whose allocations are sampled.
noinst_PROGRAMS += preload/libhcctblocks.so
agent_DATA += preload/libhcctblocks.so
preload_libhcctblocks_so_SOURCES = \
	preload/blocks/allocate.h \
	preload/blocks/link.h \
	preload/blocks/operators.c \
	preload/blocks/rate.c preload/blocks/rate.h \
	preload/blocks/sites.c preload/blocks/sites.h \
	preload/blocks/stops.c preload/blocks/stops.h \
	preload/blocks/table.c preload/blocks/table.h \
	preload/blocks/wrap.c \
	preload/events/course.c preload/events/course.h \
	preload/events/link.h \
	preload/sample/draw.c preload/sample/draw.h \
	preload/wrap/libc.c preload/wrap/libc.h \
	preload/wrap/next_symbol.c preload/wrap/next_symbol.h
preload_libhcctblocks_so_CFLAGS = $(AGENT_CFLAGS) -fno-builtin
preload_libhcctblocks_so_CPPFLAGS = $(AGENT_CPPFLAGS)
preload_libhcctblocks_so_LDFLAGS = $(AGENT_LINKING) -Wl,-z,nodlopen

# What stands before locks: only in programs whose waits for locks are sampled.
noinst_PROGRAMS += preload/libhcctlocks.so
agent_DATA += preload/libhcctlocks.so
preload_libhcctlocks_so_SOURCES = \
	preload/events/course.c preload/events/course.h \
	preload/events/link.h \
	preload/locks/held.c preload/locks/held.h \
	preload/locks/inside.h \
	preload/locks/link.h \
	preload/locks/release.c \
	preload/locks/wrap.c \
	preload/sample/draw.c preload/sample/draw.h \
	preload/wrap/libc.c preload/wrap/libc.h \
	preload/wrap/next_symbol.c preload/wrap/next_symbol.h
preload_libhcctlocks_so_CFLAGS = $(AGENT_CFLAGS)
preload_libhcctlocks_so_CPPFLAGS = $(AGENT_CPPFLAGS)
preload_libhcctlocks_so_LDFLAGS = $(AGENT_LINKING) -Wl,-z,nodlopen
