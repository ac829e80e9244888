/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * roomy_stack.c - a mapping, and swapcontext(), which is nothing but a jump.
 */
#include "common/base/roomy_stack.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

static struct {
    int (*run)(int argc, char **argv);
    int argc, status;
    char **argv;
    ucontext_t there, back;
} call;

static void run_there(void) {
    call.status = call.run(call.argc, call.argv);
}

static void set_default_of_threads(void) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, ROOMY_STACK_BYTES);
    pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
}

/* Below it is a page that nobody may touch. False: no memory. */
static bool make_stack(stack_t *stack) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *at = mmap(NULL, page + ROOMY_STACK_BYTES, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED || mprotect(at, page, PROT_NONE) != 0)
        return false;
    *stack = (stack_t){.ss_sp = at + page, .ss_size = ROOMY_STACK_BYTES};
    return true;
}

int roomy_stack_run(int (*run)(int argc, char **argv), int argc, char **argv) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= ROOMY_STACK_BYTES)
        return run(argc, argv);
    set_default_of_threads();
    call.run = run;
    call.argc = argc;
    call.argv = argv;
    if (getcontext(&call.there) != 0 || !make_stack(&call.there.uc_stack))
        return run(argc, argv);
    call.there.uc_link = &call.back;
    makecontext(&call.there, run_there, 0);
    if (swapcontext(&call.back, &call.there) != 0)
        return run(argc, argv);
    return call.status;
}
