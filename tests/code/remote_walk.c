/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * remote_walk.c - walks of a test's own stack from its copy, and the names by the unwind tables.
 */
#include "tests/code/remote_walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/code/module.h"
#include "common/code/unwind_compile.h"
#include "common/wire/compiler.h"
#include "common/wire/unwind_table.h"
#include "tests/code/stack_snapshot.h"

struct unwound_stack walk_of(struct remote_unwinder *unwinder, struct raw_stack *stack) {
    static struct unwound_frame frames[RAW_STACK_FRAMES_MAX];
    struct unwound_stack walk = {0};
    uint32_t missing;
    unsigned asked = 0;
    while ((missing = remote_unwind(unwinder, stack, frames, &walk)) != 0 && asked++ < 64) {
        struct unwind_image *image = unwind_image_open(module_open_file(missing));
        if (image == NULL) {
            fprintf(stderr, "no image of module %u\n", missing);
            abort();
        }
        remote_unwinder_keep(unwinder, missing, image);
    }
    walk.frames = frames;
    return walk;
}

uint64_t routine_by_table(uint64_t pc, bool *is_signal) {
    static void *tables[HCCT_ARRAY_LEN(snapshot_ranges)];
    for (uint32_t i = snapshot_n_ranges; i-- > 0;) {
        if (pc < snapshot_ranges[i].start || pc >= snapshot_ranges[i].end)
            continue;
        size_t bytes;
        if (tables[i] == NULL) {
            int fd = module_open_file(snapshot_ranges[i].module);
            Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
            tables[i] = unwind_compile(elf, &bytes, NULL); /* kept to the end */
            elf_end(elf);
            close(fd);
        }
        const struct unwind_table *table = tables[i];
        const struct unwind_row *row =
            table != NULL ? unwind_lookup(table, pc - snapshot_ranges[i].bias) : NULL;
        if (row == NULL || row->rule == UNWIND_RULE_NONE)
            return 0;
        *is_signal = unwind_rules(table)[row->rule].cfa == UNWIND_CFA_SIGNAL;
        return snapshot_ranges[i].bias + unwind_routine(table, row);
    }
    return 0;
}
