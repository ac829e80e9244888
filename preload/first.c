/*
 * first.c - the first tick of a thread.
 *
 * A timer whose first point has passed before it runs expires with the kernel's next tick, and is
 * set to the point after that one then. Otherwise it is periodic from the first point on, and
 * needs no further care.
 */
#include "preload/first.h"

#include "preload/draw.h"
#include "preload/ticker.h"

/* A process without a session attaches at its first sample, which costs a millisecond. A child of
 * fork that calls exec soon has used no more than a fraction of one: so one in many of them pays.
 */
#define ATTACH_LEAST_NS 20000000u

static struct ticker *cpu_ticker(struct agent_thread *thread) {
    return &thread->trigger.ticker[TRIGGER_CPU];
}

static uint64_t now_of(const struct agent_thread *thread) {
    return ticker_now(ticker_cpu_clock(thread->tid));
}

/* From which on a sample of what came before the timer is worth its price. */
static uint64_t least_weight(const struct sampling_plan *plan) {
    uint64_t least = plan->length_ns == SAMPLING_ENDLESS ? plan->fine_ns : plan->coarse_ns;
    bool attached = atomic_load_explicit(&agent.process->session, memory_order_relaxed) != NULL;
    return attached || least > ATTACH_LEAST_NS ? least : ATTACH_LEAST_NS;
}

static void run_to_point(struct agent_thread *thread, const struct sampling_plan *plan,
                         int64_t point, uint64_t now) {
    const struct first *first = &thread->trigger.first;
    int64_t wait = point - (int64_t)(now - first->since_ns);
    ticker_run(cpu_ticker(thread), wait > 0 ? (uint64_t)wait : 1, plan->coarse_ns);
}

/* The timer runs from now on; `unseen` of CPU time have passed without it. */
static void arm(struct agent_thread *thread, const struct sampling_plan *plan, uint64_t now,
                uint64_t unseen) {
    struct first *first = &thread->trigger.first;
    first->armed_ns = now;
    first->unseen_ns = draw_roulette(draw_word(&thread->random), unseen, least_weight(plan));
    if (first->unseen_ns != 0)
        ticker_fire(cpu_ticker(thread), plan->coarse_ns);
    else
        run_to_point(thread, plan, first->point_ns, now);
}

void first_begin(struct agent_thread *thread, const struct sampling_plan *plan, uint64_t since,
                 enum first_phase phase) {
    struct first *first = &thread->trigger.first;
    uint64_t tick = phase == FIRST_PHASE_TICK ? 0 : ticker_resolution(), now = now_of(thread);
    *first = (struct first){
        .pending = !plan->idle && agent.settings.collector != WIRE_COLLECT_CALLS,
        .since_ns = since < now ? since : now,
        .tick_ns = tick,
        .point_ns = draw_first_point(draw_word(&thread->random), plan->coarse_ns, tick)};
    if (!first->pending)
        ticker_run(cpu_ticker(thread), 1 + draw_below(draw_word(&thread->random), plan->coarse_ns),
                   plan->coarse_ns);
    else
        arm(thread, plan, now, now - first->since_ns);
}

static uint64_t time_of_tick(struct agent_thread *thread) {
    struct first *first = &thread->trigger.first;
    if (first->at_ns == 0)
        first->at_ns = ticker_now(CLOCK_THREAD_CPUTIME_ID);
    return first->at_ns;
}

static uint64_t points(const struct first *first, const struct sampling_plan *plan, uint64_t now) {
    return draw_first_points(first->point_ns, plan->coarse_ns, first->tick_ns,
                             now - first->since_ns);
}

/* Above the kernel's rate every tick starts the fine timer, and its weight is what the fine samples
 * leave; without a phase of chance it is what has passed. */
static uint64_t weight_of(const struct first *first, const struct sampling_plan *plan,
                          uint64_t now) {
    uint64_t after = now - first->armed_ns;
    if (plan->length_ns != SAMPLING_ENDLESS)
        return points(first, plan, now) * plan->coarse_ns;
    return first->tick_ns == 0 ? after : draw_start_weight(first->tick_ns, plan->fine_ns, after);
}

bool first_is_sample(struct agent_thread *thread, const struct sampling_plan *plan) {
    const struct first *first = &thread->trigger.first;
    uint64_t now = time_of_tick(thread);
    return first->unseen_ns != 0 || weight_of(first, plan, now) != 0;
}

struct first_sample first_tick(struct agent_thread *thread, const struct sampling_plan *plan) {
    struct first *first = &thread->trigger.first;
    uint64_t at = time_of_tick(thread), unseen = first->unseen_ns;
    first->at_ns = 0;
    thread->trigger.cpu_ns = at;
    if (unseen != 0) {
        uint64_t now = ticker_now(CLOCK_THREAD_CPUTIME_ID);
        arm(thread, plan, now, now - first->armed_ns);
        return (struct first_sample){.weight = unseen};
    }
    struct first_sample sample = {.weight = weight_of(first, plan, at),
                                  .starts = points(first, plan, at) != 0};
    first->pending = false;
    uint64_t passed = at - first->since_ns;
    if (first->point_ns <= (int64_t)(first->armed_ns - first->since_ns))
        run_to_point(thread, plan,
                     (int64_t)(passed + draw_next_point(first->point_ns, plan->coarse_ns, passed)),
                     ticker_now(CLOCK_THREAD_CPUTIME_ID));
    return sample;
}
