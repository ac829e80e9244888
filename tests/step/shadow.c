/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * shadow.c - the true stack, from the calls and returns that were executed.
 */
#include "tests/step/shadow.h"

#include <stdlib.h>
#include <sys/syscall.h>

#include "tests/step/registers.h"
#include "tests/step/shadow_machine.h"

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
    thread->resolved = false;
    thread->region = region_of(shadow, sp);
    if (thread->region != NULL)
        drop_below(thread->region, sp);
    return thread->region != NULL;
}

/* ---- steps ---- */

/* Back from a handler: its frame is gone, wherever the stack pointer is now. */
static void end_signal(struct shadow_thread *thread) {
    struct shadow_region *region = thread->region;
    while (region->n > 0 && region->entry[--region->n].under == NULL)
        ;
}

/* After a jump or return that ended an abandoned frame. On a stack without any call, the function
 * that was entered has a caller made by hand. */
static bool resolve(struct shadow *shadow, struct shadow_thread *thread,
                    const struct user_regs_struct *now) {
    struct shadow_entry entry = {.slot = registers_sp(now)};
    thread->resolved = true;
    if (thread->region->n > 0)
        return true;
    thread->region->by_hand = true;
    return shadow_machine_first(shadow->memory, now, &entry.target) && push(thread->region, entry);
}

static bool called(struct shadow *shadow, struct shadow_thread *thread,
                   const struct user_regs_struct *before, const struct user_regs_struct *after) {
    struct shadow_entry entry = {.slot = registers_sp(after)};
    switch (shadow_machine_called(shadow->memory, before, after, &entry.target)) {
    case SHADOW_CALLED:
        thread->resolved = true;
        return push(thread->region, entry);
    case SHADOW_FAULTED:
        return true;
    default:
        return false;
    }
}

bool shadow_step(struct shadow *shadow, struct shadow_thread *thread, enum shadow_kind kind,
                 const struct user_regs_struct *before, const struct user_regs_struct *after) {
    if (kind == SHADOW_SYSCALL && registers_call(before) == SYS_rt_sigreturn)
        end_signal(thread);
    struct shadow_region *was = thread->region;
    uint64_t sp = registers_sp(after);
    thread->region = region_now(shadow, thread, sp);
    if (thread->region == NULL)
        return false;
    uint32_t dropped = drop_below(thread->region, sp);
    if (kind == SHADOW_SYSCALL)
        return true;
    if (kind == SHADOW_CALL)
        return called(shadow, thread, before, after);
    if (kind == SHADOW_RETURN || (kind == SHADOW_JUMP && !thread->resolved))
        drop_below(thread->region, shadow_machine_left(sp));
    if (kind == SHADOW_RETURN || kind == SHADOW_JUMP)
        return thread->resolved || resolve(shadow, thread, after);
    if (dropped > 0 || was != thread->region)
        thread->resolved = false;
    return true;
}

bool shadow_signal(struct shadow *shadow, struct shadow_thread *thread,
                   const struct user_regs_struct *handler) {
    struct shadow_region *under = thread->region;
    struct shadow_region *region = region_now(shadow, thread, registers_sp(handler));
    if (region == NULL)
        return false;
    if (region != under)
        region->n = 0; /* another stack is used from its start */
    struct shadow_entry interrupted = {.slot = shadow_machine_interrupted(handler), .under = under};
    struct shadow_entry back = {.slot = registers_sp(handler)};
    thread->region = region;
    return memory_word(shadow->memory, interrupted.slot, &interrupted.target) &&
           shadow_machine_first(shadow->memory, handler, &back.target) &&
           push(region, interrupted) && push(region, back);
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
