/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * small_threads.c - threads on small stacks, one after another, that compute where most of the
 * stack is used.
 *
 *   usage: small_threads MEMORY KILOBYTES MILLISECONDS COUNT [ALTERNATE [BYTES]]
 *
 * MEMORY: size    a stack of that size, of libc's making
 *         bare    the same without a guard page
 *         malloc  one in the program's memory
 *         mmap    one in pages of its own
 * ALTERNATE: who has an alternate signal stack (of 64 KB, or of so many BYTES)
 *         main    the main thread, from the beginning
 *         later   the main thread, set up while a thread computes
 *         own     each thread, while it computes for the second third of its time
 * Less than 1 KB of a stack is left unused; where it is one of 32 KB or more and there are
 * alternate ones, 20 KB. MILLISECONDS are of all threads together.
 *
 * Prints the CPU time of the threads in ns, by their own clocks, and how many bytes were changed
 * that lie below what they use.
 */
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define LITTLE 768 /* bytes of the stack that are left */
#define MUCH   20480
#define MARKS  128 /* of these, the last ones */
#define MARK   0x5a

static volatile uint64_t sink;
static uint64_t each_ns, used_ns;
static size_t bytes, alternate_bytes = 65536;
static const char *alternate = "";
static char *own_memory; /* NULL: libc's */
static char signal_stack[65536];

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) static uint64_t small(uint64_t until) {
    uint64_t now;
    do {
        for (unsigned i = 0; i < 2000; i++)
            sink += i;
        now = now_ns();
    } while (now < until);
    return now;
}

static void set_alternate(int flags) {
    const stack_t stack = {.ss_sp = signal_stack, .ss_size = alternate_bytes, .ss_flags = flags};
    if (sigaltstack(&stack, NULL) != 0)
        abort();
}

static uint64_t compute(void) {
    if (strcmp(alternate, "own") != 0)
        return small(each_ns);
    small(each_ns / 3);
    set_alternate(0);
    small(each_ns * 2 / 3);
    set_alternate(SS_DISABLE);
    return small(each_ns);
}

/* What is above the unused bytes is this function's. */
__attribute__((noinline)) static uint64_t compute_deep(const char *end) {
    const char *here = __builtin_frame_address(0);
    size_t unused = alternate[0] != '\0' && bytes >= 32768 ? MUCH : LITTLE;
    volatile char *used = alloca((size_t)(here - end) - unused - 256);
    used[0] = 1;
    return compute();
}

static void *live(void *arg) {
    used_ns += own_memory != NULL ? compute_deep(own_memory) : compute();
    return arg;
}

static void choose_stack(pthread_attr_t *attr, const char *memory) {
    int error = own_memory != NULL ? pthread_attr_setstack(attr, own_memory, bytes)
                                   : pthread_attr_setstacksize(attr, bytes);
    if (error != 0 || (strcmp(memory, "bare") == 0 && pthread_attr_setguardsize(attr, 0) != 0))
        abort();
}

static void run_thread(const char *memory) {
    pthread_attr_t attr;
    pthread_t id;
    pthread_attr_init(&attr);
    choose_stack(&attr, memory);
    if (pthread_create(&id, &attr, live, NULL) != 0)
        abort();
    pthread_attr_destroy(&attr);
    if (strcmp(alternate, "later") == 0) {
        usleep((useconds_t)(each_ns / 2000));
        set_alternate(0);
    }
    pthread_join(id, NULL);
}

static int changed(void) {
    int sum = 0;
    for (int i = 0; i < MARKS && own_memory != NULL; i++)
        sum += own_memory[i] != MARK;
    return sum;
}

int main(int argc, char **argv) {
    if (argc < 5)
        return 2;
    unsigned count = (unsigned)atoi(argv[4]);
    bytes = (size_t)atoi(argv[2]) << 10;
    each_ns = (uint64_t)atoi(argv[3]) * 1000000u / count;
    if (argc > 5)
        alternate = argv[5];
    if (argc > 6)
        alternate_bytes = (size_t)atoi(argv[6]);
    if (strcmp(argv[1], "malloc") == 0)
        own_memory = malloc(bytes);
    else if (strcmp(argv[1], "mmap") == 0)
        own_memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (own_memory != NULL)
        memset(own_memory, MARK, MARKS);
    if (strcmp(alternate, "main") == 0)
        set_alternate(0);
    for (unsigned i = 0; i < count; i++)
        run_thread(argv[1]);
    printf("%llu %d\n", (unsigned long long)used_ns, changed());
    return 0;
}
