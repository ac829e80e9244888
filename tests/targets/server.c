/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * server.c - answers requests, a line each: "get" from a table, "report" by sorting all of it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS    40000u
#define LOOK_UP 200u

static uint32_t table[ROWS], sorted[ROWS];

__attribute__((noinline)) static int compare_rows(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

__attribute__((noinline)) static uint32_t sort_all(void) {
    memcpy(sorted, table, sizeof sorted);
    for (uint32_t gap = ROWS / 2; gap > 0; gap /= 2)
        for (uint32_t i = gap; i < ROWS; i++) {
            uint32_t value = sorted[i], k = i;
            for (; k >= gap && compare_rows(&sorted[k - gap], &value) > 0; k -= gap)
                sorted[k] = sorted[k - gap];
            sorted[k] = value;
        }
    return sorted[ROWS / 2];
}

__attribute__((noinline)) static uint32_t look_up(uint32_t key) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < LOOK_UP; i++)
        for (uint32_t k = 0; k < 1000; k++)
            sum += table[(key + i * 7919 + k) % ROWS];
    return sum;
}

__attribute__((noinline)) static uint32_t handle_report(void) {
    return sort_all() + 1;
}

__attribute__((noinline)) static uint32_t handle_get(uint32_t n) {
    return look_up(n) + 1;
}

int main(void) {
    char line[64];
    uint32_t state = 1, n = 0;
    for (uint32_t i = 0; i < ROWS; i++)
        table[i] = state = state * 1664525 + 1013904223;
    while (fgets(line, sizeof line, stdin) != NULL) {
        uint32_t answer = strcmp(line, "report\n") == 0 ? handle_report() : handle_get(n++);
        printf("%u\n", answer);
        fflush(stdout);
    }
    return 0;
}
