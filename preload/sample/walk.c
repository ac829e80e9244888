/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * walk.c - from the interrupted registers to one record in the ring.
 */
#include "preload/sample/walk.h"

#include "preload/encode/encode.h"
#include "preload/labels/send.h"
#include "preload/life/modules.h"
#include "preload/life/session.h"
#include "preload/python/show.h"
#include "preload/redirect/redirect.h"
#include "preload/sample/check.h"
#include "preload/sample/emit.h"
#include "preload/sample/emit_raw_stack.h"
#include "preload/sample/pass_over.h"
#include "preload/sample/stack.h"
#include "preload/sample/system_call.h"

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
};

struct walk {
    struct agent_thread *thread;
    struct wire_session *session;
    uint64_t low, high; /* as in the environment, where words are not read as they are */
};

static bool find(void *arg, uint64_t pc, struct unwind_module *module) {
    struct walk *walk = arg;
    return modules_find(walk->thread, walk->session, pc, module);
}

static bool read_probed(void *arg, uint64_t address, uint64_t *word) {
    struct walk *walk = arg;
    return stack_read(&walk->thread->probe, address, word);
}

/* Return addresses are in slots: they are read as the program's own, and so is its code. */
static bool read_in_program(void *arg, uint64_t address, uint64_t *word) {
    struct walk *walk = arg;
    bool read = true;
    if (address - walk->low < walk->high - walk->low)
        *word = *(const volatile uint64_t *)address;
    else
        read = stack_read(&walk->thread->probe, redirect_in_file(address), word);
    if (read)
        *word = redirect_in_program(*word);
    return read;
}

/* What was read before may be another now. */
static struct unwind_env env_of(struct walk *walk) {
    stack_forget(&walk->thread->probe);
    return (struct unwind_env){.find = find,
                               .read = agent.settings.encode ? read_in_program : read_probed,
                               .arg = walk,
                               .scratch = walk->thread->scratch};
}

static uint32_t frame_limit(struct wire_session *session) {
    uint32_t limit = atomic_load_explicit(&session->max_frames, memory_order_relaxed);
    return limit < 1 ? 1 : limit > THREAD_FRAMES_MAX ? THREAD_FRAMES_MAX : limit;
}

static void validate_memo(struct agent_thread *thread) {
    uint32_t validity = modules_validity();
    if (hcct_likely(thread->memo_validity == validity))
        return;
    memo_forget(&thread->memo);
    thread->memo_validity = validity;
}

static void lose(struct wire_slot *slot, uint64_t weight) {
    session_count(slot, WIRE_LOST, 1);
    session_count(slot, WIRE_LOST_NS, weight);
}

/* How many steps of a walk that has ended early go with the copy, for the daemon to begin at the
 * caller that they have come to. From there on it knows fewer registers than from the interrupted
 * place, so it is done only where the steps led through code that the daemon can't see. */
static uint32_t steps_to_send(const struct memo *memo, const struct memo_result *result) {
    uint32_t inner = result->stepped > 0 ? result->stepped - 1 : 0;
    return result->bare > 0 && !memo->at.exact && inner <= WIRE_RAW_STACK_FRAMES_MAX ? inner : 0;
}

/* There is no compact rule for some frame (yet): the daemon unwinds a copy of the stack. Returns
 * the part of the ring that is gone, in words; or COPIES_NO_ROOM. */
static uint32_t send_copy(struct agent_thread *thread, struct wire_session *session,
                          struct wire_slot *slot, uint64_t weight, const struct memo_result *result,
                          const struct unwind_env *env) {
    uint32_t inner = steps_to_send(&thread->memo, result);
    if (hcct_unlikely(modules_mislead())) {
        lose(slot, weight);
        return 0;
    }
    uint32_t words = emit_raw_stack(thread, session, slot, weight, inner, env);
    if (words == 0) {
        lose(slot, weight);
        return COPIES_NO_ROOM;
    }
    session_count(slot, WIRE_RAW_STACKS, 1);
    session_count(slot, WIRE_CREDITED_NS, weight);
    return words;
}

static void send_context(struct agent_thread *thread, struct wire_slot *slot, uint64_t weight,
                         const struct memo_result *result) {
    if (!emit_sample(thread, slot, ends[result->end].mark, weight)) {
        lose(slot, weight);
        return;
    }
    session_count(slot, WIRE_WALKS, 1);
    session_count(slot, ends[result->end].counter, 1);
    session_count(slot, WIRE_CREDITED_NS, weight);
    session_count(slot, WIRE_FRAMES, thread->shown.depth);
    session_count(slot, WIRE_STEPPED, result->stepped);
    session_count(slot, WIRE_CACHED, result->cached);
    if (hcct_unlikely(result->by_fp != 0))
        session_count(slot, WIRE_BY_FP, result->by_fp);
    if (hcct_unlikely(result->searched != 0))
        session_count(slot, WIRE_SEARCHED, result->searched);
}

/* Of the innermost frame; 0: there is none. Open calls are found from where the thread is. */
static uint64_t innermost_pc(const struct agent_thread *thread) {
    const struct memo *memo = &thread->memo;
    if (agent.settings.encode)
        return thread->interrupted.pc;
    return memo->depth == 0 ? 0 : memo->frame[memo->depth - 1].pc;
}

/* The pc of the last walk, which is sent when lines were asked for and it is in code that has
 * some. */
static uint64_t pc_to_send(struct agent_thread *thread, struct wire_session *session) {
    struct unwind_module module;
    if (hcct_likely(!agent.settings.lines) ||
        thread->stream != &thread->streams[agent.settings.ticks_to] || python_is_innermost(thread))
        return 0;
    uint64_t pc = innermost_pc(thread);
    return pc != 0 && modules_find(thread, session, pc, &module) ? pc : 0;
}

/* By which call of the innermost frame's a system call was made that is shown. */
static uint64_t shown_site(const struct agent_thread *thread) {
    const struct unwind_registers *at = &thread->interrupted;
    if (!agent.settings.lines || !thread->shown_returned)
        return 0;
    return at->exact ? at->pc + ARCH_CODE_ALIGN : at->pc;
}

/* What stands below the innermost frame. */
static struct unwind_frame leaf_of(struct agent_thread *thread, struct wire_session *session,
                                   const struct unwind_env *env, const ucontext_t *uc) {
    struct unwind_frame call;
    if (hcct_unlikely(thread->shown_call != 0))
        return system_call_shown(thread->shown_call - 1, shown_site(thread));
    if (system_call_met(env, uc, &call))
        return call;
    return (struct unwind_frame){WIRE_LEAF_PC, pc_to_send(thread, session)};
}

/* What another metric has sent is compared with this walk, too. */
static void shorten_common(struct agent_thread *thread, uint32_t same) {
    for (unsigned i = 0; i < agent.settings.metrics; i++)
        if (thread->streams[i].common_frames > same)
            thread->streams[i].common_frames = same;
}

/* All words of the stack are read by read_in_program. */
static void read_all(struct unwind_env *env, const struct unwind_registers *regs) {
    struct walk *walk = env->arg;
    thread_stack_above(walk->thread, regs->reg[ARCH_SP], &walk->low, &walk->high);
    env->low = env->high = 8;
    encode_step_out(env, &walk->thread->interrupted);
}

static void lend_in_program(struct walk *walk, uint64_t sp,
                            void (*use)(const struct unwind_env *env, void *arg), void *arg) {
    struct unwind_env env = env_of(walk);
    thread_stack_above(walk->thread, sp, &walk->low, &walk->high);
    env.low = env.high = 8;
    redirect_reads(true);
    use(&env, arg);
    redirect_reads(false);
}

void walk_lend(struct agent_thread *thread, struct wire_session *session, uint64_t sp,
               void (*use)(const struct unwind_env *env, void *arg), void *arg) {
    struct walk walk = {.thread = thread, .session = session};
    if (agent.settings.encode) {
        lend_in_program(&walk, sp, use, arg);
        return;
    }
    struct unwind_env env = env_of(&walk);
    thread_stack_above(thread, sp, &env.low, &env.high);
    use(&env, arg);
}

/* Into the call that has returned to `pc`, unless a step has led out of there since. */
static void go_back_into_call(struct unwind_registers *regs, uint64_t pc) {
    uint64_t in_program = agent.settings.encode ? redirect_in_program(pc) : pc;
    if (regs->exact && regs->pc == in_program)
        regs->pc -= ARCH_CODE_ALIGN;
}

/* Where the walk begins: thread->interrupted. */
static void begin(struct agent_thread *thread, struct unwind_env *env, const ucontext_t *uc) {
    struct unwind_registers *regs = &thread->interrupted;
    validate_memo(thread);
    unwind_registers_of(regs, uc);
    uint64_t pc = regs->pc;
    if (hcct_unlikely(agent.settings.encode))
        read_all(env, regs);
    else
        thread_stack_above(thread, regs->reg[ARCH_SP], &env->low, &env->high);
    pass_over(env, regs);
    if (hcct_unlikely(thread->shown_returned))
        go_back_into_call(regs, pc);
}

/* The memo has the stack as it is now. Of the last context that was sent, the common prefix
 * holds. */
static void update_memo(struct agent_thread *thread, struct wire_session *session,
                        const struct unwind_env *env, struct memo_result *result) {
    memo_walk(&thread->memo, env, &thread->interrupted, frame_limit(session), result);
    shorten_common(thread, result->same);
}

bool walk_whole(struct agent_thread *thread, struct wire_session *session, const ucontext_t *uc) {
    struct walk walk = {.thread = thread, .session = session};
    struct unwind_env env = env_of(&walk);
    struct memo_result result;
    begin(thread, &env, uc);
    update_memo(thread, session, &env, &result);
    return result.end == UNWIND_COMPLETE;
}

/* The daemon unwinds a copy of the stack. */
static bool is_to_copy(const struct memo_result *result) {
    return result->end == UNWIND_PENDING || result->end == UNWIND_RICH;
}

static struct shown shown_of(const struct memo *memo) {
    return (struct shown){memo->frame, sizeof *memo->frame, memo->depth};
}

/* What is sent of the walk: the memo's frames, unless functions of Python are asked for, which no
 * copy of a stack shows. False: the ring has no room for their names. */
static bool show_frames(struct agent_thread *thread, struct wire_session *session,
                        struct wire_slot *slot, struct memo_result *result) {
    thread->shown = shown_of(&thread->memo);
    if (hcct_likely(!agent.settings.python) || thread->python == NULL)
        return true;
    struct python_shown shown = python_show(thread, slot, frame_limit(session));
    if (shown.cut && result->end == UNWIND_COMPLETE)
        result->end = UNWIND_TRUNCATED;
    result->effort += shown.effort;
    return !shown.lost;
}

/* The context from the calls that are open, with no more of a walk than that takes. What the walk
 * has found is what is shown then, and nothing is in the memo. */
static void show_open_calls(struct agent_thread *thread, struct wire_session *session,
                            struct wire_slot *slot, const struct unwind_env *env,
                            struct memo_result *result) {
    struct encode_found found;
    if (encode_find(thread, slot, env, &thread->interrupted, frame_limit(session), &found)) {
        *result = (struct memo_result){.end = found.truncated ? UNWIND_TRUNCATED : UNWIND_COMPLETE,
                                       .stepped = found.stepped};
        return;
    }
    memo_walk(&thread->memo, env, &thread->interrupted, frame_limit(session), result);
    if (!is_to_copy(result))
        encode_show_walk(thread);
}

/* Sends what is shown, or a copy of the stack. */
static struct walk_cost send(struct walk *walk, struct wire_slot *slot, uint64_t weight,
                             const struct unwind_env *env, const struct memo_result *result,
                             bool lost) {
    struct agent_thread *thread = walk->thread;
    uint32_t copied = 0, depth = thread->shown.depth;
    if (hcct_unlikely(lost)) {
        lose(slot, weight);
    } else if (is_to_copy(result)) {
        copied = send_copy(thread, walk->session, slot, weight, result, env);
        depth = 0;
    } else {
        send_context(thread, slot, weight, result);
    }
    return (struct walk_cost){.stepped = result->stepped + result->effort,
                              .reread = depth > result->stepped ? depth - result->stepped : 0,
                              .copied = copied};
}

/* False: the ring has no room for what is shown. */
static bool find_frames(struct walk *walk, struct wire_slot *slot, const struct unwind_env *env,
                        struct memo_result *result) {
    if (hcct_unlikely(agent.settings.encode)) {
        show_open_calls(walk->thread, walk->session, slot, env, result);
        return true;
    }
    update_memo(walk->thread, walk->session, env, result);
    return show_frames(walk->thread, walk->session, slot, result) || is_to_copy(result);
}

/* With what a full walk finds; functions of Python are none of that. */
static void check(struct walk *walk, struct wire_slot *slot, const struct unwind_env *env,
                  enum unwind_end end) {
    struct agent_thread *thread = walk->thread;
    const struct shown shown = agent.settings.encode ? thread->shown : shown_of(&thread->memo);
    check_walk(thread, slot, env, &shown, frame_limit(walk->session), end);
}

static struct walk_cost take_sample(struct walk *walk, struct wire_slot *slot, uint64_t weight,
                                    const ucontext_t *uc) {
    struct agent_thread *thread = walk->thread;
    struct unwind_env env = env_of(walk);
    struct memo_result result;
    begin(thread, &env, uc);
    bool labelled = labels_send(thread, walk->session, slot);
    bool found = find_frames(walk, slot, &env, &result);
    thread->leaf = leaf_of(thread, walk->session, &env, uc);
    if (hcct_unlikely(thread->check != NULL) && !is_to_copy(&result))
        check(walk, slot, &env, result.end);
    return send(walk, slot, weight, &env, &result, !labelled || !found);
}

struct walk_cost walk_sample(struct agent_thread *thread, struct wire_session *session,
                             struct wire_slot *slot, uint64_t weight, const ucontext_t *uc) {
    struct walk walk = {.thread = thread, .session = session};
    if (hcct_likely(!agent.settings.encode))
        return take_sample(&walk, slot, weight, uc);
    encode_follow(thread, session, arch_pc(uc));
    redirect_reads(true);
    struct walk_cost cost = take_sample(&walk, slot, weight, uc);
    redirect_reads(false);
    return cost;
}
