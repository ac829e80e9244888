# What addresses mean: modules, frames, unwind tables, symbols.
noinst_LIBRARIES += libhcct_code.a

libhcct_code_a_SOURCES = \
	daemon/code/array_grow.c \
	daemon/code/array_grow.h \
	daemon/code/build_id.c \
	daemon/code/build_id.h \
	daemon/code/cfi_program.c \
	daemon/code/cfi_program.h \
	daemon/code/demangle.c \
	daemon/code/demangle.h \
	daemon/code/dwarf_scope.c \
	daemon/code/dwarf_scope.h \
	daemon/code/eh_frame.c \
	daemon/code/eh_frame.h \
	daemon/code/elf_protocol.c \
	daemon/code/elf_protocol.h \
	daemon/code/elf_worker.c \
	daemon/code/elf_worker.h \
	daemon/code/elf_worker_child.c \
	daemon/code/elf_worker_limits.c \
	daemon/code/elf_worker_limits.h \
	daemon/code/frame.c \
	daemon/code/frame.h \
	daemon/code/jit_names.c \
	daemon/code/jit_names.h \
	daemon/code/module.c \
	daemon/code/module.h \
	daemon/code/module_open.c \
	daemon/code/module_open.h \
	daemon/code/perf_map.c \
	daemon/code/perf_map.h \
	daemon/code/remote_target.c \
	daemon/code/remote_target.h \
	daemon/code/remote_unwind.c \
	daemon/code/remote_unwind.h \
	daemon/code/shipped_stack.h \
	daemon/code/symbol.c \
	daemon/code/symbol.h \
	daemon/code/symbol_cache.c \
	daemon/code/symbol_cache.h \
	daemon/code/symbol_service.c \
	daemon/code/symbol_service.h \
	daemon/code/symbol_table.c \
	daemon/code/symbol_table.h \
	daemon/code/symbolize.c \
	daemon/code/symbolize.h \
	daemon/code/unwind_collect.c \
	daemon/code/unwind_collect.h \
	daemon/code/unwind_compile.c \
	daemon/code/unwind_compile.h \
	daemon/code/unwind_image.c \
	daemon/code/unwind_image.h \
	daemon/code/unwind_rule.c \
	daemon/code/unwind_rule.h \
	daemon/code/unwind_table_check.c
