/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * tick_course.c - lengths double, and are the first again where they last.
 */
#include "preload/sample/tick_course.h"

#include "preload/life/mean.h"

#define FIRST_NS      20000000u
#define MOST_NS       4000000000u
#define MEAN_OF       32 /* ticks */
#define NO_TICK_FOR   8u /* ticks: e^-8 where it is by chance */
#define LOOK_AFTER    4u /* times what that should take */
#define LOOK_FIRST_NS 1000000000u
#define LOOK_MOST_NS  60000000000u

void tick_course_begin(struct tick_course *course, uint64_t tick_ns, uint64_t cpu_ns,
                       uint64_t time) {
    bool again = course->length_ns != 0 && cpu_ns - course->left_ns <= course->length_ns;
    uint64_t length = again ? 2 * course->length_ns : FIRST_NS;
    course->on = true;
    course->began_ns = course->met_ns = course->call_ns = cpu_ns;
    course->began_time = time;
    if (course->mean_ns == 0)
        course->mean_ns = tick_ns;
    course->length_ns = length < MOST_NS ? length : MOST_NS;
    course->until_ns = cpu_ns + course->length_ns;
}

uint64_t tick_course_end(struct tick_course *course, uint64_t cpu_ns) {
    course->on = false;
    course->left_ns = cpu_ns;
    return cpu_ns - course->began_ns;
}

/* Where others wait for the processor a thread may begin to work at ticks, and has fewer. A tick
 * that waited for a call to end stands for all that have met the call. */
uint64_t tick_course_meet(struct tick_course *course, uint64_t tick_ns, uint64_t cpu_ns,
                          bool in_call) {
    uint64_t weight = course->mean_ns, passed = cpu_ns - course->met_ns;
    uint64_t most = NO_TICK_FOR * tick_ns, used = in_call ? cpu_ns - course->call_ns : 0;
    course->met_ns = cpu_ns;
    course->mean_ns = mean_after(weight, passed < most ? passed : most, MEAN_OF);
    return used > weight ? used : weight;
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
