/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * memo.c - new frames by steps, old frames by reading again what they depended on.
 *
 * Frames are kept outermost first, as they come and go at the inner end; steps are gathered
 * innermost first, as they are found. A join is tried at most once for each remembered frame, as
 * the stack pointer only rises.
 */
#include "preload/sample/memo.h"

#include <string.h>

#include "common/wire/compiler.h"
#include "preload/sample/unwind_usual.h"

void memo_forget(struct memo *memo) {
    if (!memo->used)
        return; /* of a thread that is never walked no page is touched */
    memo->used = false;
    memo->stale = true;
    memo->depth = 0;
}

void memo_forget_walk(struct memo *memo) {
    if (memo->used)
        memo->depth = 0;
}

struct unwind_cached *memo_cache(struct memo *memo) {
    if (hcct_unlikely(memo->stale))
        memset(memo->cache, 0, sizeof *memo->cache << UNWIND_CACHE_BITS);
    memo->stale = false;
    memo->used = true;
    return memo->cache;
}

/* ---- joining the remembered walk ---- */

/* Not 0 when the word has changed. */
static uint64_t difference(const struct memo_word *word) {
    return *(const volatile uint64_t *)word->address ^ word->value;
}

/* How many of the `n` outermost words are below the first one, from the innermost on, that has
 * changed: 0 when none has. All are on the thread's own stack, above its stack pointer. */
static uint32_t changed_word(const struct memo_word *word, uint32_t n) {
    for (; n >= 4; n -= 4) {
        const struct memo_word *w = word + n - 4;
        if ((difference(&w[3]) | difference(&w[2]) | difference(&w[1]) | difference(w)) != 0)
            break;
    }
    while (n > 0 && difference(&word[n - 1]) == 0)
        n--;
    return n;
}

/* The walk has arrived where it was the last time: all that frame `f` depends on, beside words. A
 * stack pointer that is not known may be the same by chance (aarch64's unwinder of exceptions
 * leaves one behind where it returns to a frame further out). */
static bool same_arrival(const struct memo_frame *f, const struct unwind_registers *regs) {
    if (f->pc != regs->pc || f->sp != regs->reg[ARCH_SP] || f->exact != regs->exact ||
        (regs->known & UNWIND_SP_KNOWN) == 0)
        return false;
    return !f->needs_fp || ((regs->known & UNWIND_FP_KNOWN) != 0 && f->fp == regs->reg[ARCH_FP]);
}

/* Whether the rest of the walk is the remembered frames [0, *candidates). Frames that the stack
 * pointer has passed are no candidates any more, nor those that stand on a changed word. */
static bool join(const struct memo *memo, const struct unwind_registers *regs,
                 uint32_t *candidates) {
    uint32_t k = *candidates;
    while (k > 0 && memo->frame[k - 1].sp < regs->reg[ARCH_SP])
        k--;
    *candidates = k;
    if (k == 0 || k > memo->opaque || !same_arrival(&memo->frame[k - 1], regs))
        return false;
    uint32_t changed = changed_word(memo->word, memo->frame[k - 1].words);
    if (changed == 0)
        return true;
    while (k > 0 && memo->frame[k - 1].words >= changed)
        k--;
    *candidates = k;
    return false;
}

/* ---- remembering ---- */

/* The word will be readable whenever the walk is at `sp` again. */
static bool stays_readable(const struct unwind_env *env, uint64_t sp, uint64_t address) {
    return address >= sp && unwind_on_stack(env, address);
}

static bool remember_word(struct memo *memo, const struct unwind_env *env, uint64_t sp, uint32_t *n,
                          uint64_t address, uint64_t value) {
    if (!stays_readable(env, sp, address) || *n == memo->words_room)
        return false;
    memo->word[(*n)++] = (struct memo_word){address, value};
    return true;
}

/* The words of a step that all outer frames' identity hangs on. `caller` is the frame outside, NULL
 * for the outermost. False: the step can't be verified by reading. */
static bool remember_words(struct memo *memo, const struct unwind_env *env,
                           const struct memo_step *s, const struct memo_frame *caller,
                           uint64_t caller_fp, uint32_t *n) {
    const struct unwind_step *step = &s->step;
    if ((step->flags & UNWIND_STEP_OPAQUE) != 0)
        return false;
    if (step->ra_at != 0 && !remember_word(memo, env, s->sp, n, step->ra_at, step->ra_word))
        return false;
    if (step->cfa_at != 0 && !remember_word(memo, env, s->sp, n, step->cfa_at, step->cfa_word))
        return false;
    if (caller == NULL || !caller->needs_fp)
        return (step->fp_at == 0) | stays_readable(env, s->sp, step->fp_at);
    return step->fp_at == 0 || remember_word(memo, env, s->sp, n, step->fp_at, caller_fp);
}

/* Makes step `s` frame `i`. The outermost frame of a walk that did not reach the root is opaque:
 * its step must be tried anew each time. */
static void remember(struct memo *memo, const struct unwind_env *env, uint32_t i,
                     const struct memo_step *s, bool final_failed) {
    struct memo_frame *f = &memo->frame[i];
    const struct memo_frame *caller = i > 0 ? f - 1 : NULL;
    uint32_t words = caller != NULL ? caller->words : 0;
    bool passes = (s->step.flags & UNWIND_STEP_PASSES_FP) != 0;
    bool verifiable = !final_failed &&
                      remember_words(memo, env, s, caller, caller != NULL ? caller->fp : 0, &words);
    if (!verifiable && memo->opaque == UINT32_MAX)
        memo->opaque = i;
    *f = (struct memo_frame){
        .frame = {s->step.routine, s->step.site},
        .pc = s->pc,
        .sp = s->sp,
        .fp = s->fp,
        .words = words,
        .exact = s->exact,
        .needs_fp = (s->step.flags & UNWIND_STEP_USES_FP) != 0 ||
                    (passes && caller != NULL && caller->needs_fp),
    };
}

static bool same_frame(const struct unwind_frame *a, const struct unwind_step *b) {
    return a->routine == b->routine && a->site == b->site;
}

/* Puts the steps found inside of the `kept` outermost frames. */
static void keep(struct memo *memo, const struct unwind_env *env, uint32_t kept, uint32_t found,
                 struct memo_result *result) {
    uint32_t before = memo->depth;
    bool failed = result->end != UNWIND_COMPLETE;
    result->same = kept;
    if (memo->opaque >= kept)
        memo->opaque = UINT32_MAX;
    for (uint32_t i = kept; i < kept + found; i++) {
        const struct memo_step *s = &memo->step[found - 1 - (i - kept)];
        if (result->same == i && i < before && same_frame(&memo->frame[i].frame, &s->step))
            result->same++;
        remember(memo, env, i, s, failed && i == 0);
    }
    memo->depth = kept + found;
}

/* ---- the walk ---- */

static void count(struct memo_result *result, const struct unwind_step *step) {
    result->stepped++;
    result->cached += (step->flags & UNWIND_STEP_CACHED) != 0;
    result->by_fp += (step->flags & UNWIND_STEP_BY_FP) != 0;
    result->searched += (step->flags & UNWIND_STEP_SEARCHED) != 0;
    result->bare += (step->flags & UNWIND_STEP_BARE) != 0;
    result->effort += step->effort;
}

/* A usual step, and as many more as begin below the stack pointer `stop`. Returns how many frames
 * have been found then. */
static uint32_t run(struct memo *memo, const struct unwind_env *env, struct unwind_registers *regs,
                    uint64_t stop, uint32_t found, uint32_t limit) {
    struct unwind_place at = unwind_place_of(regs);
    do {
        struct memo_step *s = &memo->step[found];
        s->pc = at.pc;
        s->sp = at.sp;
        s->fp = at.fp;
        s->exact = false;
        if (!unwind_usual(env, &at, &s->step))
            break;
        found++;
    } while (found < limit && at.sp < stop);
    unwind_arrive(regs, &at);
    return found;
}

static uint32_t step(struct memo *memo, const struct unwind_env *env, struct unwind_module *module,
                     struct unwind_registers *regs, uint32_t found, struct memo_result *result) {
    struct memo_step *s = &memo->step[found];
    s->pc = regs->pc;
    s->sp = regs->reg[ARCH_SP];
    s->fp = regs->reg[ARCH_FP];
    s->exact = regs->exact;
    result->end = unwind_step(env, module, regs, &s->step);
    if (s->step.routine == 0)
        return found;
    count(result, &s->step);
    return found + 1;
}

/* Frames up to where the remembered ones go on, or to the end. Returns how many, and in *candidates
 * how many remembered ones follow. */
static uint32_t find_new(struct memo *memo, const struct unwind_env *env,
                         struct unwind_registers *regs, uint32_t limit, uint32_t *candidates,
                         struct memo_result *result) {
    struct unwind_module module = {0};
    uint32_t found = 0;
    while (result->end == UNWIND_STEPPED) {
        if (join(memo, regs, candidates)) {
            if (found + *candidates <= limit) {
                result->end = UNWIND_COMPLETE;
                return found;
            }
            *candidates = 0; /* they would not fit: the innermost ones are found by steps */
        }
        if (found == limit) {
            result->end = UNWIND_TRUNCATED;
            break;
        }
        uint64_t stop = *candidates > 0 ? memo->frame[*candidates - 1].sp : UINT64_MAX;
        uint32_t usual = regs->exact ? 0 : run(memo, env, regs, stop, found, limit) - found;
        found += usual;
        result->stepped += usual;
        result->cached += usual;
        if (usual == 0)
            found = step(memo, env, &module, regs, found, result);
    }
    *candidates = 0;
    return found;
}

void memo_walk(struct memo *memo, const struct unwind_env *given,
               const struct unwind_registers *start, uint32_t limit, struct memo_result *result) {
    struct unwind_env env = *given;
    uint32_t candidates = memo->depth;
    env.cache = memo_cache(memo);
    memo->at = *start;
    *result = (struct memo_result){.end = UNWIND_STEPPED};
    uint32_t found = find_new(memo, &env, &memo->at, limit < memo->room ? limit : memo->room,
                              &candidates, result);
    if (result->end == UNWIND_PENDING || result->end == UNWIND_RICH)
        memo->depth = 0;
    else
        keep(memo, &env, candidates, found, result);
}
