/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * small_alternate.c - alternate signal stacks that are too small for a signal, or just large enough
 * for one with a handler that does nothing: as long as none comes that is no error. Below each are
 * bytes that nobody may write.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "busy.h"

enum { GUARD = 16384, MARK = 0x5a };

static const size_t sizes[] = {2048, 2560, 3072, 0 /* a frame */, 4096, 5120, 8192, 16384};
#define SIZES (sizeof sizes / sizeof *sizes)

static void take_down(void) {
    const stack_t none = {.ss_flags = SS_DISABLE};
    if (sigaltstack(&none, NULL) != 0)
        abort();
}

/* True when nothing was written below the stack. A kernel may refuse one that is too small. */
static int is_clean(size_t bytes) {
    char *memory =
        mmap(NULL, GUARD + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const stack_t stack = {.ss_sp = memory + GUARD, .ss_size = bytes};
    int clean = 1;
    memset(memory, MARK, GUARD);
    int set = sigaltstack(&stack, NULL) == 0;
    busy_ms(20);
    if (set)
        take_down();
    for (int i = 0; i < GUARD; i++)
        clean &= memory[i] == MARK;
    munmap(memory, GUARD + bytes);
    busy_ms(5);
    return clean;
}

static void *each(void *unused) {
    long clean = 0;
    (void)unused;
    for (size_t i = 0; i < SIZES; i++)
        clean += is_clean(sizes[i] != 0 ? sizes[i] : (size_t)sysconf(_SC_MINSIGSTKSZ));
    return (void *)clean;
}

int main(void) {
    pthread_t id;
    void *of_thread, *of_main;
    pthread_create(&id, NULL, each, NULL);
    of_main = each(NULL);
    pthread_join(id, &of_thread);
    printf("%ld %ld of %zu\n", (long)of_main, (long)of_thread, SIZES);
    return 0;
}
