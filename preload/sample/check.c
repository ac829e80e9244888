/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * check.c - the second walk, and a table of identifiers that only grows until it is full.
 */
#include "preload/sample/check.h"

#include <sys/mman.h>

#include "preload/life/session.h"
#include "preload/life/sys.h"

#define IDENTIFIERS (1u << 15)
#define PROBES      16u /* a full neighbourhood: the identifier is not counted */

struct identifier {
    uint64_t pc, height; /* of the stack, in bytes; pc 0: unused */
    uint64_t context;    /* a hash of the last one */
    bool ambiguous;
};

struct check {
    struct unwind_frame frame[THREAD_FRAMES_MAX];
    struct identifier identifier[IDENTIFIERS];
};

struct check *check_new(void) {
    long at = sys6(SYS_mmap, 0, sizeof(struct check), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at < 0 && at > -WIRE_PAGE ? NULL : (struct check *)at;
}

void check_reset(struct check *check) {
    if (check != NULL)
        sys3(SYS_madvise, check, sizeof *check, MADV_DONTNEED);
}

static bool same(const struct shown *frames, const struct unwind_frame *full, uint32_t n) {
    if (frames->depth != n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!unwind_frame_is(shown_frame(frames, n - 1 - i), &full[i]))
            return false;
    return true;
}

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

static uint64_t hash_of(const struct shown *frames) {
    uint64_t hash = frames->depth;
    for (uint32_t i = 0; i < frames->depth; i++)
        hash = mix(mix(hash, shown_frame(frames, i)->routine), shown_frame(frames, i)->site);
    return hash;
}

static struct identifier *find(struct check *check, uint64_t pc, uint64_t height) {
    uint64_t at = mix(pc, height) % IDENTIFIERS;
    for (unsigned i = 0; i < PROBES; i++) {
        struct identifier *id = &check->identifier[(at + i) % IDENTIFIERS];
        if (id->pc == 0 || (id->pc == pc && id->height == height))
            return id;
    }
    return NULL;
}

static void identify(struct agent_thread *thread, struct wire_slot *slot,
                     const struct shown *frames) {
    const struct unwind_registers *regs = &thread->interrupted;
    uint64_t height = thread->stack_high - regs->reg[ARCH_SP];
    struct identifier *id = find(thread->check, regs->pc, height);
    uint64_t context = hash_of(frames);
    if (id == NULL)
        return;
    if (id->pc == 0) {
        *id = (struct identifier){.pc = regs->pc, .height = height, .context = context};
        session_count(slot, WIRE_IDENTIFIERS, 1);
        return;
    }
    session_count(slot, WIRE_RECURRED, 1);
    if (id->context == context) {
        session_count(slot, WIRE_IDENTIFIED, 1);
        return;
    }
    session_count(slot, WIRE_AMBIGUOUS, !id->ambiguous);
    id->ambiguous = true;
    id->context = context;
}

void check_walk(struct agent_thread *thread, struct wire_slot *slot, const struct unwind_env *env,
                const struct shown *frames, uint32_t limit, enum unwind_end end) {
    struct unwind_registers copy = thread->interrupted;
    uint32_t n;
    enum unwind_end full = unwind_walk(env, &copy, thread->check->frame, limit, &n);
    if (full == UNWIND_PENDING)
        return; /* an object was loaded, or unloaded, between the two */
    session_count(slot, WIRE_CHECKED, 1);
    session_count(slot, WIRE_DIFFERENT, full != end || !same(frames, thread->check->frame, n));
    identify(thread, slot, frames);
}
