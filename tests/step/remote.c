/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * remote.c - libunwind over the target's memory.
 */
#include "tests/step/remote.h"

#include <libunwind.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_BYTES 12 /* of .eh_frame_hdr, before its table */
#define TABLE_ENTRY  8
#define SEARCH_TABLE UNW_OBJ(dwarf_search_unwind_table)

/* Version; how the address of .eh_frame, the number of entries and the table are written. */
static const unsigned char usual_header[] = {1, 0x1b, 0x03, 0x3b};

/* Exported by libunwind for those who find unwind entries for it. */
extern int SEARCH_TABLE(unw_addr_space_t space, unw_word_t ip, unw_dyn_info_t *info,
                        unw_proc_info_t *found, int need_unwind_info, void *arg);

static int find_proc_info(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *found, int need,
                          void *arg) {
    struct remote *remote = arg;
    const struct image *image = images_find(remote->images, ip);
    unsigned char header[HEADER_BYTES];
    uint32_t entries;
    if (image == NULL || image->header == 0 ||
        !memory_bytes(remote->memory, image->header, header, sizeof header) ||
        memcmp(header, usual_header, sizeof usual_header) != 0)
        return -UNW_ENOINFO;
    memcpy(&entries, header + 8, sizeof entries);
    unw_dyn_info_t info = {
        .format = UNW_INFO_FORMAT_REMOTE_TABLE, .start_ip = image->start, .end_ip = image->end};
    info.u.rti.segbase = image->header;
    info.u.rti.table_data = image->header + HEADER_BYTES;
    info.u.rti.table_len = (uint64_t)entries * TABLE_ENTRY / sizeof(unw_word_t);
    return SEARCH_TABLE(space, ip, &info, found, need, arg);
}

static void put_unwind_info(unw_addr_space_t space, unw_proc_info_t *found, void *arg) {
    (void)space, (void)found, (void)arg; /* libunwind's own */
}

static int no_dynamic_code(unw_addr_space_t space, unw_word_t *address, void *arg) {
    (void)space, (void)address, (void)arg;
    return -UNW_ENOINFO;
}

static int access_mem(unw_addr_space_t space, unw_word_t address, unw_word_t *value, int write,
                      void *arg) {
    (void)space;
    struct remote *remote = arg;
    return !write && memory_word(remote->memory, address, value) ? 0 : -UNW_EINVAL;
}

static int access_reg(unw_addr_space_t space, unw_regnum_t number, unw_word_t *value, int write,
                      void *arg) {
    (void)space;
    const struct unwind_registers *regs = ((struct remote *)arg)->regs;
    if (write || number < 0 || number > ARCH_UNWIND_PC)
        return -UNW_EBADREG;
    *value = number == ARCH_UNWIND_PC ? regs->pc : regs->reg[number];
    return 0;
}

static int access_fpreg(unw_addr_space_t space, unw_regnum_t number, unw_fpreg_t *value, int write,
                        void *arg) {
    (void)space, (void)number, (void)value, (void)write, (void)arg;
    return -UNW_EBADREG;
}

static int resume(unw_addr_space_t space, unw_cursor_t *cursor, void *arg) {
    (void)space, (void)cursor, (void)arg;
    return -UNW_EINVAL;
}

static int no_name(unw_addr_space_t space, unw_word_t ip, char *name, size_t room,
                   unw_word_t *offset, void *arg) {
    (void)space, (void)ip, (void)name, (void)room, (void)offset, (void)arg;
    return -UNW_ENOINFO;
}

bool remote_init(struct remote *remote, struct images *images, struct memory *memory) {
    static unw_accessors_t accessors = {find_proc_info, put_unwind_info, no_dynamic_code,
                                        access_mem,     access_reg,      access_fpreg,
                                        resume,         no_name};
    *remote = (struct remote){.images = images, .memory = memory};
    remote->routine = calloc(REMOTE_ROUTINES, sizeof *remote->routine);
    remote->space = unw_create_addr_space(&accessors, 0);
    if (remote->routine == NULL || remote->space == NULL)
        return false;
    unw_set_caching_policy(remote->space, UNW_CACHE_GLOBAL);
    return true;
}

void remote_clear(struct remote *remote) {
    if (remote->space != NULL)
        unw_destroy_addr_space(remote->space);
    free(remote->routine);
    *remote = (struct remote){0};
}

void remote_forget(struct remote *remote) {
    unw_flush_cache(remote->space, 0, 0);
    memset(remote->routine, 0, REMOTE_ROUTINES * sizeof *remote->routine);
}

uint32_t remote_walk(struct remote *remote, const struct unwind_registers *regs, uint64_t *address,
                     uint32_t room, bool *complete) {
    unw_cursor_t cursor;
    uint32_t n = 0;
    remote->regs = regs;
    *complete = false;
    if (unw_init_remote(&cursor, remote->space, remote) != 0)
        return 0;
    while (n < room) {
        int status = unw_step(&cursor);
        *complete = status == 0;
        if (status <= 0 || unw_get_reg(&cursor, UNW_REG_IP, &address[n]) != 0)
            return n;
        n++;
    }
    return n;
}

uint32_t remote_walk_uncached(struct remote *remote, const struct unwind_registers *regs,
                              uint64_t *address, uint32_t room, bool *complete) {
    unw_set_caching_policy(remote->space, UNW_CACHE_NONE);
    uint32_t n = remote_walk(remote, regs, address, room, complete);
    unw_set_caching_policy(remote->space, UNW_CACHE_GLOBAL);
    return n;
}

uint64_t remote_routine(struct remote *remote, uint64_t pc) {
    struct remote_routine *known =
        &remote->routine[(pc * 0x9e3779b97f4a7c15ull >> 32) % REMOTE_ROUTINES];
    if (known->pc != pc) {
        unw_proc_info_t found = {0};
        *known = (struct remote_routine){.pc = pc};
        if (find_proc_info(remote->space, pc, &found, 0, remote) == 0)
            known->start = found.start_ip;
    }
    return known->start;
}
