/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * stack_test.c - memory that is there, that is not, and that is taken away while it is read: by the
 * kernel's copy, and as it is read before the agent has started, or where that copy is refused.
 */
#include "preload/sample/stack.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/life/agent.h"
#include "tests/check.h"

#define PAGE  WIRE_PAGE_MOST /* rights are of whole pages of the kernel's */
#define READS 200000

static struct stack_page pages[STACK_PAGES];

static char *map(size_t n, int rights, int fd) {
    return mmap(NULL, n * PAGE, rights, fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_PRIVATE, fd, 0);
}

static uint64_t address_of(const void *at) {
    return (uintptr_t)at;
}

static bool is_page(const struct stack_probe *probe, const uint64_t *at) {
    uint64_t page = address_of(at), i = page / WIRE_PAGE % STACK_PAGES;
    return probe->page[i] == page && probe->copy[i].word[0] == *at;
}

/* Pages of one probe and of another one, up to the first that is not there: each of another of the
 * kernel's, and each with a place of its own in a probe. */
static void test_ahead(bool by_kernel) {
    static struct stack_page others[STACK_PAGES];
    struct stack_probe probe = {.copy = pages}, other = {.copy = others};
    struct stack_ahead ahead[STACK_AHEAD] = {{&probe, 0}, {&other, 0}, {&probe, 0}, {&probe, 0}};
    char *memory = map(4, PROT_READ | PROT_WRITE, -1);
    uint64_t *at[STACK_AHEAD], word = 0;
    for (uint64_t i = 0; i < STACK_AHEAD; i++) {
        at[i] = (uint64_t *)(memory + i * (PAGE + WIRE_PAGE));
        *at[i] = i + 1;
        ahead[i].page = address_of(at[i]);
    }
    mprotect(memory + 2 * PAGE, PAGE, PROT_NONE);
    stack_read_ahead(ahead, 0);
    stack_read_ahead(ahead, STACK_AHEAD);
    CHECK(is_page(&probe, at[0]) == by_kernel && is_page(&other, at[1]) == by_kernel);
    CHECK(probe.page[ahead[2].page / WIRE_PAGE % STACK_PAGES] == 0 &&
          probe.page[ahead[3].page / WIRE_PAGE % STACK_PAGES] == 0);
    *at[1] = 7;
    CHECK(stack_read(&other, ahead[1].page, &word) && word == (by_kernel ? 2 : 7));
    CHECK(!stack_read(&probe, ahead[2].page, &word));
    CHECK(stack_read(&probe, ahead[3].page, &word) && word == 4);
    munmap(memory, 4 * PAGE);
}

static void test_there_or_not(void) {
    struct stack_probe probe = {.copy = pages};
    uint64_t word = 0, words[4];
    char *memory = map(3, PROT_READ | PROT_WRITE, -1);
    uint64_t *at = (uint64_t *)(memory + PAGE - 8);
    mprotect(memory + PAGE, PAGE, PROT_NONE);
    *at = 7;
    CHECK(stack_read(&probe, address_of(at), &word) && word == 7);
    CHECK(!stack_read(&probe, address_of(at + 1), &word));
    CHECK(!stack_read(&probe, address_of(at) + 1, &word)); /* no word */
    CHECK(!stack_read(&probe, 0, &word) && !stack_read(&probe, 8, &word));
    CHECK(!stack_read(&probe, ~7ull, &word) && !stack_read(&probe, 1ull << 63, &word));
    CHECK(stack_is_readable(address_of(at)) && !stack_is_readable(address_of(at + 1)));
    CHECK(stack_copy(words, address_of(at - 3), sizeof words) && words[3] == 7);
    CHECK(!stack_copy(words, address_of(at - 2), sizeof words));
    CHECK(stack_write(address_of(at), 9) && *at == 9);
    CHECK(!stack_write(address_of(at + 1), 9) && !stack_write(8, 9));
    munmap(memory, 3 * PAGE);
}

/* What was read holds until the next walk. */
static void test_forget(void) {
    struct stack_probe probe = {.copy = pages};
    uint64_t word = 0, *at = (uint64_t *)map(2 * STACK_PAGES, PROT_READ | PROT_WRITE, -1);
    for (size_t i = 0; i < 2 * STACK_PAGES; i++)
        at[i * WIRE_PAGE / 8] = i;
    for (size_t i = 0; i < 2 * STACK_PAGES; i++)
        CHECK(stack_read(&probe, address_of(at + i * WIRE_PAGE / 8), &word) && word == i);
    at[0] = 9;
    CHECK(stack_read(&probe, address_of(at), &word) && word == 9); /* others came in its place */
    at[0] = 10;
    stack_forget(&probe);
    CHECK(stack_read(&probe, address_of(at), &word) && word == 10);
    munmap(at, 2 * STACK_PAGES * PAGE);
    CHECK(stack_read(&probe, address_of(at), &word) && word == 10);
    stack_forget(&probe);
    CHECK(!stack_read(&probe, address_of(at), &word));
}

/* It can be mapped, but not read. */
static void test_behind_file(void) {
    struct stack_probe probe = {.copy = pages};
    FILE *file = tmpfile();
    uint64_t word;
    CHECK(file != NULL && fputc('x', file) == 'x' && fflush(file) == 0);
    char *memory = map(2, PROT_READ, fileno(file));
    CHECK(stack_read(&probe, address_of(memory), &word) && word == 'x');
    CHECK(!stack_read(&probe, address_of(memory + PAGE), &word));
    munmap(memory, 2 * PAGE);
    fclose(file);
}

static _Atomic bool reads;

static void *take_away(void *memory) {
    while (reads) {
        mprotect(memory, PAGE, PROT_NONE);
        mprotect(memory, PAGE, PROT_READ);
    }
    return NULL;
}

static void test_taken_away(void) {
    struct stack_probe probe = {.copy = pages};
    char *memory = map(1, PROT_READ, -1);
    uint64_t word = 1, seen = 0;
    pthread_t taker;
    reads = true;
    CHECK(pthread_create(&taker, NULL, take_away, memory) == 0);
    for (int i = 0; i < READS; i++) {
        stack_forget(&probe);
        seen |= stack_read(&probe, address_of(memory), &word) ? word : 0;
    }
    reads = false;
    pthread_join(taker, NULL);
    CHECK_UINT(seen, 0);
    munmap(memory, PAGE);
}

int main(void) {
    struct agent_process process = {.pid = 0};
    test_there_or_not();
    test_ahead(false);
    test_behind_file();
    process.pid = getpid();
    agent.process = &process;
    test_there_or_not();
    test_ahead(true);
    test_forget();
    test_behind_file();
    test_taken_away();
    return check_report();
}
