/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * course.c - logarithm and exponential in fixed point.
 */
#include "preload/events/course.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/auxv.h>

#include "common/wire/compiler.h"
#include "preload/life/sys.h"
#include "preload/sample/draw.h"
#include "preload/wrap/libc.h"

typedef unsigned __int128 wide;

#define LOG_BITS  32 /* behind the point */
#define LN2_SHIFT 62
#define LN2       0x2c5c85fdf473de6bull /* times 2^62 */
#define ONE_SHIFT 40
#define ONE       (1ull << ONE_SHIFT)
#define FAR       40u /* exp(-40) is nothing */

/* log2(word), with LOG_BITS bits behind the point: each squaring of what is left gives one. */
static uint64_t log2_of(uint64_t word) {
    unsigned whole = 63 - (unsigned)__builtin_clzll(word);
    uint64_t mantissa = word << (63 - whole), log = whole;
    for (int i = 0; i < LOG_BITS; i++) {
        wide square = (wide)mantissa * mantissa >> 63;
        bool two = square >> 64 != 0;
        mantissa = (uint64_t)(two ? square >> 1 : square);
        log = log << 1 | two;
    }
    return log;
}

void course_begin(struct course *course) {
    static _Atomic uint64_t threads;
    const uint64_t *words = (const uint64_t *)libc_getauxval(AT_RANDOM);
    uint64_t of_program = words != NULL ? words[0] : 0;
    course->begun = true;
    course->process = (pid_t)sys0(SYS_getpid);
    uint64_t thread = atomic_fetch_add(&threads, 1) | (uint64_t)course->process << 32;
    course->random = draw_word(&thread) ^ of_program; /* far from those of other threads */
}

uint64_t course_gap(uint64_t mean, uint64_t *random) {
    uint64_t word = draw_word(random) | 1; /* of 2^64: uniform in (0, 1) */
    uint64_t bits = (64ull << LOG_BITS) - log2_of(word);
    uint64_t times = (uint64_t)((wide)bits * LN2 >> LN2_SHIFT);
    return (uint64_t)((wide)times * mean >> LOG_BITS) + 1;
}

static uint64_t product(uint64_t a, uint64_t b) {
    return (uint64_t)((wide)a * b >> ONE_SHIFT);
}

/* x / (1 - exp(-x)) for x up to 1, by the numbers of Bernoulli. */
static uint64_t ratio_near(uint64_t x) {
    uint64_t x2 = product(x, x), x4 = product(x2, x2), x6 = product(x4, x2);
    return ONE + x / 2 + x2 / 12 - x4 / 720 + x6 / 30240 - product(x4, x4) / 1209600;
}

/* The same for any x below FAR: exp(-y) is 1 - y / ratio(y), and
 * 1 - exp(-2y) = (1 - exp(-y)) (1 + exp(-y)). */
static uint64_t ratio(uint64_t x) {
    unsigned halved = 0;
    for (; x > ONE; x /= 2)
        halved++;
    uint64_t found = ratio_near(x);
    for (; halved > 0; halved--, x *= 2) {
        uint64_t exponential = ONE - (uint64_t)(((wide)x << ONE_SHIFT) / found);
        found = (uint64_t)(((wide)2 * found << ONE_SHIFT) / (ONE + exponential));
    }
    return found;
}

uint64_t course_weight(uint64_t size, uint64_t mean) {
    if (size / mean >= FAR)
        return size;
    return (uint64_t)((wide)ratio((uint64_t)(((wide)size << ONE_SHIFT) / mean)) * mean >>
                      ONE_SHIFT);
}

uint64_t course_weight_beside(uint64_t size, uint64_t length, uint64_t mean) {
    uint64_t weight = course_weight(length, mean);
    return length == size ? weight : (uint64_t)((wide)weight * size / length);
}

uint64_t course_number(uint64_t size, uint64_t mean, uint64_t *random) {
    uint64_t weight = course_weight(size, mean);
    return weight / size + (draw_below(draw_word(random), size) < weight % size);
}

/* Heads: it stays. Tails, and a point of the rarer ones is further than the event is long: it goes.
 * Else again. With q for exp(-S/2R) it stays with probability 1/2 + (1-q)/4 + ... = 1/(1+q). */
bool course_stays(uint64_t size, uint64_t mean, uint64_t *random) {
    while (draw_word(random) >> 63 == 0)
        if (course_gap(2 * mean, random) > size)
            return false;
    return true;
}
