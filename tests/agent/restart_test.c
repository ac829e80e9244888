/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * restart_test.c - interrupted system calls: the repair as a pure function, and on real signals
 * that come a thousand times a second while the thread sleeps.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <termios.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "preload/wrap/restart.h"
#include "tests/check.h"

#if defined(__x86_64__)

#include "preload/wrap/syscall_code.h"

#ifdef __SANITIZE_THREAD__
#define HANDLERS_INTERRUPT false /* they are called later, with a context of their own */
#else
#define HANDLERS_INTERRUPT true
#endif

#define MS 1000000ull
#define PC 0x7f0000001000ull
#define SP 0x7ffc00000000ull

/* ---- numbers from code ---- */

static uint8_t code[10];

#define NUMBER(...)                                                                                \
    syscall_code_number((const uint8_t[]){0x90, 0x90, 0x90, __VA_ARGS__, 0x0f, 0x05} +             \
                            sizeof(const uint8_t[]){0x90, 0x90, 0x90, __VA_ARGS__},                \
                        sizeof(const uint8_t[]){0x90, 0x90, 0x90, __VA_ARGS__})

static void test_code(void) {
    CHECK(NUMBER(0xb8, 0x07, 0, 0, 0) == SYS_poll);
    CHECK(NUMBER(0xb8, 0xb9, 0x01, 0, 0) == SYS_epoll_pwait2);
    CHECK(NUMBER(0x31, 0xc0) == SYS_read);
    CHECK(NUMBER(0xb8, 0x46, 0, 0, 0, 0x8b, 0x7c, 0x24, 0x08) == SYS_msgrcv);
    CHECK(NUMBER(0xb8, 0x07, 0, 0, 0, 0x48, 0x8b, 0x7c, 0x24, 0x08) == SYS_poll);
    CHECK(NUMBER(0xb8, 0x07, 0, 0, 0, 0x4c, 0x8b, 0x54, 0x24, 0x08) == SYS_poll);
    CHECK(NUMBER(0xb8, 0x07, 0, 0, 0, 0x8b, 0x3c, 0x24) == SYS_poll);
    CHECK(NUMBER(0xb8, 0x2d, 0, 0, 0, 0x48, 0x8b, 0x54, 0x24, 0x10, 0x48, 0x8b, 0x74, 0x24, 0x08) ==
          SYS_recvfrom);
    CHECK(NUMBER(0xb8, 0x07, 0, 0, 0, 0x89, 0xdf) == SYS_poll);
    CHECK(NUMBER(0xb8, 0x07, 0, 0, 0, 0x31, 0xff) == SYS_poll);
    CHECK(NUMBER(0xb8, 0x07, 0, 0, 0, 0x45, 0x31, 0xc9) == SYS_poll);
    CHECK(NUMBER(0xb8, 0x82, 0, 0, 0, 0xbe, 0x08, 0, 0, 0) == SYS_rt_sigsuspend);
    CHECK(NUMBER(0xb8, 0x80, 0, 0, 0, 0x41, 0xba, 0x08, 0, 0, 0) == SYS_rt_sigtimedwait);
    CHECK(NUMBER(0xb8, 0x07, 0, 0, 0, 0x48, 0x8d, 0xb3, 0xf0, 0x08, 0, 0) == SYS_poll);
    CHECK(NUMBER(0xb8, 0xca, 0, 0, 0, 0x40, 0x80, 0xf6, 0x80) == SYS_futex); /* xor $128,%sil */
    CHECK(NUMBER(0xb8, 0xca, 0, 0, 0, 0x83, 0xf6, 0x01) == SYS_futex);
    CHECK(NUMBER(0xb8, 0xca, 0, 0, 0, 0x81, 0xe6, 0x80, 0, 0, 0, 0x40, 0x80, 0xf6, 0x81) ==
          SYS_futex);
    CHECK(NUMBER(0xb8, 0xca, 0, 0, 0, 0xc1, 0xe6, 0x07) == SYS_futex); /* shl $7,%esi */
    CHECK(NUMBER(0xb8, 0xca, 0, 0, 0, 0xf7, 0xd6) == SYS_futex);       /* not %esi */
    CHECK(NUMBER(0xb8, 0xca, 0, 0, 0, 0xf7, 0xe6) < 0);                /* mul %esi */
    CHECK(NUMBER(0xb8, 0xca, 0, 0, 0, 0x80, 0xf4, 0x80) < 0);          /* %ah */
    CHECK(NUMBER(0xb8, 0xca, 0, 0, 0, 0x83, 0xc0, 0x01) < 0);
}

#define REGISTER(...)                                                                              \
    syscall_code_register((const uint8_t[]){0x90, 0x90, 0x90, __VA_ARGS__, 0x0f, 0x05} +           \
                              sizeof(const uint8_t[]){0x90, 0x90, 0x90, __VA_ARGS__},              \
                          sizeof(const uint8_t[]){0x90, 0x90, 0x90, __VA_ARGS__})

static void test_code_of_registers(void) {
    CHECK(REGISTER(0x44, 0x89, 0xf8) == 15);    /* mov %r15d,%eax */
    CHECK(REGISTER(0x4c, 0x89, 0xe0) == 12);    /* mov %r12,%rax */
    CHECK(REGISTER(0x41, 0x8b, 0xc5) == 13);    /* mov %r13d,%eax, the other way */
    CHECK(REGISTER(0x89, 0xd8) == 3);           /* mov %ebx,%eax */
    CHECK(REGISTER(0x48, 0x89, 0xe8) == 5);     /* mov %rbp,%rax */
    CHECK(REGISTER(0x89, 0xf8) == -1);          /* mov %edi,%eax: an argument */
    CHECK(REGISTER(0x41, 0x89, 0xd8) == -1);    /* mov %ebx,%r8d */
    CHECK(REGISTER(0x44, 0x8b, 0xfb) == -1);    /* mov %ebx,%r15d */
    CHECK(REGISTER(0x8b, 0x03) == -1);          /* mov (%rbx),%eax */
    CHECK(REGISTER(0xb8, 0x07, 0, 0, 0) == -1); /* mov $7,%eax */
    CHECK(REGISTER(0x44, 0x01, 0xf8) == -1);    /* add %r15d,%eax */
    CHECK(syscall_code_register(code, 0) == -1);
    /* mov %r9d,%eax; xor $128,%sil */
    CHECK(REGISTER(0x44, 0x89, 0xc8, 0x40, 0x80, 0xf6, 0x80) == 9);
}

static void test_code_that_tells_nothing(void) {
    CHECK(NUMBER(0x90) == -1);
    CHECK(NUMBER(0x41, 0xb8, 0x07, 0, 0, 0) == -1);                   /* mov $7,%r8d */
    CHECK(NUMBER(0x44, 0x31, 0xc0) == -1);                            /* xor %r8d,%eax */
    CHECK(NUMBER(0xc7, 0x44, 0x24, 0xb8, 0x07, 0, 0, 0) == -1);       /* movl $7,-0x48(%rsp) */
    CHECK(NUMBER(0xc7, 0x45, 0xb8, 0x07, 0, 0, 0) == -1);             /* movl $7,-0x48(%rbp) */
    CHECK(NUMBER(0xb8, 0x07, 0, 0, 0, 0x89, 0xf8) == -1);             /* then mov %edi,%eax */
    CHECK(NUMBER(0xb8, 0x07, 0, 0, 0, 0x8b, 0x44, 0x24, 0x08) == -1); /* then a load of it */
    CHECK(NUMBER(0xb8, 0x07, 0, 0, 0, 0x31, 0xf8) == -1);             /* then xor %edi,%eax */
    CHECK(NUMBER(0xb8, 0x07, 0, 0, 0, 0xe8, 0, 0, 0, 0) == -1);       /* then a call */
    const uint8_t alone[] = {0xb8, 0x07, 0, 0, 0, 0x0f, 0x05};
    CHECK(syscall_code_number(alone + 5, 5) == -1); /* what is before it can't be seen */
    CHECK(syscall_code_number(alone + 5, 0) == -1);
}

/* As libc's. */
static void test_telling(void) {
    int fds[2];
    char text[2] = "";
    CHECK(syscall_telling(SYS_getpid) == getpid());
    errno = 0;
    CHECK(syscall_telling(SYS_close, -1) == -1);
    CHECK(errno == EBADF);
    CHECK(pipe(fds) == 0 && write(fds[1], "ab", 2) == 2);
    CHECK(syscall_telling(SYS_read, fds[0], text, 2) == 2 && text[1] == 'b');
    long at = syscall_telling(SYS_mmap, 0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(at > 0);
    CHECK(syscall_telling(SYS_munmap, at, 4096) == 0);
    close(fds[0]);
    close(fds[1]);
}

/* ---- the repair ---- */

static uint64_t memory[8]; /* the application's: at address 0x1000 */
static uint64_t timeout_of_socket;

static bool read_memory(void *arg, uint64_t address, uint64_t *word) {
    (void)arg;
    if (address < 0x1000 || address >= 0x1000 + sizeof memory || (address & 7) != 0)
        return false;
    *word = memory[(address - 0x1000) / 8];
    return true;
}

static uint64_t socket_option(void *arg, int fd, int option) {
    (void)arg, (void)fd;
    CHECK_UINT(option, SO_RCVTIMEO);
    return timeout_of_socket;
}

static long register_15;

static long held(void *arg, unsigned reg) {
    (void)arg;
    CHECK_UINT(reg, 15);
    return register_15;
}

static long number_passed = -1;

static long passed(void *arg) {
    (void)arg;
    return number_passed;
}

static bool handler_is_due;

static bool handler_due(void *arg) {
    (void)arg;
    return handler_is_due;
}

static struct restart_call interrupted(long number, uint64_t now_ns, bool libc, bool wall) {
    const uint8_t bytes[] = {0x90, 0x90, 0x90, 0xb8, (uint8_t)number, (uint8_t)(number >> 8),
                             0,    0,    0x0f, 0x05};
    memcpy(code, bytes, sizeof code);
    return (struct restart_call){.result = -EINTR,
                                 .pc = PC,
                                 .sp = SP,
                                 .number = -1,
                                 .code = code,
                                 .code_bytes = sizeof code,
                                 .libc = libc,
                                 .wall = wall,
                                 .now_ns = now_ns,
                                 .read = read_memory,
                                 .socket_timeout = socket_option,
                                 .held = held,
                                 .passed = passed,
                                 .handler_due = handler_due};
}

static void test_plain(void) {
    static const int numbers[] = {SYS_select, SYS_pselect6, SYS_pause, SYS_rt_sigsuspend,
                                  SYS_semop,  SYS_msgrcv,   SYS_msgsnd};
    struct restart_state state = {0};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct restart_call call = interrupted(numbers[i], 5 * MS, true, true);
        for (unsigned r = 0; r < RESTART_ARGUMENTS; r++)
            call.argument[r] = 100 + r;
        CHECK_UINT(restart_repair(&state, &call), RESTART_AGAIN);
        CHECK_UINT(call.result, numbers[i]);
        CHECK_UINT(call.pc, PC - 2);
        CHECK_UINT(call.sp, SP);
        for (unsigned r = 0; r < RESTART_ARGUMENTS; r++)
            CHECK_UINT(call.argument[r], 100 + r);
    }
}

static void test_left_alone(void) {
    struct restart_state state = {0};
    struct restart_call call = interrupted(SYS_poll, 7, true, true);
    call.result = 1;
    CHECK_UINT(restart_repair(&state, &call), RESTART_NONE);
    CHECK_UINT(state.running_ns, 7);
    call = interrupted(SYS_poll, 8, true, true);
    code[9] = 0x90; /* not behind a system call */
    CHECK_UINT(restart_repair(&state, &call), RESTART_NONE);
    call = interrupted(SYS_poll, 9, true, true);
    call.code_bytes = 0;
    CHECK_UINT(restart_repair(&state, &call), RESTART_NONE);
    call = interrupted(SYS_close, 9, true, true);
    call.number = SYS_pause; /* known, whatever the code says */
    CHECK_UINT(restart_repair(&state, &call), RESTART_AGAIN);
    CHECK_UINT(call.result, SYS_pause);
    call = interrupted(SYS_close, 9, false, true);
    memcpy(code + 3, (const uint8_t[]){0x90, 0x90, 0x44, 0x89, 0xf8}, 5); /* mov %r15d,%eax */
    register_15 = SYS_io_uring_enter;
    CHECK_UINT(restart_repair(&state, &call), RESTART_AGAIN);
    CHECK_UINT(call.result, SYS_io_uring_enter);
    call = interrupted(SYS_poll, 9, true, true);
    handler_is_due = true;
    call.argument[RESTART_DX] = 100;
    CHECK_UINT(restart_repair(&state, &call), RESTART_EXPECTED);
    CHECK(call.result == -EINTR);
    CHECK_UINT(call.pc, PC);
    CHECK_UINT(call.argument[RESTART_DX], 100);
    handler_is_due = false;
    call = interrupted(SYS_close, 10, true, true); /* not to be made twice */
    CHECK_UINT(restart_repair(&state, &call), RESTART_DECLINED);
    CHECK(call.result == -EINTR);
    CHECK_UINT(call.pc, PC);
}

/* The argument of the call as the kernel takes it. */
static int poll_at(struct restart_state *state, struct restart_call *call, uint64_t now_ns) {
    uint64_t argument = call->argument[RESTART_DX];
    *call = interrupted(SYS_poll, now_ns, true, false);
    call->argument[RESTART_DX] = argument;
    CHECK_UINT(restart_repair(state, call), RESTART_AGAIN);
    CHECK_UINT(call->result, SYS_poll);
    return (int)(uint32_t)call->argument[RESTART_DX];
}

static void test_milliseconds(void) {
    struct restart_state state = {0};
    struct restart_call call = {.argument[RESTART_DX] = 100};
    CHECK_UINT(poll_at(&state, &call, 1000 * MS), 100);
    CHECK_UINT(poll_at(&state, &call, 1030 * MS), 70);
    CHECK_UINT(poll_at(&state, &call, 1030 * MS + 1), 70); /* never early */
    struct restart_call inner = {.argument[RESTART_DX] = 70};
    CHECK_UINT(poll_at(&state, &inner, 1050 * MS), 70); /* another call, in a handler */
    CHECK_UINT(poll_at(&state, &call, 1060 * MS), 40);  /* the outer one's deadline stands */
    CHECK_UINT(poll_at(&state, &inner, 1060 * MS), 60);
    CHECK_UINT(poll_at(&state, &call, 5000 * MS), 0);
    call.argument[RESTART_DX] = 100; /* the same place once more */
    CHECK_UINT(poll_at(&state, &call, 6000 * MS), 100);
    call.argument[RESTART_DX] = 0xffffffff; /* -1 */
    CHECK_UINT(poll_at(&state, &call, 7000 * MS), -1);
    CHECK_UINT(call.argument[RESTART_DX], 0xffffffff);
}

static struct restart_call sleeping(uint64_t now_ns, bool libc, uint64_t request, uint64_t rest) {
    struct restart_call call = interrupted(SYS_clock_nanosleep, now_ns, libc, true);
    call.argument[RESTART_DX] = request;
    call.argument[RESTART_R10] = rest;
    return call;
}

static uint64_t left(uint64_t argument) {
    const struct timespec *time = (const struct timespec *)(uintptr_t)argument;
    return (uint64_t)time->tv_sec * 1000 * MS + (uint64_t)time->tv_nsec;
}

/* Its time counts from there, where the kernel has not left the rest. */
static void test_known_begin(void) {
    struct restart_state state = {.began_ns = 4 * MS};
    struct restart_call call = {.argument[RESTART_DX] = 100};
    CHECK_UINT(poll_at(&state, &call, 10 * MS), 94);
    memory[0] = 2, memory[1] = 500;
    call = interrupted(SYS_epoll_pwait2, 10 * MS, true, true);
    call.argument[RESTART_R10] = 0x1000;
    CHECK_UINT(restart_repair(&state, &call), RESTART_AGAIN);
    CHECK_UINT(left(call.argument[RESTART_R10]), 1994 * MS + 500);
    call = interrupted(SYS_ppoll, 10 * MS, true, true);
    call.argument[RESTART_DX] = 0x1000;
    CHECK_UINT(restart_repair(&state, &call), RESTART_AGAIN);
    CHECK_UINT(left(call.argument[RESTART_DX]), 2000 * MS + 500);
}

static void test_timespec(void) {
    struct restart_state state = {0};
    memory[0] = 2, memory[1] = 500;
    memory[2] = 1, memory[3] = 7;
    struct restart_call call = sleeping(10 * MS, true, 0x1000, 0);
    CHECK_UINT(restart_repair(&state, &call), RESTART_AGAIN);
    CHECK_UINT(left(call.argument[RESTART_DX]), 2000 * MS + 500);
    uint64_t replaced = call.argument[RESTART_DX];
    call = sleeping(1010 * MS, true, replaced, 0);
    CHECK_UINT(restart_repair(&state, &call), RESTART_AGAIN);
    CHECK_UINT(call.argument[RESTART_DX], replaced);
    CHECK_UINT(left(replaced), 1000 * MS + 500);
    call = sleeping(9000 * MS, true, replaced, 0);
    CHECK_UINT(restart_repair(&state, &call), RESTART_AGAIN);
    CHECK_UINT(left(replaced), 0);
    /* the kernel has left the rest, elsewhere or in place of the request */
    call = sleeping(10000 * MS, true, 0x1000, 0x1010);
    CHECK_UINT(restart_repair(&state, &call), RESTART_AGAIN);
    CHECK_UINT(left(call.argument[RESTART_DX]), 1000 * MS + 7);
    call = sleeping(10000 * MS, true, 0x1000, 0x1000);
    CHECK_UINT(restart_repair(&state, &call), RESTART_AGAIN);
    CHECK_UINT(call.argument[RESTART_DX], 0x1000);
    /* neither is to be touched */
    call = sleeping(10000 * MS, true, 0x1000, 0);
    call.argument[RESTART_SI] = TIMER_ABSTIME;
    CHECK_UINT(restart_repair(&state, &call), RESTART_AGAIN);
    CHECK_UINT(call.argument[RESTART_DX], 0x1000);
    call = sleeping(10000 * MS, true, 0x1000, 0);
    call.argument[RESTART_DI] = CLOCK_PROCESS_CPUTIME_ID;
    CHECK_UINT(restart_repair(&state, &call), RESTART_DECLINED);
    call = sleeping(10000 * MS, true, 0xdead0000, 0);
    CHECK_UINT(restart_repair(&state, &call), RESTART_DECLINED);
    memory[1] = 5000000000;
    call = sleeping(10000 * MS, true, 0x1000, 0);
    CHECK_UINT(restart_repair(&state, &call), RESTART_DECLINED);
    memory[0] = INT64_MAX, memory[1] = 0;
    call = sleeping(10000 * MS, true, 0x1000, 0);
    CHECK_UINT(restart_repair(&state, &call), RESTART_AGAIN);
    CHECK(left(call.argument[RESTART_DX]) > 1000000000 * MS);
}

static void test_futex(void) {
    struct restart_state state = {0};
    memory[0] = 0, memory[1] = 5000;
    struct restart_call call = interrupted(SYS_futex, 0, true, false);
    call.argument[RESTART_SI] = 128 + 9; /* a private bitset wait: absolute */
    call.argument[RESTART_R10] = 0x1000;
    CHECK_UINT(restart_repair(&state, &call), RESTART_AGAIN);
    CHECK_UINT(call.argument[RESTART_R10], 0x1000);
    call = interrupted(SYS_futex, 0, true, false);
    call.argument[RESTART_SI] = 128;
    call.argument[RESTART_R10] = 0x1000;
    CHECK_UINT(restart_repair(&state, &call), RESTART_AGAIN);
    CHECK_UINT(left(call.argument[RESTART_R10]), 5000);
}

/* Not libc's code: its arguments stay, the time is kept by us. */
static void test_unchanged(void) {
    struct restart_state state = {0};
    struct restart_call call;
    for (uint64_t ms = 0; ms < 100; ms += 10) {
        call = interrupted(SYS_poll, ms * MS, false, true);
        call.argument[RESTART_DX] = 100;
        CHECK_UINT(restart_repair(&state, &call), RESTART_AGAIN);
        CHECK_UINT(call.argument[RESTART_DX], 100);
    }
    call = interrupted(SYS_poll, 100 * MS, false, true);
    call.argument[RESTART_DX] = 100;
    CHECK_UINT(restart_repair(&state, &call), RESTART_ENDED);
    CHECK_UINT(call.result, 0);
    CHECK_UINT(call.pc, PC);
    call = interrupted(SYS_poll, 110 * MS, false, true); /* the next call in a loop */
    call.argument[RESTART_DX] = 100;
    CHECK_UINT(restart_repair(&state, &call), RESTART_AGAIN);
    struct restart_call running = {.now_ns = 120 * MS};
    CHECK_UINT(restart_repair(&state, &running), RESTART_NONE);
    call = interrupted(SYS_poll, 209 * MS, false, true); /* one more, since it has been running */
    call.argument[RESTART_DX] = 100;
    CHECK_UINT(restart_repair(&state, &call), RESTART_AGAIN);
    CHECK_UINT(state.unchanged.deadline_ns, 309 * MS);
    call = interrupted(SYS_poll, 310 * MS, false, true); /* by now it would have ended */
    call.argument[RESTART_DX] = 100;
    CHECK_UINT(restart_repair(&state, &call), RESTART_AGAIN);
    CHECK_UINT(state.unchanged.deadline_ns, 410 * MS);
    running = (struct restart_call){.result = SYS_poll, .pc = PC - 2, .sp = SP, .now_ns = 310 * MS};
    CHECK_UINT(restart_repair(&state, &running), RESTART_NONE); /* on its way into the call */
    call = interrupted(SYS_poll, 311 * MS, false, false); /* a signal meant for running threads */
    call.argument[RESTART_DX] = 100;
    CHECK_UINT(restart_repair(&state, &call), RESTART_AGAIN);
    CHECK_UINT(state.unchanged.deadline_ns, 410 * MS);
    call = interrupted(SYS_poll, 350 * MS, false, false); /* by chance, and the same sleep */
    call.argument[RESTART_DX] = 100;
    call.sleeps = 1;
    CHECK_UINT(restart_repair(&state, &call), RESTART_AGAIN);
    CHECK_UINT(state.unchanged.deadline_ns, 410 * MS);
    call = interrupted(SYS_poll, 380 * MS, false, false); /* another one */
    call.argument[RESTART_DX] = 100;
    call.sleeps = 3;
    CHECK_UINT(restart_repair(&state, &call), RESTART_AGAIN);
    CHECK_UINT(state.unchanged.deadline_ns, 480 * MS);
}

static void test_socket(void) {
    struct restart_state state = {0};
    struct restart_call call = interrupted(SYS_recvfrom, 0, true, true);
    timeout_of_socket = 0;
    CHECK_UINT(restart_repair(&state, &call), RESTART_AGAIN);
    timeout_of_socket = 50 * MS;
    for (uint64_t ms = 1; ms < 51; ms += 5) {
        call = interrupted(SYS_recvfrom, ms * MS, true, true);
        CHECK_UINT(restart_repair(&state, &call), RESTART_AGAIN);
    }
    call = interrupted(SYS_recvfrom, 51 * MS, true, true);
    CHECK_UINT(restart_repair(&state, &call), RESTART_ENDED);
    CHECK(call.result == -EAGAIN);
}

/* One of the calls on a socket that the caller has counted, which has begun a while ago. */
static enum restart_verdict meet_counted(struct restart_state *state, uint32_t number,
                                         uint64_t began, uint64_t now, uint64_t sleeps) {
    struct restart_call call = interrupted(SYS_recvfrom, now, true, true);
    call.sleeps = sleeps;
    state->number = number;
    state->began_ns = began;
    return restart_repair(state, &call);
}

/* A call is the one that its caller says, however often it has slept; and who does not know goes by
 * that. */
static void test_counted(void) {
    struct restart_state state = {0};
    timeout_of_socket = 50 * MS;
    CHECK_UINT(meet_counted(&state, 1, 1 * MS, 40 * MS, 1), RESTART_AGAIN);
    CHECK_UINT(state.unchanged.deadline_ns, 51 * MS);
    CHECK_UINT(meet_counted(&state, 2, 45 * MS, 60 * MS, 2), RESTART_AGAIN); /* the next one */
    CHECK_UINT(state.unchanged.deadline_ns, 95 * MS);
    CHECK_UINT(meet_counted(&state, 2, 45 * MS, 80 * MS, 9), RESTART_AGAIN);
    CHECK_UINT(state.unchanged.deadline_ns, 95 * MS);
    CHECK_UINT(meet_counted(&state, 2, 45 * MS, 95 * MS, 10), RESTART_ENDED);
    CHECK_UINT(meet_counted(&state, 0, 0, 100 * MS, 11), RESTART_AGAIN); /* nobody has counted it */
    CHECK_UINT(state.unchanged.deadline_ns, 150 * MS);
    CHECK_UINT(meet_counted(&state, 0, 0, 110 * MS, 12), RESTART_AGAIN);
    CHECK_UINT(state.unchanged.deadline_ns, 150 * MS);
    CHECK_UINT(meet_counted(&state, 0, 0, 120 * MS, 14), RESTART_AGAIN); /* it has slept between */
    CHECK_UINT(state.unchanged.deadline_ns, 170 * MS);
}

/* One that the kernel makes again by itself, with the whole of the terminal's time. */
static enum restart_verdict read_terminal(struct restart_state *state, uint64_t now_ns,
                                          uint64_t sleeps) {
    struct restart_call call = interrupted(SYS_read, now_ns, true, true);
    call.number = SYS_read;
    call.rewound = true;
    call.terminal_ns = 300 * MS;
    call.sleeps = sleeps;
    enum restart_verdict verdict = restart_repair(state, &call);
    CHECK_UINT(call.result, verdict == RESTART_AGAIN ? SYS_read : 0);
    CHECK_UINT(call.pc, verdict == RESTART_AGAIN ? PC - 2 : PC);
    return verdict;
}

static void test_terminal(void) {
    struct restart_state state = {0};
    CHECK_UINT(read_terminal(&state, 100 * MS, 7), RESTART_AGAIN);
    CHECK_UINT(read_terminal(&state, 250 * MS, 8), RESTART_AGAIN);
    CHECK_UINT(read_terminal(&state, 399 * MS, 8), RESTART_AGAIN); /* not asleep again yet */
    CHECK_UINT(read_terminal(&state, 400 * MS, 9), RESTART_ENDED);
    CHECK_UINT(read_terminal(&state, 500 * MS, 10), RESTART_AGAIN);
    CHECK_UINT(read_terminal(&state, 600 * MS, 12), RESTART_AGAIN); /* another one meanwhile */
    CHECK_UINT(read_terminal(&state, 850 * MS, 13), RESTART_AGAIN);
    CHECK_UINT(read_terminal(&state, 900 * MS, 14), RESTART_ENDED);
}

/* ---- real signals ---- */

static struct restart_state live;
static volatile unsigned verdicts[RESTART_DECLINED + 1];
static volatile sig_atomic_t applications;

static void on_tick(int number, siginfo_t *info, void *uc) {
    int saved = errno;
    (void)info;
    verdicts[restart_interrupted(&live, uc, number, true)]++;
    errno = saved;
}

static void on_alarm(int number) {
    (void)number;
    applications++;
}

static timer_t tick;

static void install(void) {
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF};
    struct itimerspec when = {{0, (long)MS}, {0, (long)MS}};
    event._sigev_un._tid = gettid();
    sigfillset(&action.sa_mask);
    action.sa_sigaction = on_tick;
    sigaction(SIGPROF, &action, NULL);
    action = (struct sigaction){.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    restart_start();
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &tick) == 0);
    CHECK(timer_settime(tick, 0, &when, NULL) == 0);
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 * MS + (uint64_t)time.tv_nsec;
}

static long raw(long number, long a, long b, long c, long d) {
    long result = number;
    register long r10 __asm__("r10") = d;
    if (number == SYS_poll)
        __asm__ volatile("mov $7,%%eax; syscall"
                         : "=&a"(result)
                         : "D"(a), "S"(b), "d"(c), "r"(r10)
                         : "rcx", "r11", "memory");
    else
        __asm__ volatile("mov $35,%%eax; syscall"
                         : "=&a"(result)
                         : "D"(a), "S"(b), "d"(c), "r"(r10)
                         : "rcx", "r11", "memory");
    return result;
}

/* A call that must take `ms` milliseconds and end as said, while it is interrupted all the time. */
#define SLEEPS(ms, call, want)                                                                     \
    do {                                                                                           \
        uint64_t started = now();                                                                  \
        unsigned before = verdicts[RESTART_AGAIN];                                                 \
        errno = 0;                                                                                 \
        CHECK((call) == (want));                                                                   \
        CHECK(now() - started >= (ms)*MS);                                                         \
        CHECK(now() - started < (ms)*MS + 2000 * MS);                                              \
        CHECK(verdicts[RESTART_AGAIN] > before);                                                   \
    } while (0)

static void test_live_timeouts(void) {
    struct timespec ms50 = {0, 50 * (long)MS}, ms1900 = {1, 900 * (long)MS}, rest = {9, 9};
    struct timeval us50000 = {0, 50000};
    struct epoll_event event;
    struct sembuf down = {0, -1, 0};
    sigset_t usr1;
    int epoll = epoll_create1(0), semaphore = semget(IPC_PRIVATE, 1, 0600);
    char byte;
    int pair[2], word = 0;
    SLEEPS(50, poll(NULL, 0, 50), 0);
    SLEEPS(50, ppoll(NULL, 0, &ms50, NULL), 0);
    SLEEPS(50, select(0, NULL, NULL, NULL, &us50000), 0);
    CHECK(us50000.tv_sec == 0 && us50000.tv_usec == 0);
    SLEEPS(50, pselect(0, NULL, NULL, NULL, &ms50, NULL), 0);
    SLEEPS(50, epoll_wait(epoll, &event, 1, 50), 0);
    SLEEPS(50, epoll_pwait(epoll, &event, 1, 50, NULL), 0);
    SLEEPS(50, epoll_pwait2(epoll, &event, 1, &ms50, NULL), 0);
    SLEEPS(50, nanosleep(&ms50, NULL), 0);
    SLEEPS(50, nanosleep(&ms50, &rest), 0);
    SLEEPS(1900, clock_nanosleep(CLOCK_MONOTONIC, 0, &ms1900, NULL), 0);
    SLEEPS(50, usleep(50000), 0);
    SLEEPS(1000, sleep(1), 0);
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    SLEEPS(50, sigtimedwait(&usr1, NULL, &ms50), -1);
    CHECK(errno == EAGAIN);
    SLEEPS(50, semtimedop(semaphore, &down, 1, &ms50), -1);
    CHECK(errno == EAGAIN);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){0, 50000},
               sizeof(struct timeval));
    SLEEPS(50, recv(pair[0], &byte, 1, 0), -1);
    CHECK(errno == EAGAIN);
    SLEEPS(50, raw(SYS_poll, 0, 0, 50, 0), 0);
    SLEEPS(50, syscall_telling(SYS_futex, &word, FUTEX_WAIT, 0, &ms50, NULL, 0), -1);
    CHECK(errno == ETIMEDOUT);
    SLEEPS(50, raw(SYS_nanosleep, (long)&ms50, 0, 0, 0), 0);
    CHECK(ms50.tv_sec == 0 && ms50.tv_nsec == 50 * (long)MS);
    semctl(semaphore, 0, IPC_RMID);
    close(epoll);
    close(pair[0]);
    close(pair[1]);
}

/* A read of one end of a pair of pseudoterminals, while nothing comes. */
static void test_live_terminal(void) {
    struct termios t;
    char byte;
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    CHECK(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    CHECK(slave >= 0 && tcgetattr(slave, &t) == 0);
    cfmakeraw(&t);
    t.c_cc[VMIN] = 0;
    t.c_cc[VTIME] = 3;
    tcsetattr(slave, TCSANOW, &t);
    SLEEPS(300, read(slave, &byte, 1), 0);
    close(slave);
    close(master);
}

/* The application's own signal ends its calls as ever, at its first coming. Not always: a tick just
 * when its handler returns can't be distinguished from one that interrupts the call (see
 * restart.h). */
static void test_live_signal(void) {
    struct itimerval alarm = {{0, 10000}, {0, 10000}}, off = {{0, 0}, {0, 0}};
    sigset_t none;
    unsigned calls = 0;
    sigemptyset(&none);
    applications = 0;
    setitimer(ITIMER_REAL, &alarm, NULL);
    for (; calls < 30; calls++) {
        int result = calls % 3 == 0   ? poll(NULL, 0, 10000)
                     : calls % 3 == 1 ? pause()
                                      : sigsuspend(&none);
        CHECK(result == -1 && errno == EINTR);
    }
    CHECK(applications < 2 * (int)calls);
    setitimer(ITIMER_REAL, &off, NULL);
}

/* A thread that was stopped while it slept, and is about to go on. */
static void test_resumed(void) {
    /* what stands before an instruction is read, for that far: it is of the same object */
    static const struct {
        uint8_t before[2 * SYSCALL_CODE_REACH], sleeps[16];
    } text __attribute__((aligned(16))) = {
        .sleeps = {0x90, 0x90, 0x90, 0xb8, 0xe6, 0, 0, 0, 0x0f, 0x05, 0x90}};
    const uint8_t *sleeps = text.sleeps;
    static const struct timespec time = {5, 0};
    struct restart_state state = {0};
    ucontext_t uc;
    getcontext(&uc);
    greg_t *regs = uc.uc_mcontext.gregs;
    regs[REG_RIP] = (greg_t)(uintptr_t)(sleeps + 8);
    regs[REG_RAX] = SYS_restart_syscall;
    regs[REG_RDI] = CLOCK_MONOTONIC;
    regs[REG_RSI] = regs[REG_R10] = 0;
    regs[REG_RDX] = (greg_t)(uintptr_t)&time;
    CHECK(restart_interrupted(&state, &uc, SIGURG, false) == RESTART_AGAIN);
    CHECK(regs[REG_RAX] == SYS_clock_nanosleep);
    CHECK(regs[REG_RIP] == (greg_t)(uintptr_t)(sleeps + 8));
    regs[REG_RIP] = (greg_t)(uintptr_t)(sleeps + 3);
    regs[REG_RAX] = SYS_restart_syscall; /* any number, somewhere else */
    CHECK(restart_interrupted(&state, &uc, SIGURG, false) == RESTART_NONE);
    CHECK(regs[REG_RAX] == SYS_restart_syscall);
}

static void test_live(void) {
    install();
    test_live_timeouts();
    test_live_terminal();
    test_live_signal();
    timer_delete(tick);
    CHECK_UINT(verdicts[RESTART_DECLINED], 0);
    printf("%u made again, %u ended, %u expected\n", verdicts[RESTART_AGAIN],
           verdicts[RESTART_ENDED], verdicts[RESTART_EXPECTED]);
}

int main(void) {
    test_code();
    test_code_of_registers();
    test_code_that_tells_nothing();
    test_telling();
    test_plain();
    test_left_alone();
    test_milliseconds();
    test_timespec();
    test_known_begin();
    test_futex();
    test_unchanged();
    test_socket();
    test_counted();
    test_terminal();
    test_resumed();
    if (HANDLERS_INTERRUPT)
        test_live();
    else
        puts("not tried: signals, for which the thread sanitizer has handlers wait");
    return check_report();
}

#else

int main(void) {
    return 77;
}

#endif
