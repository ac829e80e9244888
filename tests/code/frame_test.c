/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * frame_test.c - equal keys have equal ids, different keys different ones, from several threads;
 * a user can have so many, takes none from others, and gets back what is in use no more.
 */
#include <pthread.h>

#include "common/code/frame.h"
#include "tests/check.h"

#define THREADS  4
#define KEYS     100000u
#define TOO_MANY (FRAMES_USER_MAX + 100)
#define MONTHS   4 /* times the limit */
#define IN_USE   1000u

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
        wrong += ids[0][i] <= FRAME_OVERFLOW || ids[0][i] >= FRAME_IDS_MAX;
        wrong += !frame_get(ids[0][i], &got) || !same(&got, &want);
    }
    CHECK_UINT(wrong, 0);
}

static void test_unknown(void) {
    struct frame_key key;
    CHECK(!frame_get(0, &key));
    CHECK(!frame_get(FRAME_OVERFLOW, &key));
    CHECK(!frame_get(FRAME_IDS_MAX - 1, &key));
    CHECK(!frame_get(FRAME_IDS_MAX, &key));
    CHECK(!frame_get(UINT32_MAX, &key));
}

/* Interns keys from..to - 1 of a module; how many of them got no id. */
static uint32_t intern_some(struct frame_user *user, uint32_t from, uint32_t to, uint32_t *ids) {
    struct frame_key key = {.routine_module = 9};
    uint32_t refused = 0;
    for (uint32_t i = from; i < to; i++) {
        key.site = i;
        ids[i - from] = frame_intern_for(user, &key);
        refused += ids[i - from] == FRAME_OVERFLOW;
    }
    return refused;
}

static bool sweep(struct frame_user *user, const uint32_t *in_use, uint32_t n) {
    if (!frame_sweep_begin(user))
        return false;
    for (uint32_t i = 0; i < n; i++)
        frame_mark(in_use[i]);
    frame_sweep_end(user, true);
    return true;
}

static uint32_t count(struct frame_user *user) {
    struct frame_usage usage;
    frame_usage_of(user, &usage);
    return usage.frames;
}

static void test_cap(void) {
    static uint32_t ids[TOO_MANY], other[KEYS];
    struct frame_user *greedy = frame_user(1), *modest = frame_user(2);
    struct frame_key got;
    CHECK(frame_user(1) == greedy && greedy != modest);
    CHECK_UINT(intern_some(greedy, 0, TOO_MANY, ids), TOO_MANY - FRAMES_USER_MAX);
    CHECK_UINT(count(greedy), FRAMES_USER_MAX);
    CHECK(frame_get(ids[FRAMES_USER_MAX - 1], &got) && got.site == FRAMES_USER_MAX - 1);
    /* what is known stays known, and others get theirs: of equal keys, too */
    uint32_t again[1];
    CHECK_UINT(intern_some(greedy, 7, 8, again), 0);
    CHECK_UINT(again[0], ids[7]);
    CHECK_UINT(intern_some(modest, 0, KEYS, other), 0);
    CHECK(other[7] != ids[7] && frame_get(other[7], &got) && got.site == 7);
    CHECK(frame_intern_for(NULL, &got) == FRAME_OVERFLOW);
    CHECK(sweep(greedy, NULL, 0));
    CHECK_UINT(count(greedy), 0);
    CHECK(!frame_get(ids[7], &got));
    CHECK(frame_get(other[7], &got) && got.site == 7);
    CHECK_UINT(count(modest), KEYS);
}

/* A program that makes new code all the time uses a little of it at once. */
static void test_months(void) {
    static uint32_t ids[FRAMES_USER_MAX / 2];
    struct frame_user *user = frame_user(3);
    uint32_t kept[IN_USE], again[IN_USE], refused = 0, step = FRAMES_USER_MAX / 2;
    struct frame_key got;
    CHECK_UINT(intern_some(user, 0, IN_USE, kept), 0);
    for (uint32_t at = IN_USE; at < MONTHS * FRAMES_USER_MAX; at += step) {
        refused += intern_some(user, at, at + step, ids);
        CHECK(sweep(user, kept, IN_USE));
        CHECK_UINT(count(user), IN_USE);
    }
    CHECK_UINT(refused, 0);
    CHECK_UINT(intern_some(user, 0, IN_USE, again), 0);
    for (uint32_t i = 0; i < IN_USE; i++)
        CHECK(again[i] == kept[i] && frame_get(kept[i], &got) && got.site == i);
}

struct keeper {
    struct frame_root root;
    uint32_t id;
};

static void mark_one(struct frame_root *root) {
    frame_mark(((struct keeper *)(void *)root)->id);
}

/* What is not given back: what is held, what is a root, and what comes during a sweep; nothing,
 * where not all was examined. */
static void test_use(void) {
    struct frame_user *user = frame_user(4);
    struct keeper keeper = {{NULL, mark_one}, 0};
    struct frame_key got;
    uint32_t ids[10], late[1];
    CHECK_UINT(intern_some(user, 0, 10, ids), 0);
    frame_hold(user);
    CHECK(!sweep(user, NULL, 0));
    frame_drop(user);
    CHECK(frame_sweep_begin(user));
    frame_sweep_end(user, false);
    CHECK_UINT(count(user), 10);
    keeper.id = ids[3];
    frame_root_add(&keeper.root);
    CHECK(frame_sweep_begin(user));
    CHECK_UINT(intern_some(user, 5, 6, late), 0);
    CHECK_UINT(late[0], ids[5]);
    CHECK_UINT(intern_some(user, 50, 51, late), 0);
    frame_sweep_end(user, true);
    CHECK_UINT(count(user), 3);
    CHECK(frame_get(ids[3], &got) && frame_get(ids[5], &got) && frame_get(late[0], &got));
    CHECK(!frame_get(ids[4], &got));
    frame_root_remove(&keeper.root);
    CHECK(sweep(user, NULL, 0));
    CHECK_UINT(count(user), 0);
}

/* Somebody waits until a sweep is worth its while. */
static void *wait_for_sweep(void *unused) {
    (void)unused;
    return frame_wait_sweep();
}

static void test_due(void) {
    static uint32_t ids[FRAMES_USER_MAX / 2];
    struct frame_user *user = frame_user(5);
    pthread_t waiting;
    void *due = NULL;
    for (uid_t uid = 1; uid < 5; uid++) /* the other tests' are served */
        CHECK(sweep(frame_user(uid), NULL, 0));
    CHECK(pthread_create(&waiting, NULL, wait_for_sweep, NULL) == 0);
    CHECK_UINT(intern_some(user, 0, FRAMES_USER_MAX / 2, ids), 0);
    pthread_join(waiting, &due);
    CHECK(due == user);
    frame_wait_stop();
    CHECK(frame_wait_sweep() == NULL);
}

int main(void) {
    test_threads();
    test_unknown();
    test_cap();
    test_months();
    test_use();
    test_due();
    return check_report();
}
