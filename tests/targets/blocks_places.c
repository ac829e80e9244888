/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * blocks_places.c - allocates wherever a program may, in blocks so large that most are sampled, and
 * prints a line for each place: whether all was as it is without a profiler.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fenv.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define LARGE       (3u << 20)
#define SMALL_STACK (32u << 10)

static void say(const char *where, int good) {
    printf("%s: %s\n", where, good ? "as it should be" : "NOT");
    fflush(stdout);
}

static int fill(char *block, size_t size, char with) {
    memset(block, with, size);
    return block[0] == with && block[size - 1] == with;
}

/* ---- before main ---- */

static char *early;

__attribute__((constructor)) static void before_main(void) {
    early = malloc(LARGE);
}

/* ---- the functions themselves ---- */

static void functions(void) {
    void *block = NULL;
    char *zeros = calloc(3, LARGE), *grown;
    int good = zeros != NULL && zeros[0] == 0 && zeros[3 * LARGE - 1] == 0;
    grown = realloc(zeros, 4 * LARGE);
    good &= grown != NULL && fill(grown, 4 * LARGE, 7);
    grown = realloc(grown, 100);
    good &= grown != NULL && grown[99] == 7;
    grown = reallocarray(grown, 5, LARGE);
    good &= grown != NULL && grown[99] == 7;
    free(grown);
    say("realloc", good);

    good = posix_memalign(&block, 4096, LARGE) == 0 && (uintptr_t)block % 4096 == 0;
    free(block);
    good &= posix_memalign(&block, 3, LARGE) == EINVAL;
    block = memalign(1u << 16, LARGE);
    good &= (uintptr_t)block % (1u << 16) == 0 && malloc_usable_size(block) >= LARGE;
    free(block);
    block = aligned_alloc(256, LARGE);
    good &= (uintptr_t)block % 256 == 0;
    free(block);
    block = valloc(LARGE);
    good &= (uintptr_t)block % 4096 == 0;
    free(block);
    block = pvalloc(LARGE);
    good &= (uintptr_t)block % 4096 == 0;
    free(block);
    say("alignment", good);
}

static void errors(void) {
    volatile size_t much = PTRDIFF_MAX;
    errno = 77;
    void *block = malloc(LARGE);
    int good = errno == 77;
    free(block);
    free(NULL);
    good &= errno == 77;
    good &= malloc(much) == NULL && errno == ENOMEM;
    errno = 77;
    good &= calloc(much, 16) == NULL && errno == ENOMEM;
    char *volatile kept = malloc(LARGE), *volatile none; /* the compiler takes it for freed */
    good &= fill(kept, LARGE, 3);
    errno = 77;
    none = realloc(kept, much);
    good &= none == NULL && errno == ENOMEM && kept[LARGE - 1] == 3;
    none = reallocarray(kept, much, 16);
    good &= none == NULL && kept[0] == 3;
    free(kept);
    say("errors", good);

    void *first = malloc(0), *second = malloc(0);
    say("nothing", first != NULL && second != NULL && first != second);
    free(first);
    free(second);
}

static void floating(void) {
    feclearexcept(FE_ALL_EXCEPT);
    for (int i = 0; i < 100; i++)
        free(malloc(LARGE));
    say("floating point", fetestexcept(FE_ALL_EXCEPT) == 0);
}

/* ---- where it may be called ---- */

static volatile sig_atomic_t handled;

static void on_alarm(int signal) {
    (void)signal;
    int saved = errno;
    char *block = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(block, 4096);
    handled++;
    errno = saved;
}

/* Where malloc was interrupted itself a handler must not call it; what is sampled is past it. */
static void on_usr(int signal) {
    (void)signal;
    char *block = malloc(LARGE);
    block[0] = 1;
    free(block);
    handled++;
}

static void signals(void) {
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    signal(SIGALRM, on_alarm);
    signal(SIGUSR1, on_usr);
    setitimer(ITIMER_REAL, &often, NULL);
    int good = 1;
    for (int i = 0; i < 3000; i++) {
        char *block = malloc(LARGE / 2);
        block[0] = (char)i;
        if (i % 100 == 0)
            raise(SIGUSR1);
        good &= block[0] == (char)i;
        free(block);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    say("signal handlers", good && handled >= 30);
}

static pthread_key_t key;

static void at_end(void *block) {
    free(block);
    free(malloc(LARGE));
    free(strdup("freed in a destructor"));
}

static void *lives(void *arg) {
    (void)arg;
    pthread_setspecific(key, malloc(LARGE));
    char *block = malloc(LARGE);
    block[0] = 1;
    return block; /* another thread frees it */
}

static void threads(void) {
    int good = pthread_key_create(&key, at_end) == 0;
    for (int i = 0; i < 100; i++) {
        pthread_t id[4];
        void *block;
        for (int k = 0; k < 4; k++)
            good &= pthread_create(&id[k], NULL, lives, NULL) == 0;
        for (int k = 0; k < 4; k++) {
            good &= pthread_join(id[k], &block) == 0 && *(char *)block == 1;
            free(block);
        }
    }
    say("threads", good);
}

static ucontext_t outside, inside;

static void coroutine(void) {
    for (int i = 0; i < 10; i++) {
        free(malloc(LARGE));
        swapcontext(&inside, &outside);
    }
}

static void small_stacks(void) {
    char *stack = malloc(SMALL_STACK);
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = SMALL_STACK;
    inside.uc_link = &outside;
    makecontext(&inside, coroutine, 0);
    for (int i = 0; i < 10; i++)
        swapcontext(&outside, &inside);
    free(stack);
    say("small stacks", 1);
}

static void loader(void) {
    int good = 1;
    for (int i = 0; i < 20; i++) {
        void *library = dlopen("libm.so.6", RTLD_NOW), *found;
        good &= library != NULL;
        found = dlsym(library, "no_such_symbol");
        good &= found == NULL && dlerror() != NULL;
        free(malloc(LARGE));
        dlclose(library);
    }
    say("dlopen", good);
}

/* ---- other processes ---- */

static int child(char *block) {
    int good = fill(block, LARGE, 9);
    free(block); /* the parent's, too */
    for (int i = 0; i < 50; i++)
        free(malloc(LARGE));
    return good ? 0 : 1;
}

static pid_t by_libc(void) {
    return fork();
}

/* Past libc, so that nobody hears of it. */
static pid_t by_kernel(void) {
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static void forks(const char *name, pid_t (*make)(void)) {
    int good = 1, status;
    for (int i = 0; i < 30; i++) {
        char *block = malloc(LARGE);
        pid_t pid = make();
        if (pid == 0)
            _exit(child(block));
        good &= waitpid(pid, &status, 0) == pid && status == 0;
        good &= fill(block, LARGE, 5);
        free(block);
    }
    say(name, good);
}

static void vforks(void) {
    volatile int good = 1, i;
    int status;
    for (i = 0; i < 10; i++) {
        void *volatile block = malloc(LARGE);
        pid_t pid = vfork();
        if (pid == 0) {
            free(block); /* which is its parent's memory, too */
            _exit(3);
        }
        good &= waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 3;
    }
    say("vfork", good);
}

/* ---- after main ---- */

static void last(void) {
    free(malloc(LARGE));
    say("atexit", fill(early, LARGE, 1));
}

int main(void) {
    atexit(last);
    say("constructor", early != NULL && fill(early, LARGE, 2));
    functions();
    errors();
    floating();
    signals();
    threads();
    small_stacks();
    loader();
    forks("fork", by_libc);
    forks("clone", by_kernel);
    vforks();
    return 0;
}
