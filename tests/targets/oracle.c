/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * oracle.c - C code of the usual kinds, always the same, for two profilers to sample: recursion,
 * callbacks out of the C library, loops, and one helper that several callers share.
 *
 * The phases of a round are long against a sampling period, so that each of them gets its share of
 * walks nearly exactly, whatever the profiler.
 *
 *   usage: oracle ROUNDS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWN_FRAME __attribute__((noinline))

enum { ITEMS = 150000, SIDE = 160, BOARD = 9, SLOTS = 1 << 16 };

static uint64_t state;

OWN_FRAME static uint64_t next_random(void) {
    for (int i = 0; i < 8; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    return state;
}

// ---- sorting, with a callback from the C library ----

static uint64_t items[ITEMS];

static int by_value(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

OWN_FRAME static void fill_items(void) {
    for (size_t i = 0; i < ITEMS; i++)
        items[i] = next_random();
}

OWN_FRAME static uint64_t sorting(void) {
    fill_items();
    qsort(items, ITEMS, sizeof items[0], by_value);
    return items[ITEMS / 2];
}

// ---- arithmetic in loops ----

static double left[SIDE][SIDE], right[SIDE][SIDE], product[SIDE][SIDE];

OWN_FRAME static void multiply(void) {
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            double sum = 0;
            for (int k = 0; k < SIDE; k++)
                sum += left[i][k] * right[k][j];
            product[i][j] = sum;
        }
}

OWN_FRAME static uint64_t matrices(void) {
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            left[i][j] = (double)(next_random() % 100);
            right[i][j] = (double)(next_random() % 100);
        }
    for (int i = 0; i < 12; i++)
        multiply();
    return (uint64_t)product[SIDE / 2][SIDE / 3];
}

// ---- recursion ----

OWN_FRAME static int is_free(const int *queens, int row, int column) {
    for (int r = 0; r < row; r++)
        if (queens[r] == column || abs(queens[r] - column) == row - r)
            return 0;
    return 1;
}

OWN_FRAME static unsigned place(int *queens, int row) {
    if (row == BOARD)
        return 1;
    unsigned found = 0;
    for (int column = 0; column < BOARD; column++)
        if (is_free(queens, row, column)) {
            queens[row] = column;
            found += place(queens, row + 1);
        }
    return found;
}

OWN_FRAME static uint64_t queens_problem(void) {
    int queens[BOARD];
    uint64_t found = 0;
    for (int i = 0; i < 4; i++)
        found += place(queens, 0);
    return found;
}

// ---- a hash table ----

static uint64_t slots[SLOTS];

OWN_FRAME static size_t probe(uint64_t key) {
    size_t at = key * 0x9e3779b97f4a7c15u >> 48;
    while (slots[at] != 0 && slots[at] != key)
        at = (at + 1) % SLOTS;
    return at;
}

OWN_FRAME static uint64_t hashing(void) {
    uint64_t hits = 0;
    memset(slots, 0, sizeof slots);
    for (int i = 0; i < 600000; i++) {
        uint64_t key = next_random() % 50000 + 1;
        size_t at = probe(key);
        hits += slots[at] == key;
        slots[at] = key;
    }
    return hits;
}

static uint64_t (*const phases[])(void) = {sorting, matrices, queens_problem, hashing};

int main(int argc, char **argv) {
    int rounds = argc == 2 ? atoi(argv[1]) : 0;
    if (rounds < 1) {
        fprintf(stderr, "usage: oracle ROUNDS\n");
        return 2;
    }
    state = 88172645463325252u;
    uint64_t sum = 0;
    for (int i = 0; i < rounds; i++)
        for (size_t p = 0; p < sizeof phases / sizeof phases[0]; p++)
            for (int times = 0; times < 6; times++)
                sum = sum * 31 + phases[p]();
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
