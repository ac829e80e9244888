# The agent: libc is its only library, nothing of it is visible but what it intercepts, and all its
# symbols are bound before the first signal can come.
pkglib_LTLIBRARIES += preload/libhcctagent.la
preload_libhcctagent_la_SOURCES = \
	common/compiler.h common/paths.c common/paths.h common/ring.h common/unwind_table.h \
	common/wire.h \
	preload/agent.c preload/agent.h preload/arch.h preload/connect.c preload/connect.h \
	preload/emit.c preload/emit.h preload/modules.c preload/modules.h preload/real.c \
	preload/real.h preload/session.c preload/session.h preload/settings.c preload/settings.h \
	preload/signal.c preload/signal.h preload/stack.c preload/stack.h preload/sys.h \
	preload/thread.c preload/thread.h preload/trigger.c preload/trigger.h preload/unwind.c \
	preload/unwind.h preload/walk.c preload/walk.h preload/wrap_dl.c preload/wrap_signal.c \
	preload/wrap_thread.c
preload_libhcctagent_la_CFLAGS = $(AGENT_CFLAGS)
preload_libhcctagent_la_LDFLAGS = -module -avoid-version -shared $(AGENT_LDFLAGS)
