/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * memo.h - the memoized walk: what the last walk of a thread found, and the words that it read.
 *
 * A step of the walk is a function of the pc, the stack pointer and the few words that it reads
 * (and of the frame pointer, where a rule uses it). So a new walk goes by rules until it arrives at
 * a frame with the same pc and stack pointer as a remembered one; from there on it is enough to
 * read the remembered words again: when all are the same, the rest of the context is. Nothing is
 * assumed of what the program did meanwhile, and nothing is written to its stack.
 *
 * (The sampled bit of Arnold and Sweeney's tree, and the (pc, stack height) identifiers of
 * Mytkowicz, Coughlin and Diwan, OOPSLA 2009, are after the same saving; the first patches return
 * addresses, the second is ambiguous.)
 *
 * Pure but for the memory that it is given: no system call, no thread, no module in sight.
 */
#ifndef HCCT_MEMO_H
#define HCCT_MEMO_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/sample/unwind.h"

struct memo_word {
    uint64_t address, value;
};

/* One frame of the last walk, and the registers with which the walk arrived at it. */
struct memo_frame {
    struct unwind_frame frame; /* first: struct shown */
    uint64_t pc, sp, fp;
    uint32_t words; /* words that this frame and all outer ones depend on */
    bool exact;     /* the pc is not a return address */
    bool needs_fp;  /* this frame or an outer one depends on the frame pointer on arrival here */
};

/* A frame that the walk being made has just found. */
struct memo_step {
    uint64_t pc, sp, fp;
    bool exact;
    struct unwind_step step;
};

/* Memory is the caller's: zeroed at first, for `room` frames and steps and `words_room` words. */
struct memo {
    struct memo_frame *frame; /* outermost first */
    struct memo_step *step;   /* innermost first */
    struct memo_word *word;
    uint32_t room, words_room;
    uint32_t depth;  /* frames of the last walk */
    uint32_t opaque; /* the outermost frame that can't be verified by reading; UINT32_MAX: none */
    struct unwind_cached *cache; /* rules by pc, see unwind.h: for memo_cache */
    bool used;                   /* there is something to forget */
    bool stale;                  /* the rules are of what was forgotten */
    struct unwind_registers at;  /* where the walk being made is: not on a signal's stack */
};

struct memo_result {
    enum unwind_end end;
    uint32_t same; /* so many outermost frames are as they were after the last walk */
    uint32_t stepped, cached, by_fp; /* frames found by a step; of these, rule from the cache; by
                                        frame pointer. The other frames were re-read. */
    uint32_t searched;               /* and by a search of the stack */
    uint32_t bare;                   /* in code without unwind data, these among them */
    uint32_t effort;                 /* as so many steps more (unwind.h) */
};

/* Forgets all: addresses may mean other code than they did. The rules, 64 KB, are emptied when they
 * are asked for next: a thread, or a child of fork, that ends before does not pay for it. Any
 * context. */
void memo_forget(struct memo *memo);
/* Forgets the last walk, which was another thread's. Any context. */
void memo_forget_walk(struct memo *memo);
/* The rules that were found before, for walks of this thread. Signal context. */
struct unwind_cached *memo_cache(struct memo *memo);

/* The walk from `regs`: afterwards memo->frame[0..depth) is the context. At most `limit` frames,
 * the innermost. When the walk ended at UNWIND_PENDING or UNWIND_RICH, the memo holds nothing but
 * the steps found up to there, memo->step[0..stepped): the last one has no caller, and memo->at is
 * where it stands. Signal context. */
void memo_walk(struct memo *memo, const struct unwind_env *env, const struct unwind_registers *regs,
               uint32_t limit, struct memo_result *result);

#endif
