# Recorded traces: what was applied to the daemon's trees, for `hcct replay`.
noinst_LIBRARIES += libhcct_trace.a
libhcct_trace_a_SOURCES = \
	daemon/trace/trace_apply.c daemon/trace/trace_apply.h \
	daemon/trace/trace_define.c daemon/trace/trace_define.h \
	daemon/trace/trace_fields.c daemon/trace/trace_fields.h \
	daemon/trace/trace_format.h \
	daemon/trace/trace_in.c daemon/trace/trace_in.h \
	daemon/trace/trace_known.c daemon/trace/trace_known.h \
	daemon/trace/trace_out.c daemon/trace/trace_out.h \
	daemon/trace/trace_reader.c daemon/trace/trace_reader.h \
	daemon/trace/trace_tokens.c daemon/trace/trace_tokens.h \
	daemon/trace/trace_writer.c daemon/trace/trace_writer.h
