# From a tree of frame ids to a profile with names.
noinst_LIBRARIES += libhcct_assemble.a
libhcct_assemble_a_SOURCES = \
	common/assemble/agent_frames.c common/assemble/agent_frames.h \
	common/assemble/assemble.c common/assemble/assemble.h \
	common/assemble/generated.c common/assemble/generated.h \
	common/assemble/symbols.c common/assemble/symbols.h
