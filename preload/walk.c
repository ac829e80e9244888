/*
 * walk.c - from the interrupted registers to one record in the ring.
 */
#include "preload/walk.h"

#include "preload/emit.h"
#include "preload/modules.h"
#include "preload/session.h"
#include "preload/stack.h"

/* A module whose table does not come for so much CPU time is one that has none. */
#define PATIENCE_NS 2000000000ull

/* What each way to end means: a counter, and the mark that stands above a partial walk. */
static const struct {
    enum wire_counter counter;
    enum wire_pseudo mark;
} ends[] = {
    [UNWIND_COMPLETE] = {WIRE_COMPLETE, 0},
    [UNWIND_TRUNCATED] = {WIRE_TRUNCATED, WIRE_PSEUDO_TRUNCATED},
    [UNWIND_NO_MODULE] = {WIRE_NO_MODULE, WIRE_PSEUDO_NO_MODULE},
    [UNWIND_NO_RULE] = {WIRE_NO_RULE, WIRE_PSEUDO_NO_RULE},
    [UNWIND_BAD_STACK] = {WIRE_BAD_STACK, WIRE_PSEUDO_BAD_STACK},
    [UNWIND_PENDING] = {WIRE_NO_RULE, WIRE_PSEUDO_NO_RULE},
};

struct walk {
    struct agent_thread *thread;
    struct wire_session *session;
    struct stack_probe probe;
};

static bool find(void *arg, uint64_t pc, struct unwind_module *module) {
    struct walk *walk = arg;
    return modules_find(walk->thread, walk->session, pc, module);
}

static bool read_probed(void *arg, uint64_t address, uint64_t *word) {
    struct walk *walk = arg;
    return stack_read(&walk->probe, address, word);
}

static uint32_t frame_limit(struct wire_session *session) {
    uint32_t limit = atomic_load_explicit(&session->max_frames, memory_order_relaxed);
    return limit < 1 ? 1 : limit > THREAD_FRAMES_MAX ? THREAD_FRAMES_MAX : limit;
}

void walk_sample(struct agent_thread *thread, struct wire_session *session, struct wire_slot *slot,
                 const ucontext_t *uc) {
    struct walk walk = {.thread = thread, .session = session};
    struct unwind_env env = {.find = find, .read = read_probed, .arg = &walk};
    struct unwind_registers regs;
    uint32_t n;
    unwind_registers_of(&regs, uc);
    stack_bounds(thread, regs.reg[ARCH_SP], &env.low, &env.high);
    enum unwind_end end = unwind_walk(&env, &regs, thread->scratch, frame_limit(session), &n);
    if (end == UNWIND_PENDING && thread->owed_ns < PATIENCE_NS) {
        session_count(slot, WIRE_DEFERRED, 1);
        return;
    }
    uint64_t weight = thread->owed_ns;
    if (!emit_sample(thread, slot, n, ends[end].mark)) {
        session_count(slot, WIRE_LOST, 1);
        return;
    }
    session_count(slot, WIRE_WALKS, 1);
    session_count(slot, ends[end].counter, 1);
    session_count(slot, WIRE_CREDITED_NS, weight);
}
