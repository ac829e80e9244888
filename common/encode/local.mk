# Calling contexts as numbers: pure, used by the client.
noinst_LIBRARIES += libhcct_encode.a
libhcct_encode_a_SOURCES = \
	common/encode/acyclic.c common/encode/acyclic.h \
	common/encode/adaptive.c common/encode/adaptive.h \
	common/encode/call_edges.c common/encode/call_edges.h \
	common/encode/context.c common/encode/context.h \
	common/encode/context_decode.c \
	common/encode/encoding.c common/encode/encoding.h
