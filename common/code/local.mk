# What addresses mean: modules, frames, unwind tables, symbols.
noinst_LIBRARIES += libhcct_code.a
libhcct_code_a_SOURCES = \
	common/code/build_id.c common/code/build_id.h \
	common/code/call_sites_check.c \
	common/code/call_sites_compile.c common/code/call_sites_compile.h \
	common/code/call_sweep.c common/code/call_sweep.h \
	common/code/call_targets.c common/code/call_targets.h \
	common/code/call_verdict.c common/code/call_verdict.h \
	common/code/cfi_program.c common/code/cfi_program.h \
	common/code/code_copies.c common/code/code_copies.h \
	common/code/demangle.c common/code/demangle.h \
	common/code/demangle_cxx.c \
	common/code/demangle_d.c \
	common/code/demangle_language.h \
	common/code/demangle_haskell.c \
	common/code/demangle_ocaml.c \
	common/code/dwarf_scope.c common/code/dwarf_scope.h \
	common/code/eh_frame.c common/code/eh_frame.h \
	common/code/elf_dynamic.c common/code/elf_dynamic.h \
	common/code/elf_pool.c common/code/elf_pool.h \
	common/code/elf_protocol.c common/code/elf_protocol.h \
	common/code/elf_worker.c common/code/elf_worker.h \
	common/code/elf_worker_child.c \
	common/code/elf_worker_limits.c common/code/elf_worker_limits.h \
	common/code/frame.c common/code/frame.h \
	common/code/init_code.c common/code/init_code.h \
	common/code/jit_code.c common/code/jit_code.h \
	common/code/jit_debug.c common/code/jit_debug.h \
	common/code/jit_dump.c common/code/jit_dump.h \
	common/code/jit_file.c common/code/jit_file.h \
	common/code/jit_names.c common/code/jit_names.h \
	common/code/jit_object.c common/code/jit_object.h \
	common/code/module.c common/code/module.h \
	common/code/module_open.c common/code/module_open.h \
	common/code/module_protected.c common/code/module_protected.h \
	common/code/perf_map.c common/code/perf_map.h \
	common/code/raw_stack.h \
	common/code/remote_target.c common/code/remote_target.h \
	common/code/remote_unwind.c common/code/remote_unwind.h \
	common/code/symbol.c common/code/symbol.h \
	common/code/symbol_cache.c common/code/symbol_cache.h \
	common/code/symbol_service.c common/code/symbol_service.h \
	common/code/symbol_table.c common/code/symbol_table.h \
	common/code/symbolize.c common/code/symbolize.h \
	common/code/system_call.c common/code/system_call.h \
	common/code/table_cache.c common/code/table_cache.h \
	common/code/table_cache_room.c common/code/table_cache_room.h \
	common/code/table_kind.c common/code/table_kind.h \
	common/code/unwind_collect.c common/code/unwind_collect.h \
	common/code/unwind_compile.c common/code/unwind_compile.h \
	common/code/unwind_image.c common/code/unwind_image.h \
	common/code/unwind_rule.c common/code/unwind_rule.h \
	common/code/unwind_table_check.c

# The names of the system calls of the machine that this is built for.
BUILT_SOURCES += common/code/system_calls.inc
CLEANFILES += common/code/system_calls.inc
nodist_libhcct_code_a_SOURCES = common/code/system_calls.inc

common/code/system_calls.inc:
	$(AM_V_GEN)$(MKDIR_P) common/code && echo '#include <sys/syscall.h>' | \
	$(CC) $(CPPFLAGS) -E -dM - | \
	sed -n 's/^#define __NR_\([a-z0-9_]*\) .*/[__NR_\1] = "[\1(2)]",/p' | LC_ALL=C sort >$@.new && \
	mv $@.new $@

common/code/system_call.$(OBJEXT): common/code/system_calls.inc
