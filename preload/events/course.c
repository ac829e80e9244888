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

#define LOG_BITS     32             /* behind the point */
#define SQUARINGS    8              /* that give the first of them; the others are within 1e-7 */
#define TWO_OVER_LN2 12392656037ull /* times 2^LOG_BITS */
#define LN2_SHIFT    62
#define LN2          0x2c5c85fdf473de6bull /* times 2^62 */
#define ONE_SHIFT    40
#define ONE          (1ull << ONE_SHIFT)
#define FAR          40u /* exp(-40) is nothing */

/* log2(x) of x in [1, 2), less than 1e-5 wrong: 2 artanh(z) / ln 2, of z = (x - 1) / (x + 1). */
static uint64_t log2_near(uint64_t mantissa) {
    uint64_t over = (mantissa - (1ull << 63)) >> 32, sum = (mantissa >> 32) + (1ull << 31);
    uint64_t z = (over << LOG_BITS) / sum, z2 = z * z >> LOG_BITS;
    uint64_t series = z2 * ((1ull << LOG_BITS) / 7) >> LOG_BITS;
    series = z2 * ((1ull << LOG_BITS) / 5 + series) >> LOG_BITS;
    series = z2 * ((1ull << LOG_BITS) / 3 + series) >> LOG_BITS;
    uint64_t artanh = (uint64_t)((wide)z * ((1ull << LOG_BITS) + series) >> LOG_BITS);
    return (uint64_t)((wide)artanh * TWO_OVER_LN2 >> LOG_BITS);
}

/* log2(word), with LOG_BITS bits behind the point: each squaring of what is left gives one. */
static uint64_t log2_of(uint64_t word) {
    unsigned whole = 63 - (unsigned)__builtin_clzll(word);
    uint64_t mantissa = word << (63 - whole), log = whole;
    for (int i = 0; i < SQUARINGS; i++) {
        wide square = (wide)mantissa * mantissa >> 63;
        bool two = square >> 64 != 0;
        mantissa = (uint64_t)(two ? square >> 1 : square);
        log = log << 1 | two;
    }
    return (log << (LOG_BITS - SQUARINGS)) + (log2_near(mantissa) >> SQUARINGS);
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

static uint64_t gap_of(uint64_t word, uint64_t mean) {
    uint64_t bits = (64ull << LOG_BITS) - log2_of(word | 1); /* of 2^64: uniform in (0, 1) */
    uint64_t times = (uint64_t)((wide)bits * LN2 >> LN2_SHIFT);
    return (uint64_t)((wide)times * mean >> LOG_BITS) + 1;
}

uint64_t course_gap(uint64_t mean, uint64_t *random) {
    return gap_of(draw_word(random), mean);
}

/* Whether the next point comes within so much: of what is short next to `mean` that is said without
 * a logarithm, mostly, as exp(-x) > 1 - x. */
static bool comes_within(uint64_t size, uint64_t mean, uint64_t *random) {
    uint64_t word = draw_word(random);
    unsigned bits = 63 - (unsigned)__builtin_clzll(mean);
    if (bits > 0 && size >> bits == 0 && word < UINT64_MAX - (size << (64 - bits)))
        return false;
    return gap_of(word, mean) <= size;
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
static bool stays_at_double(uint64_t size, uint64_t mean, uint64_t *random) {
    while (draw_word(random) >> 63 == 0)
        if (!comes_within(size, 2 * mean, random))
            return false;
    return true;
}

bool course_stays(uint64_t size, uint64_t mean, uint32_t times, uint64_t *random) {
    for (; times > 0; times--, mean *= 2)
        if (!stays_at_double(size, mean, random))
            return false;
    return true;
}
