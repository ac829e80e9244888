/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * remote_target.c - the accessors that libunwind reads a raw stack sample through.
 *
 * libunwind looks an entry up in a sorted table in the target's memory. We have found the entry by
 * then, so it gets a table with that one entry, at an address where no program has memory.
 */
#include "common/code/remote_target.h"

#include <string.h>

#include "common/wire/arch.h"

/* Exported for remote unwinding, but not declared by libunwind's headers. */
extern int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t space, unw_word_t ip,
                                              unw_dyn_info_t *info, unw_proc_info_t *proc,
                                              int need_unwind_info, void *arg);

#define TABLE_ADDRESS 0xffff800000000000ull

/* ---- modules ---- */

static struct unwind_image *image_of(struct remote_unwinder *unwinder, uint32_t module) {
    for (unsigned i = 0; i < REMOTE_IMAGES_MAX; i++) {
        struct kept_image *kept = &unwinder->kept[i];
        if (kept->image != NULL && kept->module == module) {
            kept->used = unwinder->walks;
            return kept->image;
        }
    }
    return NULL;
}

const struct code_range *remote_range(const struct raw_stack *stack, uint64_t address) {
    const struct code_range *ranges = raw_stack_ranges(stack);
    for (uint32_t i = stack->n_ranges; i-- > 0;)
        if (address >= ranges[i].start && address < ranges[i].end)
            return &ranges[i];
    return NULL;
}

/* A return address is after its call. A context made by hand (makecontext) returns to the first
 * instruction of a routine, before which there is nobody's code: its first function is entered by
 * no call, and ends the walk. */
enum remote_found remote_find_place(struct remote_walk *walk) {
    struct remote_place *place = &walk->place;
    walk->lookup = walk->exact ? walk->pc : walk->pc - 1;
    place->range = remote_range(walk->stack, walk->lookup);
    place->image = NULL;
    if (place->range == NULL)
        return REMOTE_NO_CODE;
    if (place->range->module == 0)
        return REMOTE_NO_ENTRY;
    place->image = image_of(walk->unwinder, place->range->module);
    if (place->image == NULL)
        return REMOTE_NO_IMAGE;
    uint64_t bias = place->range->bias;
    if (unwind_image_find(place->image, walk->lookup - bias, &place->entry))
        return REMOTE_FOUND;
    if (walk->exact || !unwind_image_find(place->image, walk->pc - bias, &place->entry) ||
        place->entry.start + bias != walk->pc)
        return REMOTE_NO_ENTRY;
    walk->lookup = walk->pc;
    return REMOTE_ROOT;
}

/* ---- libunwind's questions ---- */

static bool fits(int64_t n) {
    return n == (int32_t)n;
}

static int find_proc_info(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *proc,
                          int need_unwind_info, void *arg) {
    struct remote_walk *walk = arg;
    const struct unwind_entry *entry = &walk->place.entry;
    (void)ip; /* the pc, or the address before it: the place under the cursor */
    if (!fits((int64_t)(entry->code_start - entry->address)))
        return -UNW_ENOINFO;
    uint64_t bias = walk->place.range->bias;
    walk->table = (struct remote_table){.start = (int32_t)(entry->code_start - entry->address)};
    unw_dyn_info_t info = {
        .format = UNW_INFO_FORMAT_REMOTE_TABLE,
        .start_ip = bias + entry->code_start,
        .end_ip = bias + entry->code_end,
        .u.rti = {.segbase = bias + entry->address, .table_len = 1, .table_data = TABLE_ADDRESS},
    };
    int status =
        UNW_OBJ(dwarf_search_unwind_table)(space, walk->lookup, &info, proc, need_unwind_info, arg);
    walk->entry_used = status >= 0;
    return status;
}

static void put_unwind_info(unw_addr_space_t space, unw_proc_info_t *proc, void *arg) {
    (void)space;
    (void)proc;
    (void)arg;
}

static int no_dynamic_info(unw_addr_space_t space, unw_word_t *list, void *arg) {
    (void)space;
    (void)list;
    (void)arg;
    return -UNW_ENOINFO;
}

bool remote_read(struct remote_walk *walk, uint64_t address, uint64_t *word) {
    uint64_t into = address - walk->stack_start, room = walk->stack_end - walk->stack_start;
    if (into < room && room - into >= sizeof *word) {
        memcpy(word, (const char *)raw_stack_words(walk->stack) + into, sizeof *word);
        return true;
    }
    if (address == TABLE_ADDRESS) {
        memcpy(word, &walk->table, sizeof *word);
        return true;
    }
    const struct code_range *range = walk->read_range;
    if (range == NULL || address < range->start || address >= range->end) {
        range = walk->read_range = remote_range(walk->stack, address);
        walk->read_image = range != NULL ? image_of(walk->unwinder, range->module) : NULL;
    }
    if (walk->read_image != NULL)
        return unwind_image_word(walk->read_image, address - range->bias, word);
    /* ranges are of code; an object's unwind data may be mapped apart from it */
    const struct remote_place *place = &walk->place;
    return range == NULL && place->image != NULL &&
           unwind_image_word(place->image, address - place->range->bias, word);
}

static int access_mem(unw_addr_space_t space, unw_word_t address, unw_word_t *word, int write,
                      void *arg) {
    struct remote_walk *walk = arg;
    (void)space;
    if (write)
        return -UNW_EINVAL;
    if (remote_read(walk, address, word))
        return 0;
    walk->read_failed = true;
    walk->failed_at = address;
    return -UNW_EINVAL;
}

static int access_reg(unw_addr_space_t space, unw_regnum_t reg, unw_word_t *word, int write,
                      void *arg) {
    const struct remote_walk *walk = arg;
    (void)space;
    if (write)
        return -UNW_EREADONLYREG;
    if (reg == ARCH_UNWIND_PC)
        *word = walk->first_pc;
    else if (reg >= 0 && (uint32_t)reg < RAW_STACK_REGISTERS_MAX && (walk->known >> reg & 1) != 0)
        *word = walk->first[reg];
    else
        return -UNW_EBADREG;
    return 0;
}

static int access_fpreg(unw_addr_space_t space, unw_regnum_t reg, unw_fpreg_t *value, int write,
                        void *arg) {
    (void)space;
    (void)reg;
    (void)value;
    (void)write;
    (void)arg;
    return -UNW_EBADREG;
}

unw_accessors_t remote_accessors = {
    .find_proc_info = find_proc_info,
    .put_unwind_info = put_unwind_info,
    .get_dyn_info_list_addr = no_dynamic_info,
    .access_mem = access_mem,
    .access_reg = access_reg,
    .access_fpreg = access_fpreg,
};
