/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * shadow.c - the true stack, from the calls and returns that were executed.
 */
#include "tests/step/shadow.h"

#include <stdlib.h>
#include <sys/syscall.h>

#include "common/wire/arch.h"

#define INSTRUCTION_MAX 15

bool shadow_init(struct shadow *shadow, struct memory *memory, const struct maps *maps) {
    *shadow = (struct shadow){.memory = memory, .maps = maps};
    shadow->region = calloc(SHADOW_REGIONS, sizeof *shadow->region);
    return shadow->region != NULL;
}

void shadow_clear(struct shadow *shadow) {
    free(shadow->region);
    shadow->region = NULL;
}

/* ---- regions ---- */

static struct shadow_region *region_of(struct shadow *shadow, uint64_t sp) {
    for (uint32_t i = 0; i < shadow->n_regions; i++)
        if (sp - shadow->region[i].start < shadow->region[i].end - shadow->region[i].start)
            return &shadow->region[i];
    const struct map *map = maps_find(shadow->maps, sp);
    if (map == NULL)
        return NULL;
    for (uint32_t i = 0; i < shadow->n_regions; i++) {
        struct shadow_region *region = &shadow->region[i];
        if (region->start < map->end && map->start < region->end) {
            region->start = map->start < region->start ? map->start : region->start;
            region->end = map->end > region->end ? map->end : region->end;
            return region;
        }
    }
    if (shadow->n_regions == SHADOW_REGIONS)
        return NULL;
    struct shadow_region *region = &shadow->region[shadow->n_regions++];
    region->start = map->start;
    region->end = map->end;
    return region;
}

static struct shadow_region *region_now(struct shadow *shadow, struct shadow_thread *thread,
                                        uint64_t sp) {
    struct shadow_region *region = thread->region;
    if (region != NULL && sp - region->start < region->end - region->start)
        return region;
    return region_of(shadow, sp);
}

static bool push(struct shadow_region *region, struct shadow_entry entry) {
    if (region->n == SHADOW_DEPTH)
        return false;
    region->entry[region->n++] = entry;
    return true;
}

/* The entries that the stack pointer has left. */
static uint32_t drop_below(struct shadow_region *region, uint64_t sp) {
    uint32_t n = region->n;
    while (region->n > 0 && region->entry[region->n - 1].slot < sp)
        region->n--;
    return n - region->n;
}

bool shadow_start(struct shadow *shadow, struct shadow_thread *thread, uint64_t sp) {
    thread->resolved = true;
    thread->region = region_of(shadow, sp);
    if (thread->region != NULL)
        drop_below(thread->region, sp);
    return thread->region != NULL;
}

/* ---- instructions ---- */

static bool is_prefix(unsigned char byte) {
    return byte == 0x66 || byte == 0xf2 || byte == 0xf3 || byte == 0x3e || byte == 0x2e ||
           byte == 0x64 || byte == 0x65;
}

enum shadow_kind shadow_kind_at(struct memory *memory, uint64_t pc) {
    unsigned char code[8] = {0};
    size_t at = 0;
    for (size_t i = 0; i < sizeof code; i++)
        if (!memory_bytes(memory, pc + i, &code[i], 1))
            break;
    while (at < 4 && is_prefix(code[at]))
        at++;
    if ((code[at] & 0xf0) == 0x40)
        at++;
    unsigned extension = code[at + 1] >> 3 & 7;
    if (code[at] == 0xe8 || (code[at] == 0xff && extension == 2))
        return SHADOW_CALL;
    if (code[at] == 0xff && extension == 4)
        return SHADOW_JUMP;
    if (code[at] == 0xc3 || code[at] == 0xc2)
        return SHADOW_RETURN;
    return code[at] == 0x0f && code[at + 1] == 0x05 ? SHADOW_SYSCALL : SHADOW_OTHER;
}

/* Back from a handler: its frame is gone, wherever the stack pointer is now. */
static void end_signal(struct shadow_thread *thread) {
    struct shadow_region *region = thread->region;
    while (region->n > 0 && region->entry[--region->n].under == NULL)
        ;
}

/* After a jump or return that ended an abandoned frame. On a stack without any call, the function
 * that was entered has a caller made by hand. */
static bool resolve(struct shadow *shadow, struct shadow_thread *thread, uint64_t sp) {
    struct shadow_entry entry = {.slot = sp};
    thread->resolved = true;
    if (thread->region->n > 0)
        return true;
    thread->region->by_hand = true;
    return memory_word(shadow->memory, sp, &entry.target) && push(thread->region, entry);
}

bool shadow_step(struct shadow *shadow, struct shadow_thread *thread, enum shadow_kind kind,
                 const struct user_regs_struct *before, const struct user_regs_struct *after) {
    if (kind == SHADOW_SYSCALL && before->rax == SYS_rt_sigreturn)
        end_signal(thread);
    struct shadow_region *was = thread->region;
    thread->region = region_now(shadow, thread, after->rsp);
    if (thread->region == NULL)
        return false;
    uint32_t dropped = drop_below(thread->region, after->rsp);
    if (kind == SHADOW_SYSCALL)
        return true;
    if (kind == SHADOW_CALL) {
        struct shadow_entry entry = {.slot = after->rsp};
        if (after->rsp != before->rsp - 8)
            return true; /* it faulted */
        return memory_word(shadow->memory, after->rsp, &entry.target) &&
               entry.target - before->rip <= INSTRUCTION_MAX && push(thread->region, entry);
    }
    if (kind == SHADOW_RETURN || kind == SHADOW_JUMP)
        return thread->resolved || resolve(shadow, thread, after->rsp);
    if (dropped > 0 || was != thread->region)
        thread->resolved = false;
    return true;
}

bool shadow_signal(struct shadow *shadow, struct shadow_thread *thread,
                   const struct user_regs_struct *handler) {
    struct shadow_region *under = thread->region;
    struct shadow_region *region = region_now(shadow, thread, handler->rsp);
    if (region == NULL)
        return false;
    if (region != under)
        region->n = 0; /* another stack is used from its start */
    struct shadow_entry interrupted = {.slot = handler->rsp + 8 + ARCH_SIGFRAME_PC, .under = under};
    struct shadow_entry back = {.slot = handler->rsp};
    thread->region = region;
    return memory_word(shadow->memory, interrupted.slot, &interrupted.target) &&
           memory_word(shadow->memory, back.slot, &back.target) && push(region, interrupted) &&
           push(region, back);
}

bool shadow_is_by_hand(const struct shadow_thread *thread) {
    const struct shadow_region *region = thread->region;
    while (region->n > 0 && region->entry[0].under != NULL && region->entry[0].under != region)
        region = region->entry[0].under;
    return region->by_hand;
}

uint32_t shadow_stack(const struct shadow_thread *thread, uint64_t *address, uint32_t room) {
    uint32_t n = 0;
    for (const struct shadow_region *region = thread->region; region != NULL;) {
        const struct shadow_region *next = NULL;
        for (uint32_t i = region->n; i-- > 0 && n < room;) {
            address[n++] = region->entry[i].target;
            if (region->entry[i].under != NULL && region->entry[i].under != region) {
                next = region->entry[i].under;
                break;
            }
        }
        region = next;
    }
    return n;
}
