/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * shapes.h - code whose stack frames have every form that a compiler makes. It is a source that is
 * included by several, each with other options for the compiler; SHAPES is the name that the whole
 * then has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))

void SHAPES(void);

static volatile unsigned sink;

NOINLINE static void leaf(void) {
    sink++;
}

/* Saves all the registers that a callee has to save. */
NOINLINE static unsigned many_saved(unsigned a, unsigned b, unsigned c) {
    unsigned d = a * 3 + sink, e = b * 5 + sink, f = c * 7 + sink;
    for (unsigned i = 0; i < 3; i++) {
        leaf();
        a += d ^ e, b += e ^ f, c += f ^ d, d += a, e += b, f += c;
    }
    return a ^ b ^ c ^ d ^ e ^ f;
}

NOINLINE static unsigned big_frame(unsigned n) {
    volatile char room[10000];
    room[n] = room[9999] = 1;
    leaf();
    return (unsigned)room[n];
}

/* Leaves early without a frame; the frame comes only where it is needed. */
NOINLINE static unsigned shrink_wrapped(unsigned n) {
    if (n < 5)
        return n;
    unsigned sum = many_saved(n, n + 1, n + 2);
    return sum + big_frame(n);
}

__attribute__((noinline, cold)) static void unlikely(unsigned n) {
    sink += n;
    leaf();
}

/* Its unlikely half is put elsewhere by the compiler, with an unwind entry of its own. */
NOINLINE static unsigned split(unsigned n) {
    unsigned sum = many_saved(n, 1, 2);
    if (__builtin_expect(n == 7, 0)) {
        unlikely(sum);
        sum += many_saved(sum, n, 3);
        unlikely(sum);
    }
    return sum;
}

NOINLINE static unsigned tail_end(unsigned n) {
    leaf();
    return n + 1;
}

NOINLINE static unsigned tail_middle(unsigned n) {
    leaf();
    return tail_end(n * 2);
}

NOINLINE static unsigned tail_start(unsigned n) {
    char room[100];
    memset(room, (int)n, sizeof room);
    sink += (unsigned)room[n];
    return tail_middle(n + 3);
}

NOINLINE static unsigned with_alloca(unsigned n) {
    char *room = __builtin_alloca(n);
    memset(room, 1, n);
    leaf();
    return (unsigned)room[n / 2];
}

NOINLINE static unsigned with_vla(unsigned n) {
    unsigned sum = 0;
    for (unsigned i = 1; i < n; i += 20) {
        unsigned array[i];
        array[i / 2] = i;
        leaf();
        sum += array[i / 2];
    }
    return sum;
}

/* A realigned frame, and one that changes its size too. */
NOINLINE static unsigned aligned(unsigned n) {
    _Alignas(64) volatile unsigned room[16];
    room[n % 16] = n;
    leaf();
    return room[n % 16] + many_saved(n, room[n % 16], 1);
}

NOINLINE static unsigned aligned_alloca(unsigned n, ...) {
    _Alignas(128) volatile unsigned room[32];
    va_list rest;
    char *more = __builtin_alloca(n);
    va_start(rest, n);
    room[n % 32] = va_arg(rest, unsigned);
    va_end(rest);
    more[n - 1] = 3;
    leaf();
    return room[n % 32] + (unsigned)more[n - 1];
}

struct large {
    uint64_t word[60];
};

/* Arguments and result on the stack. */
NOINLINE static struct large by_value(struct large in, int a, int b, int c, int d, int e, int f,
                                      int g, int h) {
    in.word[3] += (unsigned)(a + b + c + d + e + f + g + h);
    leaf();
    return in;
}

NOINLINE static unsigned pass_by_value(unsigned n) {
    struct large x = {{n, 2, 3}};
    x = by_value(x, 1, 2, 3, 4, 5, 6, 7, 8);
    return (unsigned)by_value(x, 8, 7, 6, 5, 4, 3, 2, 1).word[3];
}

NOINLINE static unsigned recursion(unsigned n) {
    char room[24];
    memset(room, (int)n, sizeof room);
    return n == 0 ? tail_start(1) : recursion(n - 1) + (unsigned)room[n % 24];
}

static int by_size(const void *a, const void *b) {
    leaf();
    return *(const int *)a - *(const int *)b;
}

NOINLINE static void through_libc(void) {
    int numbers[] = {5, 3, 9, 1, 7, 2, 8, 6};
    char text[64];
    qsort(numbers, 8, sizeof numbers[0], by_size);
    snprintf(text, sizeof text, "%d %s %.3f", numbers[0], "text", 1.5);
    sink += (unsigned)strtod("2.75", NULL) + (unsigned)strlen(text);
}

static jmp_buf back;

/* A call that does not come back may be the last instruction of its function. */
__attribute__((noreturn, noinline, noclone)) static void leave(unsigned n) {
    sink += n;
    longjmp(back, 1);
}

__attribute__((noreturn, noinline, noclone)) static void never_returns(unsigned n) {
    volatile unsigned room[20];
    room[n] = n;
    leaf();
    leave(room[n]);
}

NOINLINE static void jump(void) {
    if (setjmp(back) == 0)
        never_returns(4);
    leaf();
}

static unsigned (*volatile by_pointer)(unsigned) = shrink_wrapped;

void SHAPES(void) {
    unsigned sum = 0;
    for (unsigned n = 4; n < 8; n++)
        sum += by_pointer(n) + split(n);
    sum += tail_start(2) + with_alloca(333) + with_alloca(5000) + with_vla(90);
    sum += aligned(5) + aligned_alloca(77, 3u) + pass_by_value(9) + recursion(12);
    through_libc();
    jump();
    sink += sum;
}
