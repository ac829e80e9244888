/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * tick_course.c - lengths double, and are the first again where they last.
 */
#include "preload/sample/tick_course.h"

#define FIRST_NS      20000000u
#define MOST_NS       4000000000u
#define REMEMBERED    32  /* ticks of a thread */
#define REMEMBERED_OF 256 /* of all of them */
#define AS_OTHERS     16u /* so many ticks of a thread say as much as all of the others */
#define MADE_UP_IN    16  /* ticks */
#define NO_TICK_FOR   8u  /* ticks: e^-8 where it is by chance */
#define LOOK_AFTER    4u  /* times what that should take */
#define LOOK_FIRST_NS 1000000000u
#define LOOK_MOST_NS  60000000000u

/* What was worked up to the last of n ticks is that of n - 1 gaps, where ticks come by chance:
 * while a thread goes on, the gap that it is in, which is a long one more often than a short one,
 * is not known. So the first tick of each course counts when that is over. Two threads at once may
 * lose a tick of `gaps`: it is a mean of many. */
static void note(struct tick_gaps *gaps, uint64_t worked_ns, uint32_t ticks, uint32_t remembered) {
    worked_ns += atomic_load_explicit(&gaps->worked_ns, memory_order_relaxed);
    ticks += atomic_load_explicit(&gaps->ticks, memory_order_relaxed);
    unsigned old = ticks >= 2 * remembered;
    atomic_store_explicit(&gaps->worked_ns, worked_ns >> old, memory_order_relaxed);
    atomic_store_explicit(&gaps->ticks, ticks >> old, memory_order_relaxed);
}

/* From tick to tick, in all threads. Before the first one a tick of the kernel's is taken for it.
 */
static uint64_t mean_of_all(struct tick_gaps *all, uint64_t tick_ns) {
    uint64_t worked = atomic_load_explicit(&all->worked_ns, memory_order_relaxed);
    return (tick_ns + worked) / (1 + atomic_load_explicit(&all->ticks, memory_order_relaxed));
}

/* In this one. */
static uint64_t mean_of(struct tick_gaps *own, uint64_t others) {
    uint64_t worked = atomic_load_explicit(&own->worked_ns, memory_order_relaxed);
    uint32_t ticks = atomic_load_explicit(&own->ticks, memory_order_relaxed);
    return (AS_OTHERS * others + worked) / (AS_OTHERS + ticks);
}

void tick_course_begin(struct tick_course *course, uint64_t cpu_ns, uint64_t time) {
    bool again = course->length_ns != 0 && cpu_ns - course->left_ns <= course->length_ns;
    uint64_t length = again ? 2 * course->length_ns : FIRST_NS;
    course->on = true;
    course->began_ns = course->met_ns = course->call_ns = cpu_ns;
    course->began_time = time;
    course->first_ns = 0;
    course->length_ns = length < MOST_NS ? length : MOST_NS;
    course->until_ns = cpu_ns + course->length_ns;
}

/* `weighed_ns`: what the ticks have weighed that count. */
static void note_both(struct tick_course *course, struct tick_courses *all, uint64_t worked_ns,
                      uint32_t ticks, uint64_t weighed_ns) {
    note(&course->gaps, worked_ns, ticks, REMEMBERED);
    note(&all->gaps, worked_ns, ticks, REMEMBERED_OF);
    atomic_fetch_add_explicit(&all->missing_ns, (int64_t)worked_ns - (int64_t)weighed_ns,
                              memory_order_relaxed);
}

/* A mean of few gaps is wrong. Later ticks, of whatever thread, make up for it little by little. */
static uint64_t made_up(struct tick_courses *all, uint64_t weight) {
    int64_t part = atomic_load_explicit(&all->missing_ns, memory_order_relaxed) / MADE_UP_IN;
    int64_t most = (int64_t)weight / 2;
    return weight + (uint64_t)(part > most ? most : part < -most ? -most : part);
}

/* What was worked since the last tick counts, too, and now all ticks do. */
uint64_t tick_course_end(struct tick_course *course, struct tick_courses *all, uint64_t cpu_ns) {
    note_both(course, all, cpu_ns - course->met_ns, course->first_ns != 0, course->first_ns);
    course->on = false;
    course->left_ns = cpu_ns;
    return cpu_ns - course->began_ns;
}

/* Where others wait for the processor a thread may begin to work at ticks, and has fewer. A tick
 * that waited for a call to end stands for all that have met the call, and tells nothing of what is
 * between ticks. */
uint64_t tick_course_meet(struct tick_course *course, struct tick_courses *all, uint64_t tick_ns,
                          uint64_t cpu_ns, bool in_call) {
    uint64_t mean = mean_of(&course->gaps, mean_of_all(&all->gaps, tick_ns));
    uint64_t weight = made_up(all, mean);
    uint64_t passed = cpu_ns - course->met_ns, used = in_call ? cpu_ns - course->call_ns : 0;
    course->met_ns = cpu_ns;
    if (used > weight) {
        note_both(course, all, used < passed ? passed - used : 0, 0, 0);
        return used;
    }
    if (course->first_ns == 0) {
        course->first_ns = weight;
        note_both(course, all, passed, 0, 0);
    } else {
        note_both(course, all, passed, 1, weight);
    }
    return weight;
}

bool tick_course_is_over(const struct tick_course *course, uint64_t cpu_ns) {
    return cpu_ns >= course->until_ns;
}

bool tick_course_avoids(const struct tick_course *course, uint64_t tick_ns, uint64_t cpu_ns) {
    return cpu_ns - course->met_ns >= NO_TICK_FOR * tick_ns;
}

uint64_t tick_course_patience(const struct tick_course *course, uint64_t tick_ns, uint64_t cpu_ns,
                              uint64_t time) {
    uint64_t ran = cpu_ns - course->began_ns, passed = time - course->began_time;
    if (ran < tick_ns)
        return LOOK_FIRST_NS;
    unsigned __int128 ns = (unsigned __int128)LOOK_AFTER * NO_TICK_FOR * tick_ns * passed / ran;
    return ns < LOOK_MOST_NS ? (uint64_t)ns : LOOK_MOST_NS;
}
