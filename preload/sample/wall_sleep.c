/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * wall_sleep.c - all points up to a check that was put off are credited to the sleep if it still
 * lasts then. If it has ended, and the thread has not slept since, the points up to its end were in
 * it as well. The end of a watched call is heard; of others it is found out at the thread's next
 * tick of the kernel, before its next wrapped call that may sleep, or at its end, and lies as far
 * back as the thread has computed since. If it has slept elsewhere since, half of the time since
 * the last check is credited to that sleep and the rest to what the check finds: doc/sampling.md.
 */
#include "preload/sample/wall_sleep.h"

#include <sys/resource.h>

#include "preload/life/confine.h"
#include "preload/life/session.h"
#include "preload/life/signal.h"
#include "preload/life/sys.h"
#include "preload/sample/draw.h"
#include "preload/sample/emit.h"
#include "preload/sample/wall_clock.h"
#include "preload/wrap/sleep.h"

#define SLOWEST_NS SECOND_NS /* between two checks of a thread that sleeps on */
#define SLEEP_PART 8         /* of a sleep so far: until it is checked next */

static struct ticker *cpu_ticker(struct agent_thread *thread) {
    return &thread->trigger.ticker[TRIGGER_CPU];
}

uint64_t wall_sleeps(void) {
    struct rusage usage = {0};
    sys2(SYS_getrusage, RUSAGE_THREAD, &usage);
    return (uint64_t)usage.ru_nvcsw;
}

/* The sleep that the last check met may have ended. */
static bool slept_elsewhere(const struct trigger *t) {
    return wall_sleeps() - t->wall.sleeps > 1;
}

/* ---- a gap ---- */

/* What the thread computes once the sleep is over has no points, until the kernel's next tick that
 * meets it, at the latest. */
static void begin_gap(struct agent_thread *thread) {
    struct trigger *t = &thread->trigger;
    if (t->wall.off_only)
        return;
    t->wall.gap = true;
    t->wall.switches = thread_switches();
    ticker_run(cpu_ticker(thread), 1, t->plan.coarse_ns);
    t->wall.gap_ns = ticker_now(CLOCK_THREAD_CPUTIME_ID);
}

/* What the kernel's tick weighs that ends a gap: doc/sampling.md. `used_ns`: what the thread has
 * computed in it. */
static uint64_t gap_weight(const struct trigger *t, uint64_t used_ns) {
    uint64_t left = thread_switches() - t->wall.switches; /* once to sleep, at the beginning */
    return draw_start_weight(ticker_resolution(), used_ns / (left > 1 ? left : 1));
}

/* The clock goes on. `stood`: it has stood still, else it has not, as what was computed was the
 * check's. Returns gap_weight; 0: there was no gap. */
static uint64_t end_gap(struct agent_thread *thread, bool stood) {
    struct trigger *t = &thread->trigger;
    if (!t->wall.gap)
        return 0;
    uint64_t used = ticker_now(CLOCK_THREAD_CPUTIME_ID) - t->wall.gap_ns;
    t->wall.gap = false;
    if (stood)
        t->wall.gaps_ns += used;
    ticker_halt(cpu_ticker(thread));
    return stood ? gap_weight(t, used) : 0;
}

/* ---- checks ---- */

#define CALL_FRAMES 8 /* innermost frames: a watched call is one of them */

void wall_sleep_met(struct agent_thread *thread) {
    const struct memo *memo = &thread->memo;
    uintptr_t call = 0;
    for (uint32_t i = 1; call == 0 && i <= CALL_FRAMES && i <= memo->depth; i++) {
        const struct memo_frame *frame = &memo->frame[memo->depth - i];
        call = sleep_call_of(frame->pc, frame->sp);
    }
    thread->trigger.wall.call = call;
}

static uint64_t longest_wait(const struct trigger *t, uint64_t now_ns) {
    uint64_t part = (now_ns - t->wall.since_ns) / SLEEP_PART;
    return part < SLOWEST_NS ? part : SLOWEST_NS;
}

bool wall_sleep_is_long(const struct trigger *t, uint64_t now_ns) {
    return longest_wait(t, now_ns) > wall_clock_until_due(t, now_ns);
}

/* By chance, so that what follows the sleep is not always met as late. */
void wall_sleep_put_off(struct agent_thread *thread, uint64_t now_ns) {
    struct trigger *t = &thread->trigger;
    uint64_t due = wall_clock_until_due(t, now_ns);
    uint64_t wait = interval_draw(longest_wait(t, now_ns), draw_word(&thread->random));
    t->wall.late = true;
    sleep_burst |= SLEEP_NEXT;
    if (t->wall.call == 0)
        begin_gap(thread);
    wall_clock_wait(thread, wait > due ? wait : due);
}

void wall_sleep_lasts(struct agent_thread *thread) {
    (void)end_gap(thread, false);
}

/* The points up to `limit_ns` were in the sleep that the last check met and that is over now. */
static void credit(struct agent_thread *thread, uint64_t limit_ns) {
    struct trigger *t = &thread->trigger;
    struct wire_slot *slot = thread->stream->slot;
    bool known = t->wall.late && t->wall.asleep && slot != NULL && emit_can_repeat(thread, slot);
    t->wall.late = t->wall.asleep = false;
    sleep_burst &= ~(uint32_t)SLEEP_NEXT;
    uint64_t weight = known ? wall_clock_reach(thread, limit_ns) : 0;
    if (weight != 0 && emit_repeat(thread, slot, weight))
        session_count(slot, WIRE_CREDITED_NS, weight);
}

/* Where the thread has slept elsewhere as well, the end of that sleep may be anywhere since the
 * last check. */
uint64_t wall_sleep_is_over(struct agent_thread *thread, bool in_call) {
    struct trigger *t = &thread->trigger;
    uint64_t now = wall_clock_now(t);
    bool elsewhere = in_call || slept_elsewhere(t);
    credit(thread, elsewhere ? now - (now - t->wall.checked_ns) / 2 : now);
    return end_gap(thread, true);
}

/* ---- between ticks ---- */

/* `call`: the watched one that has just ended; 0: the thread is before a call. No handler may come
 * between: it could end another sleep, or leave this function by a jump. */
static void hear(struct agent_thread *thread, uintptr_t call) {
    struct trigger *t = &thread->trigger;
    uint64_t before;
    if ((sleep_burst & SLEEP_NEXT) == 0 || !agent_owns_memory() || !signal_block_all(&before))
        return;
    sleep_burst &= ~(uint32_t)SLEEP_NEXT;
    bool ends = call != 0 ? t->wall.call == call : !slept_elsewhere(t);
    if (ends && session_enter(thread) != NULL) {
        uint64_t now = wall_clock_now(t);
        credit(thread, now);
        (void)end_gap(thread, true);
        wall_clock_aim(thread, now);
        session_leave(thread);
    }
    signal_put_back(before);
}

void wall_awake(struct agent_thread *thread) {
    hear(thread, 0);
}

void wall_over(struct agent_thread *thread, uintptr_t call) {
    hear(thread, call);
}
