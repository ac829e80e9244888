/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * emit_raw_stack.c - RAW_STACK: one record, published whole, that moves no cursor.
 */
#include "preload/sample/emit_raw_stack.h"

#include <string.h>

#include "common/wire/ring.h"
#include "preload/life/modules.h"
#include "preload/sample/emit.h"
#include "preload/sample/unwind_inner.h"

#define HEAD_WORDS  (5u + ARCH_REGS) /* verb, sizes, pc, place, known, registers */
#define FRAME_WORDS 2u

/* On another stack than the thread's own its end is unknown, and each page is probed. */
#define FOREIGN_MAX 1024u

static uint64_t words_above(const struct unwind_env *env, uint64_t sp) {
    uint64_t n = FOREIGN_MAX;
    if (sp >= env->low && sp < env->high)
        n = (env->high - sp) / 8;
    return n < WIRE_RAW_STACK_MAX ? n : WIRE_RAW_STACK_MAX;
}

_Static_assert(sizeof(struct modules_missed) <= UNWIND_SCRATCH_WORDS * 8, "it has room");

/* Objects of callers that the walk has not come to go to the module log before the copy is sent.
 * The caller of a leaf may be in a register alone. */
static void learn_modules(struct agent_thread *thread, struct wire_session *session,
                          const struct unwind_env *env, const struct unwind_registers *regs,
                          uint64_t sp, uint64_t n) {
    struct modules_missed *missed = (void *)env->scratch;
    uint64_t word;
    memset(missed, 0, sizeof *missed);
    for (unsigned i = 0; i < ARCH_REGS; i++)
        if ((regs->known >> i & 1) != 0 && i != ARCH_SP)
            modules_learn_pointed(thread, session, arch_unsigned(regs->reg[i]), missed);
    for (uint64_t i = 0; i < n && unwind_read(env, sp + 8 * i, &word); i++)
        if (word < env->low || word >= env->high)
            modules_learn_pointed(thread, session, arch_unsigned(word), missed);
}

/* Everything but the verb and the sizes, and in front of the frames and the stack. */
static void put_place(const struct agent_thread *thread, struct wire_slot *slot, uint64_t at,
                      const struct unwind_registers *regs) {
    ring_put(slot, WALK_WORDS, at, thread->interrupted.pc);
    ring_put(slot, WALK_WORDS, at + 1, regs->pc);
    ring_put(slot, WALK_WORDS, at + 2, regs->known & ARCH_ALL_REGS);
    for (unsigned i = 0; i < ARCH_REGS; i++)
        ring_put(slot, WALK_WORDS, at + 3 + i, regs->reg[i]);
}

uint32_t emit_raw_stack(struct agent_thread *thread, struct wire_session *session,
                        struct wire_slot *slot, uint64_t weight, uint32_t inner,
                        const struct unwind_env *env) {
    const struct unwind_registers *regs = inner > 0 ? &thread->memo.at : &thread->interrupted;
    uint64_t sp = regs->reg[ARCH_SP] & ~7ull, n = words_above(env, sp), word, copied = 0;
    uint64_t start = thread->stream->head;
    thread->stream->whole = false;
    bool in_call = wire_is_system_call(thread->leaf.routine) && inner < WIRE_RAW_STACK_FRAMES_MAX;
    if (ring_room(slot, WALK_WORDS, start) <
        EMIT_MAP_WORDS + HEAD_WORDS + FRAME_WORDS * (inner + in_call) + n)
        return 0;
    learn_modules(thread, session, env, regs, sp, n);
    emit_map(thread, slot, &start);
    uint64_t at = start + HEAD_WORDS;
    if (in_call) {
        ring_put(slot, WALK_WORDS, at++, thread->leaf.routine);
        ring_put(slot, WALK_WORDS, at++, thread->leaf.site);
    }
    for (uint32_t i = 0; i < inner; i++) {
        ring_put(slot, WALK_WORDS, at++, thread->memo.step[i].step.routine);
        ring_put(slot, WALK_WORDS, at++, thread->memo.step[i].step.site);
    }
    for (; copied < n && unwind_read(env, sp + 8 * copied, &word); copied++)
        ring_put(slot, WALK_WORDS, at++, word);
    ring_put(slot, WALK_WORDS, start, wire_word(WIRE_RAW_STACK, weight | thread->sample_marks));
    ring_put(slot, WALK_WORDS, start + 1, WIRE_RAW_STACK_SIZES(inner + in_call, ARCH_REGS, copied));
    put_place(thread, slot, start + 2, regs);
    thread->stream->head = at;
    ring_publish(slot, at);
    return (uint32_t)(at - start);
}
