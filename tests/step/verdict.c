/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * verdict.c - three opinions about one stack.
 */
#include "tests/step/verdict.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/step/registers.h"

static uint64_t scratch[UNWIND_SCRATCH_WORDS];

#define PLACES_LISTED 12 /* of each verdict */
#define CACHE_BYTES   ((1u << UNWIND_CACHE_BITS) * sizeof(struct unwind_cached))

static const char *const meaning[VERDICTS] = {
    [VERDICT_AGREED] = "our walk, libunwind and the truth agree",
    [VERDICT_UNKNOWN] = "no true stack: it is being replaced",
    [VERDICT_REMOTE_NO_ENTRY] = "ours is true; libunwind has no unwind entry",
    [VERDICT_REMOTE_OTHER] = "ours is true; libunwind is wrong",
    [VERDICT_NO_ENTRY] = "ours ends early: no unwind entry",
    [VERDICT_RICH] = "ours ends early: left to a full unwinder",
    [VERDICT_REGISTER] = "ours ends early: a register that is not followed",
    [VERDICT_TARGET] = "ours ends early: the entry describes where it goes",
    [VERDICT_GUESS] = "ours passes over callers: no unwind entry, by frame pointer",
    [VERDICT_CONTEXT] = "ours goes on beyond a context's first function",
    [VERDICT_OVERWRITTEN] = "frame overwritten by the exception unwinder",
    [VERDICT_INCOMPLETE] = "ours ends early, NOT EXPLAINED",
    [VERDICT_WRONG] = "ours is WRONG",
    [VERDICT_FAST] = "ours is ANOTHER with a cache and direct reads",
    [VERDICT_ROUTINE] = "ours has a WRONG routine",
};

bool judge_init(struct judge *judge, struct images *images, struct memory *memory,
                struct remote *remote) {
    *judge = (struct judge){.images = images, .memory = memory, .remote = remote};
    judge->place = calloc(VERDICT_PLACES, sizeof *judge->place);
    judge->cache = aligned_alloc(64, CACHE_BYTES);
    return judge->place != NULL && judge->cache != NULL;
}

void judge_clear(struct judge *judge) {
    free(judge->place);
    free(judge->cache);
    mirror_clear(&judge->mirror);
    judge->place = NULL;
    judge->cache = NULL;
}

void judge_images(struct judge *judge) {
    static const char *const name[] = {"_Unwind_RaiseException", "_Unwind_Resume",
                                       "_Unwind_ForcedUnwind", "_Unwind_Resume_or_Rethrow"};
    for (size_t i = 0; i < HCCT_ARRAY_LEN(name); i++)
        judge->installers[i] = images_symbol(judge->images, "libgcc_s.so.1", name[i]);
    memset(judge->cache, 0, CACHE_BYTES);
}

/* The opinions at one instruction. */
struct stacks {
    struct unwind_frame frame[STACK_DEPTH]; /* of our walk, and how it ended */
    uint32_t n_frames;
    enum unwind_end end;
    struct stack ours, theirs, truth; /* `ours` is what the frames come to */
    uint64_t pc;
    bool by_hand; /* the outermost caller is */
};

/* ---- counting ---- */

static void count(struct judge *judge, enum verdict verdict, uint64_t pc, const char *detail) {
    uint64_t routine = remote_routine(judge->remote, pc);
    routine = routine != 0 ? routine : images_nearest(judge->images, pc);
    judge->count[verdict]++;
    for (uint32_t i = 0; i < judge->n_places; i++)
        if (judge->place[i].routine == routine && judge->place[i].verdict == verdict) {
            judge->place[i].n++;
            return;
        }
    if (judge->n_places == VERDICT_PLACES)
        return;
    struct verdict_place *place = &judge->place[judge->n_places++];
    *place = (struct verdict_place){.verdict = verdict, .routine = routine, .n = 1};
    images_describe(judge->images, routine, place->name, sizeof place->name);
    snprintf(place->detail, sizeof place->detail, "%s", detail);
}

uint64_t judge_count_in(const struct judge *judge, enum verdict verdict, const char *file) {
    uint64_t n = 0;
    size_t length = strlen(file);
    for (uint32_t i = 0; i < judge->n_places; i++) {
        const struct verdict_place *place = &judge->place[i];
        bool is_in = strncmp(place->name, file, length) == 0 && place->name[length] == ':';
        n += is_in && place->verdict == verdict ? place->n : 0;
    }
    return n;
}

static int by_count(const void *a, const void *b) {
    const struct verdict_place *x = a, *y = b;
    if (x->verdict != y->verdict)
        return x->verdict < y->verdict ? -1 : 1;
    return x->n < y->n ? 1 : x->n > y->n ? -1 : strcmp(x->name, y->name);
}

void judge_print(const struct judge *judge) {
    qsort(judge->place, judge->n_places, sizeof *judge->place, by_count);
    for (int verdict = 0; verdict < VERDICTS; verdict++) {
        uint32_t listed = 0;
        printf("%9" PRIu64 "  %s\n", judge->count[verdict], meaning[verdict]);
        for (uint32_t i = 0; i < judge->n_places && listed < PLACES_LISTED; i++)
            if (judge->place[i].verdict == (enum verdict)verdict && ++listed > 0)
                printf("%9" PRIu64 "      %s: %s\n", judge->place[i].n, judge->place[i].name,
                       judge->place[i].detail);
    }
    printf("%9" PRIu64 "  walks once more with a cache and direct reads\n", judge->fast);
    printf("%9" PRIu64 "  where libunwind's was true, ours not\n", judge->remote_better);
}

/* ---- the opinions ---- */

static bool find_module(void *arg, uint64_t pc, struct unwind_module *module) {
    const struct image *image = images_find(((struct judge *)arg)->images, pc);
    if (image == NULL)
        return false;
    *module = (struct unwind_module){
        .start = image->start, .end = image->end, .bias = image->bias, .table = image->file->table};
    return true;
}

static bool read_word(void *arg, uint64_t address, uint64_t *word) {
    return memory_word(((struct judge *)arg)->memory, address, word);
}

static void walk(struct judge *judge, struct unwind_registers regs, struct stacks *stacks) {
    /* nothing of the target can be read directly */
    struct unwind_env env = {.find = find_module,
                             .scratch = scratch,
                             .read = read_word,
                             .arg = judge,
                             .low = 8,
                             .high = 8};
    struct stack *ours = &stacks->ours;
    stacks->end = unwind_walk(&env, &regs, stacks->frame, STACK_DEPTH, &stacks->n_frames);
    for (ours->n = 0; ours->n < stacks->n_frames && stacks->frame[ours->n].site != 0; ours->n++)
        ours->address[ours->n] = stacks->frame[ours->n].site;
    ours->complete = stacks->end == UNWIND_COMPLETE;
}

/* The walk once more, as the agent does it. False: it is not the same. */
static bool is_same_when_fast(struct judge *judge, const struct shadow_thread *thread,
                              struct unwind_registers regs, const struct stacks *stacks) {
    static struct unwind_frame again[STACK_DEPTH];
    struct unwind_env env = {.find = find_module,
                             .scratch = scratch,
                             .read = read_word,
                             .arg = judge,
                             .low = regs.reg[ARCH_SP],
                             .high = thread->region->end,
                             .cache = judge->cache};
    uint32_t n;
    if (!mirror_stack(&judge->mirror, judge->memory->pid, env.low, env.high))
        return true;
    judge->fast++;
    return unwind_walk(&env, &regs, again, STACK_DEPTH, &n) == stacks->end &&
           n == stacks->n_frames && memcmp(again, stacks->frame, n * sizeof *again) == 0;
}

/* ---- comparing ---- */

static uint32_t common(const struct stack *a, const struct stack *b) {
    uint32_t n = 0;
    while (n < a->n && n < b->n && a->address[n] == b->address[n])
        n++;
    return n;
}

static bool same(const struct stack *a, const struct stack *b) {
    return a->complete && b->complete && a->n == b->n && common(a, b) == a->n;
}

/* Where to look frame i up: the code that executes, or the call. */
static uint64_t place_of(const struct stack *stack, uint64_t pc, uint32_t i) {
    return i == 0 ? pc : stack->address[i - 1] - 1;
}

#define NO_BASE 255u

/* The register that the frame's address is computed from. NO_BASE: no rule says. */
static uint8_t base_register(const struct image *image, uint64_t pc) {
    const struct unwind_table *table = image->file->table;
    const struct unwind_row *row = table != NULL ? unwind_lookup(table, pc - image->bias) : NULL;
    if (row == NULL)
        return NO_BASE;
    const struct unwind_rule *rule = &unwind_rules(table)[row->rule];
    return rule->cfa == UNWIND_CFA_REG || rule->cfa == UNWIND_CFA_DEREF ? rule->cfa_reg : NO_BASE;
}

/* Whether one of the first `frames` frames is in code without an unwind entry. */
static bool has_bare(struct judge *judge, const struct stacks *stacks, uint32_t frames) {
    for (uint32_t i = 0; i < frames; i++)
        if (remote_routine(judge->remote, place_of(&stacks->truth, stacks->pc, i)) == 0)
            return true;
    return false;
}

/* Our walk was right up to frame `at`: why did it end there? Code without an unwind entry may have
 * been passed, but then the frame pointer can be lost. */
static enum verdict why_early(struct judge *judge, const struct stacks *stacks, uint32_t at) {
    const enum unwind_end end = stacks->end;
    uint64_t pc = place_of(&stacks->truth, stacks->pc, at);
    const struct image *image = images_find(judge->images, pc);
    if (image == NULL)
        return VERDICT_INCOMPLETE;
    if (end == UNWIND_NO_RULE && remote_routine(judge->remote, pc) == 0)
        return VERDICT_NO_ENTRY;
    uint8_t base = base_register(image, pc);
    if (end == UNWIND_NO_RULE && base == ARCH_FP && has_bare(judge, stacks, at))
        return VERDICT_NO_ENTRY;
    if (base == ARCH_SP || base == ARCH_FP)
        return VERDICT_INCOMPLETE;
    if (base == NO_BASE)
        return end != UNWIND_RICH                      ? VERDICT_INCOMPLETE
               : same(&stacks->theirs, &stacks->truth) ? VERDICT_RICH
                                                       : VERDICT_TARGET;
    return end == UNWIND_BAD_STACK ? VERDICT_TARGET : VERDICT_REGISTER;
}

static bool has_installer(const struct judge *judge, const struct stack *truth, uint64_t pc,
                          uint32_t frames) {
    for (uint32_t i = 0; i < frames; i++) {
        uint64_t routine = remote_routine(judge->remote, place_of(truth, pc, i));
        for (size_t k = 0; k < HCCT_ARRAY_LEN(judge->installers); k++)
            if (routine != 0 && routine == judge->installers[k])
                return true;
    }
    return false;
}

/* From `right` on, ours is what remains of the true stack when callers are left out at once. */
static bool passes_over(const struct stack *ours, const struct stack *truth, uint32_t right) {
    if (!ours->complete || ours->n < right || ours->n >= truth->n)
        return false;
    uint32_t left_out = truth->n - ours->n;
    return memcmp(ours->address + right, truth->address + right + left_out,
                  (ours->n - right) * sizeof ours->address[0]) == 0;
}

/* Ours is not the true stack. */
static enum verdict accuse(struct judge *judge, const struct stacks *stacks) {
    const enum unwind_end end = stacks->end;
    const struct stack *ours = &stacks->ours, *truth = &stacks->truth;
    uint32_t right = common(ours, truth), remote_right = common(&stacks->theirs, truth);
    bool early = right == ours->n && end != UNWIND_COMPLETE;
    enum verdict verdict = early ? VERDICT_INCOMPLETE : VERDICT_WRONG;
    uint64_t pc = place_of(truth, stacks->pc, right);
    if (right == truth->n && stacks->by_hand && remote_right == right)
        return VERDICT_CONTEXT;
    if (early)
        verdict = why_early(judge, stacks, right);
    if (verdict != VERDICT_INCOMPLETE && verdict != VERDICT_WRONG)
        return verdict;
    if (remote_right == right && has_installer(judge, truth, stacks->pc, right + 1))
        return VERDICT_OVERWRITTEN;
    bool guessed = remote_routine(judge->remote, pc) == 0 && passes_over(ours, truth, right);
    return guessed ? VERDICT_GUESS : verdict;
}

/* The frame whose routine libunwind has elsewhere; ours->n + 1: there is none. */
static uint32_t other_routine(struct judge *judge, const struct stacks *stacks) {
    for (uint32_t i = 0; i <= stacks->ours.n; i++) {
        uint64_t routine = remote_routine(judge->remote, place_of(&stacks->ours, stacks->pc, i));
        if (routine != 0 && routine != stacks->frame[i].routine)
            return i;
    }
    return stacks->ours.n + 1;
}

/* Says in a few words how far the opinions go; counts the verdict. */
static void sentence(struct judge *judge, enum verdict verdict, const struct stacks *stacks,
                     uint32_t at) {
    char detail[160];
    uint64_t pc = place_of(&stacks->truth, stacks->pc, at);
    uint64_t routine = remote_routine(judge->remote, pc);
    snprintf(detail, sizeof detail,
             "frame %u +0x%" PRIx64 ", ours %u (end %d), libunwind %u%s, truth %u", at,
             pc - (routine != 0 ? routine : images_nearest(judge->images, pc)), stacks->ours.n,
             (int)stacks->end, stacks->theirs.n, stacks->theirs.complete ? "" : " (error)",
             stacks->truth.n);
    count(judge, verdict, pc, detail);
}

static void weigh(struct judge *judge, const struct stacks *stacks) {
    const struct stack *ours = &stacks->ours, *truth = &stacks->truth;
    bool remote_right = same(&stacks->theirs, truth);
    uint32_t at;
    if (!same(ours, truth)) {
        judge->remote_better += remote_right;
        sentence(judge, accuse(judge, stacks), stacks, common(ours, truth));
    } else if (!remote_right) {
        at = common(&stacks->theirs, truth);
        bool entry = remote_routine(judge->remote, place_of(truth, stacks->pc, at)) != 0;
        sentence(judge, entry ? VERDICT_REMOTE_OTHER : VERDICT_REMOTE_NO_ENTRY, stacks, at);
    } else if ((at = other_routine(judge, stacks)) <= ours->n) {
        sentence(judge, VERDICT_ROUTINE, stacks, at);
    } else {
        judge->count[VERDICT_AGREED]++;
    }
}

void judge_stack(struct judge *judge, const struct shadow_thread *thread,
                 const struct user_regs_struct *user) {
    static struct stacks stacks;
    const struct unwind_registers regs = registers_for_walk(user);
    struct stack *theirs = &stacks.theirs;
    walk(judge, regs, &stacks);
    if (!is_same_when_fast(judge, thread, regs, &stacks))
        count(judge, VERDICT_FAST, regs.pc, "");
    if (!thread->resolved) {
        count(judge, VERDICT_UNKNOWN, regs.pc, "");
        return;
    }
    stacks.pc = regs.pc;
    stacks.by_hand = shadow_is_by_hand(thread);
    stacks.truth.n = shadow_stack(thread, stacks.truth.address, STACK_DEPTH);
    stacks.truth.complete = true;
    theirs->n = remote_walk(judge->remote, &regs, theirs->address, STACK_DEPTH, &theirs->complete);
    if (!same(theirs, &stacks.truth))
        theirs->n = remote_walk_uncached(judge->remote, &regs, theirs->address, STACK_DEPTH,
                                         &theirs->complete);
    weigh(judge, &stacks);
}
