/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * labels_test.c - labels of a thread as a program sets them: which it has, in which order, what of
 * a long text stays, and how many there can be.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/labels/said.h"
#include "preload/labels/table.h"
#include "preload/labels/thread.h"
#include "preload/life/confine.h"
#include "preload/life/memory.h"
#include "tests/check.h"

#define THREADS 8

/* ---- what the table needs of the agent ---- */

struct agent_globals agent;
__thread struct agent_thread *thread_self;
_Atomic bool confine_all, confine_some, confine_held;

bool confine_enter_rarely(struct agent_thread *thread, uint32_t before, bool waits) {
    (void)thread, (void)before, (void)waits;
    return false;
}

void *memory_map(size_t bytes, int protection, int flags, int fd) {
    void *at = mmap(NULL, bytes, protection, flags, fd, 0);
    return at != MAP_FAILED ? at : NULL;
}

/* ---- ---- */

static uint64_t others(void) {
    return atomic_exchange(&agent.process->labels_other, 0);
}

static uint64_t invalid(void) {
    return atomic_exchange(&agent.process->labels_invalid, 0);
}

/* "key=value key=value", outermost first. */
static const char *now(void) {
    static char text[4 * WIRE_LABEL_ROOM + 4];
    text[0] = '\0';
    for (unsigned i = 0; i < WIRE_LABELS && labels_nth(labels_self, i) != 0; i++) {
        strcat(text, i > 0 ? " " : "");
        strcat(text, label_at(labels_nth(labels_self, i))->text);
    }
    return text;
}

static void clear_all(void) {
    static const char *const keys[] = {"a", "b", "route", "tenant", "k", "route.x"};
    for (size_t i = 0; i < HCCT_ARRAY_LEN(keys); i++)
        hcct_label_clear(keys[i]);
    CHECK_UINT(labels_self, 0);
}

static void test_quiet(void) {
    confine_all = true;
    hcct_label_set("route", "/pay"); /* the table would take a system call */
    CHECK_STR(now(), "");
    CHECK_UINT(others(), 1);
    confine_all = false;
}

static void test_set(void) {
    CHECK_STR(now(), "");
    hcct_label_clear("route");
    hcct_label_set("route", "/pay");
    CHECK_STR(now(), "route=/pay");
    hcct_label_set("route", "/list");
    CHECK_STR(now(), "route=/list");
    hcct_label_set("tenant", "x=y z");
    hcct_label_set("b", "");
    hcct_label_set("a", "1");
    CHECK_STR(now(), "a=1 b= route=/list tenant=x=y z");
    hcct_label_set("route", "/pay");
    CHECK_STR(now(), "a=1 b= route=/pay tenant=x=y z");
    CHECK_UINT(others(), 0);
    hcct_label_set("k", "fifth");
    CHECK_STR(now(), "a=1 b= route=/pay tenant=x=y z");
    CHECK_UINT(others(), 1);
    hcct_label_clear("b");
    CHECK_STR(now(), "a=1 route=/pay tenant=x=y z");
    hcct_label_set("tenant", NULL);
    hcct_label_set("route.x", "1"); /* a key that begins as another one */
    CHECK_STR(now(), "a=1 route.x=1 route=/pay");
    hcct_label_clear("a");
    CHECK_STR(now(), "route.x=1 route=/pay");
    hcct_label_clear(NULL);
    hcct_label_set(NULL, "x");
    clear_all();
}

static void check_refused(const char *key) {
    hcct_label_set(key, "x");
    CHECK_UINT(labels_self, 0);
    CHECK_UINT(others(), 0);
    CHECK_UINT(invalid(), 1);
}

static void test_keys(void) {
    check_refused("");
    check_refused("a b");
    check_refused("a=b");
    check_refused("1a");
    check_refused("größe");
    check_refused("a23456789012345678901234567890_2");
    hcct_label_set("a2345678901234567890123456789_1", "x");
    CHECK_STR(now(), "a2345678901234567890123456789_1=x");
    hcct_label_clear("a2345678901234567890123456789_1");
    CHECK_UINT(labels_self, 0);
}

/* Cut between characters; texts whose beginnings are the same are one. */
static void test_long(void) {
    char value[400];
    size_t room = WIRE_LABEL_ROOM - 1 - strlen("k=");
    memset(value, 'v', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    hcct_label_set("k", value);
    uint64_t cut = labels_self;
    CHECK_UINT(strlen(now()), WIRE_LABEL_ROOM - 1);
    value[room] = '\0';
    hcct_label_set("k", value);
    CHECK_UINT(labels_self, cut);
    memcpy(value + room - 1, "\u20ac", sizeof "\u20ac");
    hcct_label_set("k", value);
    CHECK_UINT(strlen(now()), WIRE_LABEL_ROOM - 2);
    for (size_t n = 1; n < 40; n++) {
        char text[48] = "k=";
        memset(text + 2, 'w', n);
        hcct_label_set("k", text + 2);
        CHECK_STR(now(), text);
    }
    clear_all();
}

static void *set_many(void *arg) {
    char value[16];
    uint64_t(*seen)[100] = arg;
    for (int i = 0; i < 100; i++) {
        snprintf(value, sizeof value, "v%d", i);
        hcct_label_set("route", value);
        (*seen)[i] = labels_self;
    }
    return NULL;
}

/* Threads that set the same values at once have the same numbers, and each its own label. */
static void test_threads(void) {
    static uint64_t seen[THREADS][100];
    pthread_t thread[THREADS];
    hcct_label_set("route", "mine");
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&thread[i], NULL, set_many, seen[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 1; i < THREADS; i++)
        CHECK(memcmp(seen[i], seen[0], sizeof seen[0]) == 0);
    CHECK_STR(now(), "route=mine");
    clear_all();
    CHECK_UINT(others(), 0);
}

static void test_flood(void) {
    char value[16];
    unsigned placed = 0;
    for (int i = 0; i < 5000; i++) {
        snprintf(value, sizeof value, "id%d", i);
        hcct_label_set("route", value);
        placed += strcmp(now() + strlen("route="), value) == 0;
        CHECK(placed > (unsigned)i || strcmp(now(), "route=[other]") == 0);
    }
    CHECK(placed > LABEL_VALUES / 2 && placed < LABEL_VALUES);
    CHECK_UINT(others(), 5000 - placed);
    hcct_label_set("route", "id3"); /* those that were there stay */
    CHECK_STR(now(), "route=id3");
    hcct_label_set("later", "x"); /* a key has its [other] all the same ... */
    CHECK_STR(now(), "later=[other] route=id3");
    hcct_label_clear("later");
    for (int i = 0; i < 100; i++) { /* ... but not any number of keys */
        snprintf(value, sizeof value, "key%d", i);
        hcct_label_set(value, "x");
        hcct_label_clear(value);
    }
    CHECK_UINT(others(), 101);
    CHECK_UINT(invalid(), 0);
    hcct_label_set("key99", "x");
    CHECK_STR(now(), "route=id3");
    clear_all();
}

int main(void) {
    agent.process = calloc(1, sizeof *agent.process);
    test_quiet();
    test_set();
    test_keys();
    test_long();
    test_threads();
    test_flood();
    hcct_stop();
    CHECK_UINT(agent.stopped, 1);
    hcct_start();
    CHECK_UINT(agent.stopped, 0);
    free(agent.process);
    return check_report();
}
