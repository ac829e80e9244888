/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * small_stacks.c - coroutines on stacks of 20 KB without a guard page, side by side in one block,
 * each with bytes at its low end that nobody may write: what interrupts them must fit as well. With
 * an argument, they have 4 KB, and make system calls. (The loader, where it binds a function at its
 * first call, takes most of that: all are bound before.)
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "busy.h"

enum { STACKS = 16, ROUNDS = 400 };
#define MARK 256

static size_t bytes = (size_t)20 << 10;
static int nowhere = -1;
static ucontext_t scheduler, coroutine[STACKS];
static long steps;

static int deeper(int depth) {
    volatile char used[64];
    used[depth % 64] = (char)depth;
    if (depth > 0)
        return deeper(depth - 1) + used[depth % 64] % 2;
    busy(3000);
    return nowhere >= 0 && write(nowhere, "", 1) != 1;
}

static void work(int mine) {
    for (;;) {
        deeper(10);
        steps++;
        swapcontext(&coroutine[mine], &scheduler);
    }
}

static long untouched(const char *block) {
    long clean = 0;
    for (int i = 0; i < STACKS; i++)
        for (int k = 0; k < MARK; k++)
            clean += block[(size_t)i * bytes + (size_t)k] == 0x5a;
    return clean;
}

int main(int argc, char **argv) {
    (void)argv;
    if (argc > 1) {
        bytes = (size_t)4 << 10;
        nowhere = open("/dev/null", O_WRONLY);
    }
    char *block = malloc(STACKS * bytes);
    memset(block, 0x5a, STACKS * bytes);
    for (int i = 0; i < STACKS; i++) {
        getcontext(&coroutine[i]);
        coroutine[i].uc_stack.ss_sp = block + (size_t)i * bytes;
        coroutine[i].uc_stack.ss_size = bytes;
        makecontext(&coroutine[i], (void (*)(void))work, 1, i);
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < STACKS; i++)
            swapcontext(&scheduler, &coroutine[i]);
    printf("%ld %ld\n", steps, untouched(block));
    return 0;
}
