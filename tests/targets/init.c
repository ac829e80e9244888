/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * init.c - computes in functions that are called by _init and _fini, of a program and of a shared
 * object that it loads (made of this file, too, with INIT_SHARED defined). No unwind entry
 * covers their callers.
 *
 *   usage: init SHARED-OBJECT
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#if defined(__x86_64__)
#define CALL "call "
#else
#define CALL "bl "
#endif

#ifdef INIT_SHARED
#define BURN_IN_INIT burn_in_shared_init
#define BURN_IN_FINI burn_in_shared_fini
#else
#define BURN_IN_INIT burn_in_init
#define BURN_IN_FINI burn_in_fini
#endif

#define TEXT(name)    TEXT_OF(name)
#define TEXT_OF(name) #name

#define BURN_NS 300000000u

static volatile uint64_t sink;

static uint64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) static void burn(void) {
    uint64_t end = cpu_ns() + BURN_NS;
    do {
        for (unsigned i = 0; i < 50000; i++)
            sink += i;
    } while (cpu_ns() < end);
}

__attribute__((used)) static void BURN_IN_INIT(void) {
    burn();
    sink++;
}

__attribute__((used)) static void BURN_IN_FINI(void) {
    burn();
    sink += 2;
}

__asm__(".section .init\n " CALL TEXT(BURN_IN_INIT) "\n .previous\n"
                                                    ".section .fini\n " CALL TEXT(
                                                        BURN_IN_FINI) "\n .previous");

#ifndef INIT_SHARED
int main(int argc, char **argv) {
    void *shared = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (shared == NULL) {
        fprintf(stderr, "usage: init SHARED-OBJECT\n");
        return 2;
    }
    return dlclose(shared);
}
#endif
