/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * verdict.h - what three opinions about one stack come to: our walk's, libunwind's, and the truth
 * that was seen to happen.
 */
#ifndef HCCT_STEP_VERDICT_H
#define HCCT_STEP_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/sample/unwind.h"
#include "tests/step/images.h"
#include "tests/step/mirror.h"
#include "tests/step/remote.h"
#include "tests/step/shadow.h"

#define STACK_DEPTH 512

/* Return addresses, innermost first. */
struct stack {
    uint64_t address[STACK_DEPTH];
    uint32_t n;
    bool complete;
};

enum verdict {
    VERDICT_AGREED, /* all three are the same */
    /* There is no true stack at this instruction: it is being replaced (shadow.h). */
    VERDICT_UNKNOWN,
    /* Ours is the true one, libunwind's is not: because there is no unwind entry, or for other
     * reasons of its own. */
    VERDICT_REMOTE_NO_ENTRY,
    VERDICT_REMOTE_OTHER,
    /* Ours is right as far as it goes, and ends, saying so: there is no unwind entry, here or in
     * a frame before; the entry says more than a compact rule can (libunwind's is true); its rule
     * needs a register that is not followed. */
    VERDICT_NO_ENTRY,
    VERDICT_RICH,
    VERDICT_REGISTER,
    /* The entry describes the context that its function goes to (setcontext, longjmp): libunwind
     * can't tell, either. */
    VERDICT_TARGET,
    /* No unwind entry, and no frame either: the frame pointer belongs to a caller's caller. */
    VERDICT_GUESS,
    /* Ours goes on beyond the first function of a makecontext: the C library's entry for the code
     * that it returns to says that this has a caller. libunwind goes on, too. */
    VERDICT_CONTEXT,
    /* The exception unwinder has written the registers of the frame that it goes to over those that
     * its own frame has saved: no table can tell. libunwind goes astray at the same frame. */
    VERDICT_OVERWRITTEN,
    /* Not to be. */
    VERDICT_INCOMPLETE,
    VERDICT_WRONG,
    VERDICT_FAST,    /* the walk as in the agent, with a cache and direct reads, is another */
    VERDICT_ROUTINE, /* the stack is right, but libunwind has the routine of a frame elsewhere */
    VERDICTS
};

/* How many instructions had a verdict, for each function that was the reason. */
struct verdict_place {
    enum verdict verdict;
    uint64_t routine;
    uint64_t n;
    char name[160];
    char detail[160]; /* of the first */
};

#define VERDICT_PLACES 4096

struct judge {
    struct images *images;
    struct memory *memory;
    struct remote *remote;
    struct mirror mirror;
    struct unwind_cached *cache; /* of the walk as in the agent */
    uint64_t count[VERDICTS];
    uint64_t fast;          /* walks that were done as in the agent, too */
    uint64_t remote_better; /* libunwind's was true, ours not */
    uint64_t installers[4]; /* functions that go to an exception's handler */
    uint32_t n_places;
    struct verdict_place *place; /* VERDICT_PLACES */
};

/* False: no memory. */
bool judge_init(struct judge *judge, struct images *images, struct memory *memory,
                struct remote *remote);
void judge_clear(struct judge *judge);

/* The images have changed. */
void judge_images(struct judge *judge);

/* Walks the stack of a thread that is about to execute an instruction, and counts the verdict. */
void judge_stack(struct judge *judge, const struct shadow_thread *thread,
                 const struct user_regs_struct *regs);

/* How many instructions had the verdict because of a function of this file (its name without
 * directories). */
uint64_t judge_count_in(const struct judge *judge, enum verdict verdict, const char *file);

/* The table of verdicts. */
void judge_print(const struct judge *judge);

#endif
