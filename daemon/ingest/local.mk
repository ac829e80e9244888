# Ingest: processes, their shared memory, their rings.
noinst_LIBRARIES += libhcct_ingest.a
libhcct_ingest_a_SOURCES = \
	daemon/ingest/addresses.c daemon/ingest/addresses.h \
	daemon/ingest/arena.c daemon/ingest/arena.h \
	daemon/ingest/context_root.h \
	daemon/ingest/deferred_unwind.c daemon/ingest/deferred_unwind.h \
	daemon/ingest/drain.c daemon/ingest/drain.h \
	daemon/ingest/families.c daemon/ingest/families.h \
	daemon/ingest/finished.c daemon/ingest/finished.h \
	daemon/ingest/followed.c daemon/ingest/followed.h \
	daemon/ingest/frame_sweep.c daemon/ingest/frame_sweep.h \
	daemon/ingest/handshake.c daemon/ingest/handshake.h \
	daemon/ingest/heap.c daemon/ingest/heap.h \
	daemon/ingest/identity.c daemon/ingest/identity.h \
	daemon/ingest/ingest.c daemon/ingest/ingest.h \
	daemon/ingest/marks.c daemon/ingest/marks.h \
	daemon/ingest/module_sweep.c daemon/ingest/module_sweep.h \
	daemon/ingest/numbered.c daemon/ingest/numbered.h \
	daemon/ingest/proc_stat.c daemon/ingest/proc_stat.h \
	daemon/ingest/process.c daemon/ingest/process.h \
	daemon/ingest/process_stats.c daemon/ingest/process_stats.h \
	daemon/ingest/raw_sample.c daemon/ingest/raw_sample.h \
	daemon/ingest/reader.c daemon/ingest/reader.h \
	daemon/ingest/reader_calls.c daemon/ingest/reader_drain.h \
	daemon/ingest/registry.c daemon/ingest/registry.h \
	daemon/ingest/resume.c daemon/ingest/resume.h \
	daemon/ingest/robust.c daemon/ingest/robust.h \
	daemon/ingest/session_memory.c daemon/ingest/session_memory.h \
	daemon/ingest/session_room.c daemon/ingest/session_room.h \
	daemon/ingest/tables.c daemon/ingest/tables.h \
	daemon/ingest/threads.c daemon/ingest/threads.h \
	daemon/ingest/windows.c daemon/ingest/windows.h
