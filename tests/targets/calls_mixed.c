/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * calls_mixed.c - C code whose calls go all ways, always the same ones: small functions that an
 * optimizer inlines, calls by pointers, threads, mutual recursion, and a shared library that calls
 * back.
 *
 *   usage: calls_mixed ROUNDS
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/targets/calls_shared.h"

#define THREADS 3

struct state {
    uint64_t sum;
    unsigned rounds, kind;
};

static uint64_t twice(uint64_t x) {
    return 2 * x;
}

static uint64_t and_one(uint64_t x) {
    return twice(x) + 1;
}

static uint64_t mixed(uint64_t x) {
    return and_one(x) ^ and_one(twice(x));
}

static uint64_t is_odd(unsigned n);

static uint64_t is_even(unsigned n) {
    return n == 0 ? 1 : is_odd(n - 1);
}

static uint64_t is_odd(unsigned n) {
    return n == 0 ? 0 : is_even(n - 1);
}

static uint64_t ackermann(uint64_t m, uint64_t n) {
    if (m == 0)
        return n + 1;
    return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

static void add(void *state, uint64_t x) {
    ((struct state *)state)->sum += mixed(x);
}

static void walk_back(void *state, uint64_t x) {
    ((struct state *)state)->sum ^= is_even((unsigned)(x % 7));
    if (x % 3 == 0)
        shared_each(2, add, state);
}

static void (*const ways[])(void *, uint64_t) = {add, walk_back};

static void round_of(struct state *state, unsigned i) {
    shared_each(5, ways[(i + state->kind) % 2], state);
    if (i % 64 == 0)
        state->sum += ackermann(2, 3 + state->kind);
    for (unsigned n = 0; n < 4; n++)
        ways[n % 2](state, i + n);
}

static void *work(void *arg) {
    struct state *state = arg;
    for (unsigned i = 0; i < state->rounds; i++)
        round_of(state, i);
    return arg;
}

int main(int argc, char **argv) {
    unsigned rounds = argc == 2 ? (unsigned)atoi(argv[1]) : 0;
    struct state states[THREADS];
    pthread_t ids[THREADS];
    uint64_t sum = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        states[i] = (struct state){.rounds = rounds, .kind = i};
        if (pthread_create(&ids[i], NULL, work, &states[i]) != 0)
            return 1;
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(ids[i], NULL);
        sum += states[i].sum;
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
