# The agent: libc is its only library, nothing of it is visible but what it intercepts, and all its
# symbols are bound before the first signal can come.
pkglib_LTLIBRARIES += preload/libhcctagent.la
# The walk without a memory of the last one; tests have it, too.
UNWIND_SOURCES = preload/instruction.c preload/instruction.h preload/unwind.c preload/unwind.h \
	preload/unwind_bare.c preload/unwind_bare.h preload/unwind_follow.c preload/unwind_follow.h \
	preload/unwind_inner.h preload/unwind_search.c preload/unwind_search.h

preload_libhcctagent_la_SOURCES = \
	common/arch.h common/burst.c common/burst.h common/compiler.h common/paths.c \
	common/paths.h common/ring.h common/tags.c common/tags.h common/unwind_table.h \
	common/wire.h preload/agent.c preload/agent.h preload/burst.c preload/burst.h \
	preload/calls.c preload/calls.h preload/calls_align.c preload/calls_code.c \
	preload/calls_fork.c preload/calls_known.c preload/calls_session.c \
	preload/calls_stack.c preload/calls_start.c preload/calls_tell.c preload/check.c preload/check.h \
	preload/confine.c preload/confine.h preload/confine_born.c \
	preload/connect.c preload/connect.h preload/copies.c preload/copies.h preload/draw.c preload/draw.h preload/emit.c preload/emit.h \
	preload/edge.c preload/edge.h preload/first.c preload/first.h preload/glibc.h \
	preload/handler_masks.c preload/handler_masks.h preload/other_clock.c preload/other_clock.h \
	preload/points.c preload/points.h \
	preload/interrupted.h preload/interval.c preload/interval.h \
	preload/memo.c preload/memo.h preload/memory.c preload/memory.h preload/modules.c preload/modules.h \
	preload/next_symbol.c preload/next_symbol.h preload/plan.h \
	preload/program_name.c preload/program_name.h preload/real.c \
	preload/real.h preload/restart.c preload/restart.h preload/sampling.c preload/sampling.h \
	preload/session.c preload/session.h preload/settings.c preload/settings.h preload/ship.c \
	preload/ship.h preload/signal.c preload/signal.h preload/stack.c preload/stack.h \
	preload/stopped.c preload/stopped.h \
	preload/sys.h preload/syscall_code.c preload/syscall_code.h preload/task_clock.c \
	preload/task_clock.h preload/thread.c preload/thread.h preload/ticker.c preload/ticker.h \
	preload/trigger.c preload/trigger.h $(UNWIND_SOURCES) preload/unwind_usual.h \
	preload/walk.c preload/walk.h preload/wall.c preload/wall.h preload/wall_leave.c preload/wall_leave.h \
	preload/wrap_dl.c preload/wrap_exit.c preload/wrap_identity.c \
	preload/wrap_jump.c preload/wrap_memory.c \
	preload/wrap_seccomp.c preload/wrap_signal.c preload/wrap_sleep.c preload/wrap_sleep.h preload/wrap_thread.c
preload_libhcctagent_la_CFLAGS = $(AGENT_CFLAGS)
preload_libhcctagent_la_LDFLAGS = -module -avoid-version -shared $(AGENT_LDFLAGS)
