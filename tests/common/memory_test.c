/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * memory_test.c - small arrays and large ones, which are of huge pages: all are zeroed, also where
 * memory had something in it, and keep what they have when they grow; pools have pieces of any
 * size; and what can't be had ends what is tried, before and after memory_keep(), which has a heap
 * of many megabytes.
 */
#include "common/base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/check.h"

#define MB ((size_t)1 << 20)

static const size_t sizes[] = {1, 1000, MB / 2, MB - 1, MB, 2 * MB, 2 * MB + 1, 7 * MB};

static bool is_zero(const char *memory, size_t bytes) {
    return memory[0] == 0 && memcmp(memory, memory + 1, bytes - 1) == 0;
}

static void check_new(void) {
    for (int again = 0; again < 3; again++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            char *memory = memory_new(sizes[i], 1, "a test");
            CHECK(is_zero(memory, sizes[i]));
            memset(memory, 0xa5, sizes[i]);
            free(memory);
        }
}

static void check_grow(void) {
    uint64_t *array = NULL;
    uint32_t room = 0, wrong = 0;
    for (uint32_t i = 0; i < 600000; i++) {
        array = memory_grow(array, i, &room, sizeof *array, "a test");
        array[i] = i * UINT64_C(0x9e3779b97f4a7c15);
    }
    for (uint32_t i = 0; i < 600000; i++)
        wrong += array[i] != i * UINT64_C(0x9e3779b97f4a7c15);
    CHECK_UINT(wrong, 0);
    free(array);
}

static void check_reserve(void) {
    uint32_t *array = NULL, room = 0;
    for (uint32_t n = 1; n < 3000000; n *= 3) {
        array = memory_reserve(array, n / 3, &room, sizeof *array, n - n / 3, "a test");
        CHECK(room >= n && (n < 3 || array[n / 3 - 1] == n / 3));
        uint32_t had = room;
        array[n - 1] = n;
        array = memory_reserve(array, n, &room, sizeof *array, room - n, "a test");
        CHECK_UINT(room, had);
    }
    free(array);
}

static void check_pool(void) {
    struct pool pool = {0};
    char *piece[2000];
    for (unsigned i = 0; i < 2000; i++) {
        size_t bytes = i % 400 == 399 ? 3 * MB : 5000;
        piece[i] = pool_alloc(&pool, bytes);
        CHECK(is_zero(piece[i], bytes));
        memset(piece[i], (int)(i % 255) + 1, bytes);
    }
    for (unsigned i = 0; i < 2000; i++)
        CHECK(piece[i][0] == (char)(i % 255 + 1) && piece[i][4999] == piece[i][0]);
    pool_free(&pool);
}

#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__ /* these end the program */
static void ask_too_much(void *n) {
    memory_new(*(const size_t *)n, 1 << 16, "the whole of it");
}

static void check_none(void) {
    const char *what;
    size_t too_much[] = {(size_t)1 << 40, SIZE_MAX >> 16, SIZE_MAX};
    for (size_t i = 0; i < sizeof too_much / sizeof *too_much; i++) {
        CHECK(!memory_try(ask_too_much, &too_much[i], &what));
        CHECK_STR(what, "the whole of it");
    }
}
#else
static void check_none(void) {}
#endif

/* The heap that is kept is there, to be of huge pages before anything is in it. */
static void keep(void) {
    const char *before = sbrk(0);
    memory_keep();
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__ /* these have another heap */
    CHECK((const char *)sbrk(0) >= before + 32 * MB);
#endif
    (void)before;
}

int main(void) {
    for (int kept = 0; kept < 2; kept++) {
        check_new();
        check_grow();
        check_reserve();
        check_pool();
        check_none();
        if (kept == 0)
            keep();
    }
    return check_report();
}
