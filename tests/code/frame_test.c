/*
 * frame_test.c - equal keys have equal ids, different keys different ones, from several threads,
 * and the number of ids is capped.
 */
#include <pthread.h>

#include "daemon/code/frame.h"
#include "tests/check.h"

#define THREADS  4
#define KEYS     100000u
#define TOO_MANY (1u << 22)

/* Key number i, different in any one of its parts from others. */
static struct frame_key key_number(uint32_t i) {
    return (struct frame_key){.routine_module = i % 3,
                              .site_module = i / 3 % 5,
                              .routine = 0x1000 + i / 15 % 7,
                              .site = i / 105};
}

static bool same(const struct frame_key *a, const struct frame_key *b) {
    return a->routine_module == b->routine_module && a->site_module == b->site_module &&
           a->routine == b->routine && a->site == b->site;
}

static void *intern_all(void *into) {
    uint32_t *ids = into;
    for (uint32_t i = 0; i < KEYS; i++) {
        struct frame_key key = key_number(i);
        ids[i] = frame_intern(&key);
    }
    return NULL;
}

static void test_threads(void) {
    static uint32_t ids[THREADS][KEYS];
    pthread_t threads[THREADS];
    unsigned wrong = 0;
    for (int t = 0; t < THREADS; t++)
        CHECK(pthread_create(&threads[t], NULL, intern_all, ids[t]) == 0);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    for (uint32_t i = 0; i < KEYS; i++) {
        struct frame_key want = key_number(i), got;
        for (int t = 0; t < THREADS; t++)
            wrong += ids[t][i] != ids[0][i];
        wrong += ids[0][i] <= FRAME_OVERFLOW || ids[0][i] > KEYS + FRAME_OVERFLOW;
        wrong += !frame_get(ids[0][i], &got) || !same(&got, &want);
    }
    CHECK_UINT(wrong, 0);
}

static void test_unknown(void) {
    struct frame_key key;
    CHECK(!frame_get(0, &key));
    CHECK(!frame_get(FRAME_OVERFLOW, &key));
    CHECK(!frame_get(KEYS + FRAME_OVERFLOW + 1, &key));
    CHECK(!frame_get(UINT32_MAX, &key));
}

static void test_cap(void) {
    struct frame_key key = {.routine_module = 9}, first = key_number(0), got;
    uint32_t first_id = frame_intern(&first), id = 0, last = 0;
    for (uint32_t i = 0; i < TOO_MANY; i++) {
        key.site = i;
        id = frame_intern(&key);
        if (id == FRAME_OVERFLOW)
            break;
        last = id;
    }
    CHECK_UINT(id, FRAME_OVERFLOW);
    CHECK(last < TOO_MANY);
    CHECK(frame_get(last, &got));
    CHECK(!frame_get(last + 1, &got));
    /* What is known stays known. */
    CHECK_UINT(frame_intern(&first), first_id);
    CHECK(frame_get(first_id, &got) && same(&got, &first));
}

int main(void) {
    test_threads();
    test_unknown();
    test_cap();
    return check_report();
}
