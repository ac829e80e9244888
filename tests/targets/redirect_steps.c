/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * redirect_steps.c - steps through its own calls, instruction by instruction: wherever it is
 * interrupted, backtrace() shows the functions that are executing, and what a function is given in
 * registers arrives.
 *
 *   usage: redirect_steps ROUNDS     prints "N steps, all right", and N differs from run to run
 */
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define FRAMES    64
#define IN_CALLER 256      /* bytes of it, at most */
#define TRAP      0x100ull /* in the flags: a signal after each instruction */

#if defined(__x86_64__)
static unsigned long long pc_of(const ucontext_t *uc) {
    return (unsigned long long)uc->uc_mcontext.gregs[REG_RIP];
}

static void toggle_steps(ucontext_t *uc) {
    uc->uc_mcontext.gregs[REG_EFL] ^= TRAP;
}
#else /* no process can step itself */
static unsigned long long pc_of(const ucontext_t *uc) {
    return uc->uc_mcontext.pc;
}

static void toggle_steps(ucontext_t *uc) {
    (void)uc;
}
#endif

static void *usual[FRAMES]; /* what backtrace() shows in caller(): its own frame and further out */
static int usual_depth;
static volatile unsigned steps, wrong;

/* The frames from caller() on are the usual ones; the place in caller() is another. */
static int is_right(void *const *frame, int n) {
    void *const *own = frame + n - usual_depth;
    if (n <= usual_depth || labs((char *)own[0] - (char *)usual[0]) > IN_CALLER)
        return 0;
    for (int k = 1; k < usual_depth; k++)
        if (own[k] != usual[k])
            return 0;
    return 1;
}

static void on_step(int number, siginfo_t *info, void *context) {
    void *frame[FRAMES];
    ucontext_t *uc = context;
    (void)number, (void)info;
    steps++;
    int n = backtrace(frame, FRAMES);
    if (!is_right(frame, n)) {
        if (wrong++ < 3)
            fprintf(stderr, "at %#llx: %d frames, %d in caller\n", pc_of(uc), n, usual_depth);
    }
}

static void on_toggle(int number, siginfo_t *info, void *context) {
    (void)number, (void)info;
    toggle_steps(context);
}

/* Arguments in all kinds of registers. */
__attribute__((noinline)) static double many(long a, long b, long c, long d, long e, long f,
                                             double x, double y, float z) {
    __asm__ volatile("");
    return (double)(a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f) + x * y + (double)z;
}

__attribute__((noinline)) static double caller(void) {
    usual_depth = backtrace(usual, FRAMES);
    double sum = 0;
    for (int i = 0; i < 2; i++) { /* the second time it is a call that was made before */
        raise(SIGUSR1);
        sum += many(1, 2, 3, 4, 5, 6, 1.5, 2.5, 3.5f);
        raise(SIGUSR1);
    }
    return sum;
}
int main(int argc, char **argv) {
    struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
    int rounds = argc == 2 ? atoi(argv[1]) : 1;
    void *first[FRAMES];
    backtrace(first, FRAMES); /* loads what it needs */
    sigaction(SIGTRAP, &action, NULL);
    action.sa_sigaction = on_toggle;
    sigaction(SIGUSR1, &action, NULL);
    double sum = 0;
    for (int i = 0; i < rounds; i++)
        sum += caller();
    if (sum != rounds * 2 * (91 + 3.75 + 3.5))
        wrong++;
    printf("%s\n", wrong == 0 ? "all right" : "wrong");
    fprintf(stderr, "%u steps\n", steps);
    return wrong != 0;
}
