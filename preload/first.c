/*
 * first.c - the first tick of a thread.
 *
 * The first tick of the kernel is looked at, and taken by chance; then the timer becomes periodic,
 * and needs no further care.
 */
#include "preload/first.h"

#include <sys/resource.h>

#include "preload/draw.h"
#include "preload/sys.h"
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
    uint64_t least = plan_is_endless(plan) ? plan->fine_ns : plan->coarse_ns;
    bool attached = atomic_load_explicit(&agent.process->session, memory_order_relaxed) != NULL;
    return attached || least > ATTACH_LEAST_NS ? least : ATTACH_LEAST_NS;
}

/* How often the thread has left the processor, ever. */
static uint64_t switches(void) {
    struct rusage usage;
    if (sys2(SYS_getrusage, RUSAGE_THREAD, &usage) != 0)
        return 0;
    return (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

/* Sample points are uniform from here on. */
static void run_periodic(struct agent_thread *thread, const struct sampling_plan *plan) {
    uint64_t wait = draw_below(draw_word(&thread->random), plan->coarse_ns);
    ticker_run(cpu_ticker(thread), 1 + wait, plan->coarse_ns);
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
        ticker_run(cpu_ticker(thread), 1, plan->coarse_ns);
}

void first_begin(struct agent_thread *thread, const struct sampling_plan *plan, uint64_t since,
                 enum first_phase phase) {
    struct first *first = &thread->trigger.first;
    bool samples = !plan->idle && agent.settings.collector != WIRE_COLLECT_CALLS;
    bool at_tick = phase == FIRST_PHASE_TICK;
    *first = (struct first){.pending = samples && (plan_is_endless(plan) || !at_tick),
                            .at_tick = at_tick};
    if (!first->pending) {
        run_periodic(thread, plan);
        return;
    }
    uint64_t now = now_of(thread);
    first->since_ns = since < now ? since : now;
    first->switches = since != 0 ? switches() : 0;
    arm(thread, plan, now, now - first->since_ns);
}

/* Since the beginning. */
static uint64_t new_switches(const struct first *first) {
    uint64_t now = switches();
    return now > first->switches ? now - first->switches : 0;
}

/* Above the kernel's rate the first tick starts the fine timer, and its weight is what the fine
 * samples leave. When the thread came back to a processor last is not known, but how often it did.
 */
static uint64_t start_weight(const struct first *first, uint64_t now) {
    uint64_t after = now - first->armed_ns;
    if (first->at_tick) /* no phase of chance: it stands for what has passed */
        return after;
    return draw_start_weight(ticker_resolution(), after / (1 + new_switches(first)));
}

static uint64_t tick_weight(struct agent_thread *thread, const struct sampling_plan *plan,
                            uint64_t now) {
    const struct first *first = &thread->trigger.first;
    uint64_t weight =
        draw_first_weight(ticker_resolution(), now - first->since_ns, new_switches(first));
    return draw_roulette(draw_word(&thread->random), weight, plan->coarse_ns);
}

/* The sample of the tick that has just come, drawn once. */
static uint64_t drawn(struct agent_thread *thread, const struct sampling_plan *plan) {
    struct first *first = &thread->trigger.first;
    if (first->at_ns != 0)
        return first->weight_ns;
    first->at_ns = ticker_now(CLOCK_THREAD_CPUTIME_ID);
    if (first->unseen_ns != 0)
        first->weight_ns = first->unseen_ns;
    else if (plan_is_endless(plan))
        first->weight_ns = start_weight(first, first->at_ns);
    else
        first->weight_ns = tick_weight(thread, plan, first->at_ns);
    return first->weight_ns;
}

bool first_is_sample(struct agent_thread *thread, const struct sampling_plan *plan) {
    return drawn(thread, plan) != 0;
}

struct first_sample first_tick(struct agent_thread *thread, const struct sampling_plan *plan) {
    struct first *first = &thread->trigger.first;
    struct first_sample sample = {.weight = drawn(thread, plan)};
    uint64_t at = first->at_ns;
    first->at_ns = 0;
    thread->trigger.cpu_ns = at;
    if (first->unseen_ns != 0) {
        uint64_t now = ticker_now(CLOCK_THREAD_CPUTIME_ID);
        arm(thread, plan, now, now - first->armed_ns);
        return sample;
    }
    sample.starts = plan_is_endless(plan) || sample.weight != 0;
    first->pending = false;
    run_periodic(thread, plan);
    return sample;
}
