/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * jit.c - generated code with frame pointers, listed in /tmp/perf-PID.map: a function that loops,
 * and one that calls back into C. The program prints the CPU time that it has spent in each, as
 * "NANOSECONDS NAME". Status 77: code can't be generated here.
 *
 *   usage: jit SECONDS_OF_CPU [registered] [mangled]
 *
 * registered: it is registered for debuggers instead. mangled: by names of a linker's.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tests/targets/made_object.h"

#define PAGE 4096

#define LOOP_NAME   "JS:*loop /srv/a b/app.js:3:7; twice"
#define CALLER_NAME "LazyCompile:~call /srv/a b/app.js:9:1"

static const char *loop_name = LOOP_NAME, *caller_name = CALLER_NAME;

#ifdef __x86_64__
/* void loop(uint64_t rounds) */
static const uint8_t loop_code[] = {
    0x55,             /* push %rbp */
    0x48, 0x89, 0xe5, /* mov %rsp, %rbp */
    0x48, 0xff, 0xcf, /* dec %rdi */
    0x75, 0xfb,       /* jnz to the dec */
    0x5d,             /* pop %rbp */
    0xc3,             /* ret */
};

/* void call(void (*function)(void)) */
static const uint8_t caller_code[] = {
    0x55,             /* push %rbp */
    0x48, 0x89, 0xe5, /* mov %rsp, %rbp */
    0xff, 0xd7,       /* call *%rdi */
    0x90,             /* nop */
    0x5d,             /* pop %rbp */
    0xc3,             /* ret */
};
#else
static const uint8_t loop_code[] = {0}, caller_code[] = {0};
#endif

typedef void loop_function(uint64_t rounds);
typedef void caller_function(void (*function)(void));

static volatile uint64_t sink;

static uint64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static char *generate(void) {
    char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        exit(77);
    memcpy(page, loop_code, sizeof loop_code);
    memcpy(page + PAGE / 2, caller_code, sizeof caller_code);
    if (mprotect(page, PAGE, PROT_READ | PROT_EXEC) != 0)
        exit(77);
    return page;
}

static void list(const char *path, const char *page) {
    FILE *map = fopen(path, "w");
    if (map == NULL)
        exit(77);
    fprintf(map, "%lx %zx %s\n", (unsigned long)page, sizeof loop_code, loop_name);
    fprintf(map, "%lx %zx %s\n", (unsigned long)page + PAGE / 2, sizeof caller_code, caller_name);
    fclose(map);
}

/* As gdb's manual has it; in a program of C, where nothing is exported. */
struct jit_descriptor __jit_debug_descriptor = {.version = 1};

/* Each function is an object of its own, newest first. */
static void add_object(const void *code, size_t bytes, const char *name) {
    struct made_object *object = malloc(sizeof *object);
    struct jit_code_entry *entry = calloc(1, sizeof *entry);
    if (object == NULL || entry == NULL)
        exit(77);
    make_object(object, (uintptr_t)code, bytes, &(struct made_function){name, 0, bytes}, 1);
    *entry = (struct jit_code_entry){.next_entry = __jit_debug_descriptor.first_entry,
                                     .symfile_addr = object,
                                     .symfile_size = sizeof *object};
    __jit_debug_descriptor.first_entry = entry;
}

__attribute__((noinline)) static void burn(void) {
    for (unsigned i = 0; i < 3000000; i++)
        sink += i;
}

int main(int argc, char **argv) {
    uint64_t wanted = (uint64_t)((argc > 1 ? atof(argv[1]) : 1) * 1e9), in_loop = 0, in_call = 0;
    loop_function *loop;
    caller_function *call;
    char path[64];
#ifndef __x86_64__
    return 77;
#endif
    char *page = generate(), *second = page + PAGE / 2;
    memcpy(&loop, &page, sizeof loop);
    memcpy(&call, &second, sizeof call);
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    if (strcmp(argv[argc - 1], "mangled") == 0) {
        loop_name = "_ZN3app4loopEm";
        caller_name = "_RNvNtCs1234_7mycrate3foo3bar";
    }
    if (argc > 2 && strcmp(argv[2], "registered") == 0) {
        add_object(page, sizeof loop_code, loop_name);
        add_object(page + PAGE / 2, sizeof caller_code, caller_name);
    } else {
        list(path, page);
    }
    while (in_loop + in_call < wanted) {
        uint64_t start = cpu_ns();
        loop(20000000);
        uint64_t middle = cpu_ns();
        call(burn);
        in_loop += middle - start;
        in_call += cpu_ns() - middle;
    }
    unlink(path);
    printf("%llu %s\n%llu %s\n", (unsigned long long)in_loop, loop_name,
           (unsigned long long)in_call, caller_name);
    return 0;
}
