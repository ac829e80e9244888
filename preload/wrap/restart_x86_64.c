/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * restart_x86_64.c - the system calls that end with EINTR whatever the handler's flags, and how
 * each is made again.
 */
#include "preload/wrap/restart.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "common/wire/arch.h"
#include "common/wire/compiler.h"
#include "common/wire/wire.h"
#include "preload/life/glibc.h"
#include "preload/life/sys.h"
#include "preload/sample/interrupted.h"
#include "preload/sample/stack.h"
#include "preload/wrap/file_time.h"
#include "preload/wrap/restart_due.h"
#include "preload/wrap/syscall_code.h"
#include "preload/wrap/syscall_passed.h"

#define SYSCALL_BYTES 2
#define SECOND_NS     1000000000ull
#define MS_NS         1000000ull
#define A_WHILE_NS    (20 * MS_NS)

/* How a call's timeout is given. */
enum kind {
    PLAIN,        /* none, absolute, or kept up to date by the kernel */
    MILLISECONDS, /* int in a register, negative: none */
    TIMESPEC,     /* pointer in a register, NULL: none */
    CLOCK,        /* TIMESPEC of clock_nanosleep, unless absolute */
    FUTEX,        /* TIMESPEC when the operation is a plain wait */
    SOCKET,       /* option of the descriptor, if that is a socket */
    RING,         /* none, or a member of what a register points to */
};

static const struct known {
    uint16_t number;
    uint8_t kind;
    uint8_t where; /* enum restart_register of the timeout */
    int16_t over;  /* the call's result when its time is over */
    int16_t rest;  /* enum restart_register of a pointer to where the kernel leaves the rest of the
                      time, -1: none; the socket's option for SOCKET */
} calls[] = {
    {SYS_poll, MILLISECONDS, RESTART_DX, 0, -1},
    {SYS_epoll_wait, MILLISECONDS, RESTART_R10, 0, -1},
    {SYS_epoll_pwait, MILLISECONDS, RESTART_R10, 0, -1},
    {SYS_epoll_pwait2, TIMESPEC, RESTART_R10, 0, -1},
    {SYS_select, PLAIN, 0, 0, -1},
    {SYS_pselect6, PLAIN, 0, 0, -1},
    {SYS_ppoll, TIMESPEC, RESTART_DX, 0, -1},
    {SYS_nanosleep, TIMESPEC, RESTART_DI, 0, RESTART_SI},
    {SYS_clock_nanosleep, CLOCK, RESTART_DX, 0, RESTART_R10},
    {SYS_pause, PLAIN, 0, 0, -1},
    {SYS_rt_sigsuspend, PLAIN, 0, 0, -1},
    {SYS_rt_sigtimedwait, TIMESPEC, RESTART_DX, -EAGAIN, -1},
    {SYS_semop, PLAIN, 0, 0, -1},
    {SYS_semtimedop, TIMESPEC, RESTART_R10, -EAGAIN, -1},
    {SYS_msgrcv, PLAIN, 0, 0, -1},
    {SYS_msgsnd, PLAIN, 0, 0, -1},
    {SYS_futex, FUTEX, RESTART_R10, -ETIMEDOUT, -1},
    {SYS_io_getevents, TIMESPEC, RESTART_R8, 0, -1},
    {SYS_io_pgetevents, TIMESPEC, RESTART_R8, 0, -1},
    {SYS_io_uring_enter, RING, 0, -ETIME, -1},
    {SYS_read, SOCKET, 0, -EAGAIN, SO_RCVTIMEO},
    {SYS_readv, SOCKET, 0, -EAGAIN, SO_RCVTIMEO},
    {SYS_recvfrom, SOCKET, 0, -EAGAIN, SO_RCVTIMEO},
    {SYS_recvmsg, SOCKET, 0, -EAGAIN, SO_RCVTIMEO},
    {SYS_recvmmsg, SOCKET, 0, -EAGAIN, SO_RCVTIMEO},
    {SYS_accept, SOCKET, 0, -EAGAIN, SO_RCVTIMEO},
    {SYS_accept4, SOCKET, 0, -EAGAIN, SO_RCVTIMEO},
    {SYS_write, SOCKET, 0, -EAGAIN, SO_SNDTIMEO},
    {SYS_writev, SOCKET, 0, -EAGAIN, SO_SNDTIMEO},
    {SYS_sendto, SOCKET, 0, -EAGAIN, SO_SNDTIMEO},
    {SYS_sendmsg, SOCKET, 0, -EAGAIN, SO_SNDTIMEO},
    {SYS_sendmmsg, SOCKET, 0, -EAGAIN, SO_SNDTIMEO},
    {SYS_connect, SOCKET, 0, -EINPROGRESS, SO_SNDTIMEO},
};

static const struct known *known_call(const struct restart_call *call) {
    size_t before = call->code_bytes - SYSCALL_BYTES;
    long number = call->number;
    int reg = -1;
    if (number < 0) {
        number = syscall_code_number(call->code + before, before);
        reg = syscall_code_register(call->code + before, before);
    }
    if (number < 0 && reg >= 0)
        number = call->held(call->arg, (unsigned)reg);
    if (number < 0)
        number = call->passed(call->arg);
    for (size_t i = 0; i < HCCT_ARRAY_LEN(calls); i++)
        if (calls[i].number == number)
            return &calls[i];
    return NULL;
}

static enum restart_verdict again(const struct known *known, struct restart_call *call) {
    call->result = known->number;
    call->pc -= SYSCALL_BYTES;
    return RESTART_AGAIN;
}

/* When the call's time has begun to count. */
static uint64_t began(const struct restart_state *state, const struct restart_call *call) {
    return state->began_ns != 0 ? state->began_ns : call->now_ns;
}

/* ---- the call with its own arguments ---- */

/* The call that was made again last has gone to sleep but once since; one that has begun since, and
 * what was before it, more often. */
static bool slept_once(const struct restart_state *state, const struct restart_call *call) {
    return call->sleeps - state->unchanged.sleeps <= 1;
}

/* Where nobody knows which call it is, one is the same that would not have ended by itself since,
 * and is the same sleep; or, where our signal does not come to sleeping threads for long, has been
 * met a moment ago. */
static bool may_be_same(const struct restart_state *state, const struct restart_call *call,
                        uint64_t timeout_ns) {
    uint64_t since_ns = call->now_ns - state->unchanged.made_ns;
    return state->running_ns <= state->unchanged.made_ns && since_ns < timeout_ns &&
           ((!call->wall && since_ns < A_WHILE_NS) || slept_once(state, call));
}

/* At the same place with the same arguments. */
static bool made_before(const struct restart_state *state, const struct restart_call *call,
                        uint64_t timeout_ns) {
    return state->unchanged.pc == call->pc && state->unchanged.sp == call->sp &&
           state->unchanged.number == state->number &&
           (state->number != 0 || may_be_same(state, call, timeout_ns)) &&
           memcmp(state->unchanged.argument, call->argument, sizeof call->argument) == 0;
}

/* `over`: its result when its time is over. */
static enum restart_verdict again_until(struct restart_state *state, const struct known *known,
                                        struct restart_call *call, uint64_t timeout_ns, bool same,
                                        long over) {
    if (!same) {
        state->unchanged.pc = call->pc;
        state->unchanged.sp = call->sp;
        memcpy(state->unchanged.argument, call->argument, sizeof call->argument);
        state->unchanged.deadline_ns = began(state, call) + timeout_ns;
    }
    state->unchanged.made_ns = call->now_ns;
    state->unchanged.number = state->number;
    state->unchanged.sleeps = call->sleeps;
    state->unchanged.itself_ns = call->now_ns + timeout_ns;
    if (call->now_ns < state->unchanged.deadline_ns)
        return again(known, call);
    state->unchanged.pc = 0;
    call->result = over;
    return RESTART_ENDED;
}

static enum restart_verdict again_unchanged(struct restart_state *state, const struct known *known,
                                            struct restart_call *call, uint64_t timeout_ns) {
    return again_until(state, known, call, timeout_ns, made_before(state, call, timeout_ns),
                       known->over);
}

/* Programs read terminals byte by byte at one place: a read after one that has had its byte is not
 * to end at the other's deadline. */
static enum restart_verdict again_terminal(struct restart_state *state, const struct known *known,
                                           struct restart_call *call) {
    bool same = made_before(state, call, call->terminal_ns) &&
                (state->number != 0 || slept_once(state, call));
    state->unchanged.sleeps = call->sleeps;
    return again_until(state, known, call, call->terminal_ns, same, 0);
}

/* ---- the call with what is left of its time ---- */

static struct restart_timed *new_timed(struct restart_state *state, uint64_t deadline_ns) {
    struct restart_timed *timed = &state->timed[++state->calls % RESTART_NESTED];
    timed->call = state->calls;
    timed->deadline_ns = deadline_ns;
    return timed;
}

static uint64_t left_ns(const struct restart_timed *timed, uint64_t now_ns) {
    return timed->deadline_ns > now_ns ? timed->deadline_ns - now_ns : 0;
}

/* The upper half of a register that holds an int is read by nobody: a mark there tells a call that
 * was made again before. */
#define MARK      0x68630000u
#define MARK_BITS 16

static enum restart_verdict again_milliseconds(struct restart_state *state,
                                               const struct known *known,
                                               struct restart_call *call) {
    uint64_t *argument = &call->argument[known->where];
    uint32_t high = (uint32_t)(*argument >> 32), mask = (1u << MARK_BITS) - 1;
    int32_t ms = (int32_t)(uint32_t)*argument;
    if (ms < 0)
        return again(known, call);
    if (!call->libc)
        return again_unchanged(state, known, call, (uint64_t)ms * MS_NS);
    struct restart_timed *timed = &state->timed[high % RESTART_NESTED];
    if ((high & ~mask) != MARK || (timed->call & mask) != (high & mask))
        timed = new_timed(state, began(state, call) + (uint64_t)ms * MS_NS);
    uint64_t left = (left_ns(timed, call->now_ns) + MS_NS - 1) / MS_NS;
    *argument = (uint64_t)(MARK | (timed->call & mask)) << 32 | left;
    return again(known, call);
}

static bool read_timespec(const struct restart_call *call, uint64_t address, uint64_t *ns) {
    uint64_t seconds, rest;
    if (!call->read(call->arg, address, &seconds) || !call->read(call->arg, address + 8, &rest) ||
        (int64_t)seconds < 0 || rest >= SECOND_NS)
        return false;
    /* longer than the clock can count is for ever */
    *ns = seconds < UINT32_MAX ? seconds * SECOND_NS + rest : UINT32_MAX * SECOND_NS;
    return true;
}

static enum restart_verdict again_timespec(struct restart_state *state, const struct known *known,
                                           struct restart_call *call) {
    uint64_t *argument = &call->argument[known->where], timeout;
    uint64_t rest = known->rest >= 0 ? call->argument[known->rest] : 0;
    if (*argument == 0 || *argument == rest)
        return again(known, call);
    for (unsigned i = 0; i < RESTART_NESTED; i++) {
        struct restart_timed *timed = &state->timed[i];
        if (*argument != (uint64_t)(uintptr_t)&timed->left)
            continue;
        uint64_t left = left_ns(timed, call->now_ns);
        timed->left = (struct timespec){(time_t)(left / SECOND_NS), (long)(left % SECOND_NS)};
        return again(known, call);
    }
    /* the kernel's own account of the rest is exact */
    if (!read_timespec(call, rest != 0 && call->libc ? rest : *argument, &timeout))
        return RESTART_DECLINED;
    if (!call->libc)
        return again_unchanged(state, known, call, timeout);
    bool is_rest = rest != 0 || known->number == SYS_ppoll; /* as the kernel has left it */
    uint64_t since = is_rest ? call->now_ns : began(state, call);
    struct restart_timed *timed = new_timed(state, since + timeout);
    uint64_t left = left_ns(timed, call->now_ns);
    timed->left = (struct timespec){(time_t)(left / SECOND_NS), (long)(left % SECOND_NS)};
    *argument = (uint64_t)(uintptr_t)&timed->left;
    return again(known, call);
}

/* ---- which of them ---- */

static bool is_time_of_day(uint64_t clock) {
    return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME ||
           clock == CLOCK_TAI;
}

static enum restart_verdict again_clock(struct restart_state *state, const struct known *known,
                                        struct restart_call *call) {
    if ((call->argument[RESTART_SI] & TIMER_ABSTIME) != 0)
        return again(known, call);
    if (!is_time_of_day((uint32_t)call->argument[RESTART_DI]))
        return RESTART_DECLINED; /* CPU time of somebody */
    return again_timespec(state, known, call);
}

static enum restart_verdict again_futex(struct restart_state *state, const struct known *known,
                                        struct restart_call *call) {
    if ((call->argument[RESTART_SI] & FUTEX_CMD_MASK) != FUTEX_WAIT)
        return again(known, call);
    return again_timespec(state, known, call);
}

static enum restart_verdict again_socket(struct restart_state *state, const struct known *known,
                                         struct restart_call *call) {
    int fd = (int)(uint32_t)call->argument[RESTART_DI];
    uint64_t timeout = call->socket_timeout(call->arg, fd, known->rest);
    return timeout == 0 ? again(known, call) : again_unchanged(state, known, call, timeout);
}

/* Flags of io_uring_enter that older headers don't know. */
#define RING_ABSOLUTE   (1u << 5)
#define RING_REGISTERED (1u << 6) /* what the register holds is no address */

static enum restart_verdict again_ring(struct restart_state *state, const struct known *known,
                                       struct restart_call *call) {
    uint64_t flags = call->argument[RESTART_R10], time, timeout;
    if ((flags & IORING_ENTER_EXT_ARG) == 0)
        return again(known, call);
    if ((flags & RING_REGISTERED) != 0 ||
        !call->read(call->arg,
                    call->argument[RESTART_R8] + offsetof(struct io_uring_getevents_arg, ts),
                    &time))
        return RESTART_DECLINED;
    if (time == 0 || (flags & RING_ABSOLUTE) != 0)
        return again(known, call);
    if (!read_timespec(call, time, &timeout))
        return RESTART_DECLINED;
    return again_unchanged(state, known, call, timeout);
}

static bool is_interrupted(const struct restart_call *call) {
    return call->result == -EINTR && call->code != NULL && call->code_bytes >= SYSCALL_BYTES &&
           memcmp(call->code + call->code_bytes - SYSCALL_BYTES, "\x0f\x05", SYSCALL_BYTES) == 0;
}

/* Our signal has come again before the call could be made again. */
static bool is_on_its_way(const struct restart_state *state, const struct restart_call *call) {
    return call->pc == state->unchanged.pc - SYSCALL_BYTES && call->sp == state->unchanged.sp;
}

static enum restart_verdict make_again(struct restart_state *state, const struct known *known,
                                       struct restart_call *call) {
    if (call->rewound)
        return again_terminal(state, known, call);
    switch ((enum kind)known->kind) {
    case MILLISECONDS:
        return again_milliseconds(state, known, call);
    case TIMESPEC:
        return again_timespec(state, known, call);
    case CLOCK:
        return again_clock(state, known, call);
    case FUTEX:
        return again_futex(state, known, call);
    case SOCKET:
        return again_socket(state, known, call);
    case RING:
        return again_ring(state, known, call);
    case PLAIN:
        break;
    }
    return again(known, call);
}

enum restart_verdict restart_repair(struct restart_state *state, struct restart_call *call) {
    if (!is_interrupted(call)) {
        if (!is_on_its_way(state, call))
            state->running_ns = call->now_ns;
        return RESTART_NONE;
    }
    const struct known *known = known_call(call);
    if (known == NULL)
        return RESTART_DECLINED;
    struct restart_call made = *call;
    enum restart_verdict verdict = make_again(state, known, &made);
    if (verdict != RESTART_DECLINED && call->handler_due(call->arg))
        return RESTART_EXPECTED;
    *call = made;
    return verdict;
}

/* ---- on a signal's context ---- */

static const uint8_t greg_of[RESTART_ARGUMENTS] = {REG_RDI, REG_RSI, REG_RDX,
                                                   REG_R10, REG_R8,  REG_R9};

static uint64_t libc_start, libc_end;

void restart_start(void) {
    struct dl_find_object found;
    if (_dl_find_object((void *)(uintptr_t)gnu_get_libc_version, &found) != 0)
        return;
    libc_start = (uintptr_t)found.dlfo_map_start;
    libc_end = (uintptr_t)found.dlfo_map_end;
}

/* What the functions of a call know. */
struct handler {
    const ucontext_t *uc;
    int own;
    uint64_t behind; /* the call's instruction */
};

static bool read_word(void *arg, uint64_t address, uint64_t *word) {
    (void)arg;
    return address % sizeof *word == 0 && stack_copy(word, address, sizeof *word);
}

static uint64_t socket_timeout(void *arg, int fd, int option) {
    (void)arg;
    return file_time_socket(fd, option);
}

static long held(void *arg, unsigned reg) {
    static const uint8_t gregs[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                    REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                    REG_R12, REG_R13, REG_R14, REG_R15};
    const struct handler *handler = arg;
    return (long)(uint32_t)handler->uc->uc_mcontext.gregs[gregs[reg]];
}

static uint64_t held_by_dwarf(void *arg, unsigned reg) {
    const struct handler *handler = arg;
    return arch_reg(handler->uc, reg);
}

static long passed(void *arg) {
    struct handler *handler = arg;
    const struct syscall_site site = {.pc = handler->behind,
                                      .sp = arch_reg(handler->uc, ARCH_SP),
                                      .held = held_by_dwarf,
                                      .read = read_word,
                                      .arg = handler};
    return syscall_passed(&site);
}

static bool handler_due(void *arg) {
    const struct handler *handler = arg;
    return restart_is_expected(handler->uc, handler->own);
}

/* ---- a call that the kernel makes again ---- */

/* Our handler has SA_RESTART, so the kernel has put the thread before its call. It was in there:
 * the processor has left in rcx where it returns to. */
static bool is_rewound(const greg_t *regs) {
    const uint8_t *code = (const uint8_t *)(uintptr_t)regs[REG_RIP];
    return regs[REG_RCX] == regs[REG_RIP] + SYSCALL_BYTES &&
           (uintptr_t)code % WIRE_PAGE <= WIRE_PAGE - SYSCALL_BYTES && arch_is_syscall(code);
}

static bool ends_by_signal(const greg_t *regs) {
    return restart_ends_by_signal((long)regs[REG_RAX], (long)regs[REG_RSI]);
}

static void end_with_eintr(greg_t *regs) {
    regs[REG_RIP] += SYSCALL_BYTES;
    regs[REG_RAX] = -EINTR;
}

/* A signal of the application has come since ours, and would have ended the call: its handler runs
 * before the call is made again, which would not hear of it. */
static bool end_rewound(const struct handler *handler, greg_t *regs) {
    uintptr_t action[SYS_ACTION_WORDS];
    if (!is_rewound(regs) || !ends_by_signal(regs) ||
        restart_due(handler->uc, handler->own, action) == 0 ||
        (action[SYS_ACTION_FLAGS] & SA_RESTART) != 0)
        return false;
    end_with_eintr(regs);
    return true;
}

/* Those that any handler ends with EINTR. One that says how much of its time is left has said so
 * when our signal interrupted it: then it has its time from us. */
static bool ends_by_any(const struct restart_state *state, const greg_t *regs) {
    for (size_t i = 0; i < HCCT_ARRAY_LEN(calls); i++) {
        const struct known *known = &calls[i];
        if (known->number != regs[REG_RAX] || known->kind >= FUTEX)
            continue;
        uintptr_t time = (uintptr_t)regs[greg_of[known->where]], ours = (uintptr_t)state;
        return known->rest < 0 || (time >= ours && time < ours + sizeof *state);
    }
    return false;
}

void restart_meet_handler(const struct restart_state *state, int number, ucontext_t *uc) {
    greg_t *regs = uc->uc_mcontext.gregs;
    uintptr_t action[SYS_ACTION_WORDS];
    if (!is_rewound(regs))
        return;
    bool ends = ends_by_any(state, regs);
    if (!ends && ends_by_signal(regs)) {
        sys_action(number, action);
        ends = (action[SYS_ACTION_FLAGS] & SA_RESTART) == 0;
    }
    if (ends)
        end_with_eintr(regs);
}

/* ---- a read of a terminal ---- */

/* The kernel has put the thread before a read that has its time from the terminal: as if it had
 * ended with EINTR. */
static void meet_rewound(struct restart_call *call, const greg_t *regs) {
    long number = (long)call->result;
    if ((number != SYS_read && number != SYS_readv) || !is_rewound(regs))
        return;
    call->terminal_ns = file_time_terminal((int)(uint32_t)regs[REG_RDI]);
    if (call->terminal_ns == 0)
        return;
    call->rewound = true;
    call->number = number;
    call->result = -EINTR;
    call->pc += SYSCALL_BYTES;
}

/* How many bytes of code before `pc` can be read, up to the reach of a search in them. It is being
 * executed, so nobody unmaps it. */
static size_t readable_before(uint64_t pc) {
    uint64_t first = pc - SYSCALL_CODE_REACH - SYSCALL_BYTES;
    for (uint64_t at = first;; at = (at | (WIRE_PAGE - 1)) + 1) {
        if (!stack_is_readable((at | 7) - 7))
            first = (at | (WIRE_PAGE - 1)) + 1;
        if ((at | (WIRE_PAGE - 1)) >= pc - 1)
            break;
    }
    return first < pc ? pc - first : 0;
}

/* Right before the kernel goes on with a sleep of which it alone knows what is left, as it is after
 * a stop: it forgets that when our handler returns, and the call would end with EINTR. */
static bool is_resumed(const struct restart_call *call) {
    return call->result == SYS_restart_syscall;
}

/* A handler of the application has ended the call, or will be taken to have done so. */
static bool is_handlers(const struct restart_state *state, const ucontext_t *uc) {
    return state != NULL && state->handled && interrupted_behind_call(uc) &&
           uc->uc_mcontext.gregs[REG_RAX] == -EINTR;
}

enum restart_verdict restart_interrupted(struct restart_state *state, ucontext_t *uc, int own,
                                         bool wall) {
    greg_t *regs = uc->uc_mcontext.gregs;
    struct handler handler = {.uc = uc, .own = own};
    if (end_rewound(&handler, regs) || is_handlers(state, uc))
        return RESTART_EXPECTED;
    struct restart_state none = {.running_ns = 0};
    struct timespec now;
    sys2(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    struct restart_call call = {
        .result = regs[REG_RAX],
        .pc = (uint64_t)regs[REG_RIP],
        .sp = (uint64_t)regs[REG_RSP],
        .number = -1,
        .wall = wall,
        .now_ns = (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec,
        .read = read_word,
        .socket_timeout = socket_timeout,
        .held = held,
        .passed = passed,
        .handler_due = handler_due,
        .arg = &handler,
    };
    if (is_resumed(&call)) {
        call.result = -EINTR;
        call.pc += SYSCALL_BYTES;
    }
    meet_rewound(&call, regs);
    if (call.result == -EINTR) {
        for (unsigned i = 0; i < RESTART_ARGUMENTS; i++)
            call.argument[i] = (uint64_t)regs[greg_of[i]];
        struct rusage usage = {0};
        sys2(SYS_getrusage, RUSAGE_THREAD, &usage);
        call.sleeps = (uint64_t)usage.ru_nvcsw;
        if (!call.rewound)
            call.number = syscall_known(uc);
        call.libc = state != NULL && /* the kernel would read what is left from there */
                    (call.number >= 0 || (call.pc >= libc_start && call.pc < libc_end));
        handler.behind = call.pc;
        call.code_bytes = readable_before(call.pc);
        call.code = (const uint8_t *)(uintptr_t)(call.pc - call.code_bytes);
    }
    enum restart_verdict verdict = restart_repair(state != NULL ? state : &none, &call);
    if (verdict != RESTART_AGAIN && verdict != RESTART_ENDED)
        return verdict;
    regs[REG_RAX] = call.result;
    regs[REG_RIP] = (greg_t)call.pc;
    for (unsigned i = 0; i < RESTART_ARGUMENTS; i++)
        regs[greg_of[i]] = (greg_t)call.argument[i];
    return verdict;
}
