/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * step_test.c - the walk at every instruction of a program, from its first to its last: against
 * libunwind, and against the calls and returns that were seen to happen.
 *
 * The target runs step by step under ptrace, all of its threads. Before each instruction there are
 * three opinions about its stack (verdict.h). Arguments: another program to walk, and what it
 * takes. With none it is target.cc.
 */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/step/registers.h"
#include "tests/step/tracee.h"
#include "tests/step/verdict.h"

#define THREADS_MAX   64
#define HANDLER_FRAME 256 /* a signal handler's frame is never smaller */
#define SKIPPED       77
/* One step of so many has libunwind's agreement. Where a register has return addresses it knows
 * neither signed ones nor what was pushed on the way to the dynamic linker. */
#define AGREED_PART (ARCH_HAS_LINK ? 4 : 2)

struct thread {
    pid_t id;
    bool started;
    bool lost;             /* the oracle does not know its stack any more */
    int delivered;         /* signal that was handed over with the last step */
    enum shadow_kind kind; /* of the instruction at hand */
    struct user_regs_struct regs;
    struct shadow_thread stack;
};

static struct run {
    pid_t pid;
    struct maps maps;
    struct memory memory;
    struct images images;
    struct remote remote;
    struct shadow shadow;
    struct judge judge;
    struct thread thread[THREADS_MAX];
    uint32_t n_threads;
    uint64_t steps, signals;
    int status; /* the target's, when it has ended */
} run;

static struct thread *thread_of(pid_t id) {
    for (uint32_t i = 0; i < run.n_threads; i++)
        if (run.thread[i].id == id)
            return &run.thread[i];
    if (run.n_threads == THREADS_MAX)
        return NULL;
    run.thread[run.n_threads] = (struct thread){.id = id};
    return &run.thread[run.n_threads++];
}

static void mappings_changed(void) {
    maps_read(&run.maps, run.pid);
    memory_forget_pages(&run.memory);
    images_refresh(&run.images, &run.maps, &run.memory);
    remote_forget(&run.remote);
    judge_images(&run.judge);
}

static bool changes_mappings(uint64_t call) {
    return call == SYS_mmap || call == SYS_munmap || call == SYS_mprotect || call == SYS_mremap;
}

/* Whether a handler was entered with the signal that was delivered. */
static bool is_in_handler(const struct thread *thread, const struct user_regs_struct *now) {
    return thread->delivered != 0 &&
           registers_sp(now) + HANDLER_FRAME - registers_sp(&thread->regs) > 2 * HANDLER_FRAME;
}

/* One instruction was executed: the oracle follows it. */
static void follow(struct thread *thread, const struct user_regs_struct *now) {
    bool known;
    run.steps++;
    if ((thread->kind == SHADOW_SYSCALL && changes_mappings(registers_call(&thread->regs))) ||
        maps_find(&run.maps, registers_sp(now)) == NULL)
        mappings_changed();
    if (is_in_handler(thread, now)) {
        run.signals++;
        known = shadow_signal(&run.shadow, &thread->stack, now);
    } else {
        known = shadow_step(&run.shadow, &thread->stack, thread->kind, &thread->regs, now);
    }
    thread->delivered = 0;
    thread->lost |= !known;
}

/* Returns the signal to hand over with the next step. */
static int stopped(struct thread *thread, int status) {
    struct user_regs_struct now;
    int number = WSTOPSIG(status);
    if (status >> 16 != 0 || !registers_read(thread->id, &now))
        return 0; /* in the middle of a system call that makes a thread, or ends one */
    memory_next_step(&run.memory);
    if (!thread->started) {
        mappings_changed();
        thread->started = true;
        thread->lost = !shadow_start(&run.shadow, &thread->stack, registers_sp(&now));
    } else if (number == SIGTRAP) {
        follow(thread, &now);
    } else {
        thread->delivered = number;
        return number;
    }
    thread->regs = now;
    thread->kind = shadow_kind_at(&run.memory, registers_pc(&now));
    if (!thread->lost)
        judge_stack(&run.judge, &thread->stack, &now);
    return 0;
}

static void ended(struct thread *thread, int status) {
    if (thread->id == run.pid)
        run.status = status;
    thread->id = -1;
}

/* What has become of a thread, up to where waitpid() has to tell what becomes of it next. */
static void follow_on(struct thread *thread, int status) {
    while (status != -1 && WIFSTOPPED(status)) {
        int deliver = stopped(thread, status);
        status = registers_step(thread->id, &run.memory, registers_pc(&thread->regs), deliver);
    }
    if (status != -1)
        ended(thread, status);
}

static void step_through(void) {
    int status;
    pid_t id;
    follow_on(thread_of(run.pid), SIGTRAP << 8 | 0x7f);
    while ((id = waitpid(-1, &status, __WALL)) > 0) {
        struct thread *thread = thread_of(id);
        if (thread != NULL)
            follow_on(thread, status);
        else if (WIFSTOPPED(status))
            ptrace(PTRACE_SINGLESTEP, id, 0, 0);
    }
}

/* A switch between processors with each step would take most of the time. */
static void stay_on_one_processor(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((unsigned)sched_getcpu(), &set);
    sched_setaffinity(0, sizeof set, &set);
}

static uint32_t lost_threads(void) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < run.n_threads; i++)
        n += run.thread[i].lost;
    return n;
}

/* _init and _fini of the target's two files, and what they call, were passed to the root; libunwind
 * can't, without an unwind entry. */
static void check_init(void) {
    static const char *const files[] = {"target", "plugin"};
    for (size_t i = 0; i < HCCT_ARRAY_LEN(files); i++) {
        CHECK_UINT(judge_count_in(&run.judge, VERDICT_NO_ENTRY, files[i]), 0);
        CHECK_UINT(judge_count_in(&run.judge, VERDICT_GUESS, files[i]), 0);
        CHECK(judge_count_in(&run.judge, VERDICT_REMOTE_NO_ENTRY, files[i]) > 0);
    }
}

static void check_all(bool ours) {
    const uint64_t *count = run.judge.count;
    CHECK(WIFEXITED(run.status) && WEXITSTATUS(run.status) == 0);
    CHECK_UINT(lost_threads(), 0);
    CHECK_UINT(count[VERDICT_WRONG], 0);
    CHECK_UINT(count[VERDICT_INCOMPLETE], 0);
    CHECK_UINT(count[VERDICT_FAST], 0);
    CHECK_UINT(count[VERDICT_ROUTINE], 0);
    CHECK(count[VERDICT_AGREED] > run.steps / AGREED_PART);
    CHECK(count[VERDICT_UNKNOWN] + count[VERDICT_NO_ENTRY] + count[VERDICT_RICH] +
              count[VERDICT_TARGET] + count[VERDICT_GUESS] <
          run.steps / 100);
    if (ours) { /* what the target is known to do did happen before our eyes */
        check_init();
        CHECK(run.steps > 100000);
        CHECK(run.signals >= 9);
        CHECK(run.n_threads == 3);
        CHECK_UINT(count[VERDICT_RICH], 0);
        CHECK(count[VERDICT_UNKNOWN] > 0 && count[VERDICT_OVERWRITTEN] > 0);
    }
}

int main(int argc, char **argv) {
    char target[4096], plugin[4096];
    const char *built = getenv("HCCT_BUILDDIR");
    snprintf(target, sizeof target, "%s/tests/step/target", built != NULL ? built : ".");
    snprintf(plugin, sizeof plugin, "%s/tests/step/plugin", built != NULL ? built : ".");
    char *own[] = {target, plugin, NULL};
    stay_on_one_processor();
    run.pid = tracee_start(argc > 1 ? argv + 1 : own);
    if (run.pid < 0) {
        fprintf(stderr, "skipped: the target can't be traced: %s\n", strerror(errno));
        return errno == EPERM || errno == ENOSYS || errno == EACCES ? SKIPPED : 1;
    }
    if (!memory_init(&run.memory, run.pid, &run.maps) ||
        !remote_init(&run.remote, &run.images, &run.memory) ||
        !shadow_init(&run.shadow, &run.memory, &run.maps) ||
        !judge_init(&run.judge, &run.images, &run.memory, &run.remote))
        return 1;
    step_through();
    printf("%9" PRIu64 "  instructions of %" PRIu32 " threads, %" PRIu64 " signals handled\n",
           run.steps, run.n_threads, run.signals);
    judge_print(&run.judge);
    check_all(argc <= 1);
    judge_clear(&run.judge);
    shadow_clear(&run.shadow);
    remote_clear(&run.remote);
    images_clear(&run.images);
    memory_clear(&run.memory);
    maps_clear(&run.maps);
    return check_report();
}
