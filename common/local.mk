# What daemon and client share. The agent compiles the few files that it needs by itself.
noinst_LIBRARIES += libhcct_common.a
libhcct_common_a_SOURCES = \
	common/arch.h common/burst.c common/burst.h common/compiler.h \
	common/options.c \
	common/options.h \
	common/own_directory.c common/own_directory.h \
	common/paths.c \
	common/paths.h \
	common/ring.h \
	common/tags.c \
	common/tags.h \
	common/unwind_table.h \
	common/utf8.c common/utf8.h \
	common/wire.h
