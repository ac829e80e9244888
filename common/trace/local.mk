# Recorded traces: what was applied to the daemon's trees, for `hcct replay`.
noinst_LIBRARIES += libhcct_trace.a
libhcct_trace_a_SOURCES = \
	common/trace/field_text.c common/trace/field_text.h \
	common/trace/trace_apply.c common/trace/trace_apply.h \
	common/trace/trace_define.c common/trace/trace_define.h \
	common/trace/trace_definitions.c common/trace/trace_definitions.h \
	common/trace/trace_fields.c common/trace/trace_fields.h \
	common/trace/trace_format.h \
	common/trace/trace_in.c common/trace/trace_in.h \
	common/trace/trace_out.c common/trace/trace_out.h \
	common/trace/trace_reader.c common/trace/trace_reader.h \
	common/trace/trace_tokens.c common/trace/trace_tokens.h \
	common/trace/trace_writer.c common/trace/trace_writer.h
