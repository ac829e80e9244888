/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * late_threads.c - the kernel's list of threads, and what each has.
 */
#include "preload/life/late_threads.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#include "preload/life/handler.h"
#include "preload/life/modules.h"
#include "preload/life/session.h"
#include "preload/life/signal.h"
#include "preload/life/sys.h"
#include "preload/life/thread_life.h"
#include "preload/sample/stack.h"
#include "preload/sample/ticker.h"
#include "preload/sample/trigger.h"
#include "preload/wrap/sleep.h"

#define TASKS "/proc/self/task"

/* ---- one thread ---- */

/* Threads that libc has not made share the memory of another one's variables. The kernel's own have
 * none. */
static bool is_libcs(pid_t tid) {
    void *head = NULL;
    size_t bytes;
    return sys3(SYS_get_robust_list, tid, &head, &bytes) == 0 && head != NULL;
}

enum wire_attach_fate late_threads_add(pid_t tid, uint64_t blocked) {
    if ((blocked & signal_bit(signal_number())) != 0 || !is_libcs(tid))
        return WIRE_ATTACH_CLOSED;
    struct agent_thread *thread = thread_take();
    if (thread == NULL)
        return WIRE_ATTACH_ROOMLESS;
    thread->tid = tid;
    thread->stack_low = thread->stack_high = 0;
    thread->masked = NULL;
    thread->labels = NULL;
    if (trigger_adopt(thread))
        return WIRE_ATTACH_SAMPLED;
    thread_release(thread);
    return WIRE_ATTACH_TIMERLESS;
}

/* Below what is in use so much is enough, where it is there. */
#define BELOW_BYTES 65536u
/* And so much above it is tried: the rest of a stack in use. */
#define ABOVE_BYTES (64u << 20)

static uint64_t page_of(uint64_t address) {
    return address & ~(uint64_t)(WIRE_PAGE - 1);
}

/* Its control block lies at the top of the thread's own stack. That may not be the one in use: then
 * there is something in between that is no memory. */
static void find_stack(struct agent_thread *thread, uint64_t sp) {
    uint64_t high = (uint64_t)pthread_self() & ~7ull, low = page_of(sp), at = low;
    if (sp >= high || high - sp > ABOVE_BYTES)
        return;
    while (at < high && stack_is_readable(at))
        at += WIRE_PAGE;
    if (at < high)
        return;
    while (page_of(sp) - low < BELOW_BYTES && stack_is_readable(low - WIRE_PAGE))
        low -= WIRE_PAGE;
    thread->stack_low = low;
    thread->stack_high = high;
}

struct agent_thread *late_threads_adopt(struct agent_thread *owner) {
    if (atomic_load(&owner->used) == 0 || owner->tid != (pid_t)sys0(SYS_gettid))
        return NULL;
    thread_self = owner;
    owner->masked = &sleep_masked;
    owner->labels = &labels_self;
    if (owner->tid == (pid_t)sys0(SYS_getpid))
        thread_find_main_stack(owner);
    else
        find_stack(owner, (uint64_t)__builtin_frame_address(0));
    return owner;
}

/* ---- all of them ---- */

#define SEARCH_NS   20000000u   /* between two questions whether their number has changed */
#define FORCED_NS   1000000000u /* and two searches where it has not */
#define COST_TIMES  100u        /* a search may take one part in so many of the time */
#define STATUS_ROOM 2048
#define LINE        "\nSigBlk:\t"

static _Atomic uint32_t searching;
static _Atomic uint64_t due_ns; /* CLOCK_MONOTONIC */
static uint64_t forced_ns;
static uint64_t threads_then;
static uint32_t search_number;

static uint64_t number_of_threads(void) {
    struct stat status;
    return sys4(SYS_newfstatat, AT_FDCWD, TASKS, &status, 0) == 0 ? (uint64_t)status.st_nlink : 0;
}

static uint64_t hexadecimal(const char *text) {
    uint64_t value = 0;
    for (; (*text >= '0' && *text <= '9') || (*text >= 'a' && *text <= 'f'); text++)
        value = value << 4 | (uint64_t)(*text <= '9' ? *text - '0' : *text - 'a' + 10);
    return value;
}

/* All, where it can't be known. */
static uint64_t blocked_by(int tasks, const char *tid) {
    static char text[STATUS_ROOM];
    char path[32];
    size_t length = strnlen(tid, 16);
    memcpy(path, tid, length);
    memcpy(path + length, "/status", sizeof "/status");
    long fd = sys4(SYS_openat, tasks, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return UINT64_MAX;
    long got = sys3(SYS_read, fd, text, sizeof text - 1);
    sys1(SYS_close, fd);
    text[got > 0 ? got : 0] = '\0';
    const char *line = strstr(text, LINE);
    return line != NULL ? hexadecimal(line + strlen(LINE)) : UINT64_MAX;
}

static struct agent_thread *find(pid_t tid) {
    for (struct agent_thread *t = thread_first(); t != NULL; t = t->next)
        if (atomic_load(&t->used) != 0 && t->tid == tid)
            return t;
    return NULL;
}

static pid_t number(const char *text) {
    pid_t n = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        n = n * 10 + (*text - '0');
    return n;
}

/* What it has used until now nobody has seen. */
static void count_unseen(pid_t tid) {
    struct wire_session *session = session_enter(thread_self);
    if (session == NULL)
        return;
    atomic_fetch_add(&session->lost_ns[agent.settings.ticks_to], ticker_now(ticker_cpu_clock(tid)));
    session_leave(thread_self);
}

static void see(int tasks, const char *name) {
    pid_t tid = number(name);
    struct agent_thread *thread = tid > 0 ? find(tid) : NULL;
    if (tid <= 0)
        return;
    if (thread == NULL && late_threads_add(tid, blocked_by(tasks, name)) == WIRE_ATTACH_SAMPLED) {
        thread = find(tid);
        count_unseen(tid);
    }
    if (thread != NULL)
        thread->seen = search_number;
}

struct entry { /* linux_dirent64, of getdents64 */
    uint64_t inode;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
};

static bool see_all(void) {
    static _Alignas(8) char room[4096];
    long got, tasks = sys4(SYS_openat, AT_FDCWD, TASKS, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (tasks < 0)
        return false;
    while ((got = sys3(SYS_getdents64, tasks, room, sizeof room)) > 0)
        for (long at = 0; at < got;) {
            const struct entry *entry = (const void *)(room + at);
            see((int)tasks, entry->name);
            at += entry->length;
        }
    sys1(SYS_close, tasks);
    return got == 0;
}

static void end_others(void) {
    for (struct agent_thread *t = thread_first(); t != NULL; t = t->next) {
        if (t == thread_self || atomic_load(&t->used) == 0 || t->seen == search_number)
            continue;
        trigger_stop(t);
        session_give_slot_of(t);
        thread_release(t);
    }
}

static void search(uint64_t now) {
    uint64_t n = number_of_threads();
    if (n == threads_then && now < forced_ns)
        return;
    if (now >= forced_ns) {
        modules_recheck();
        signal_learn_ignored(); /* what the application has set since was not seen */
    }
    threads_then = n;
    forced_ns = now + FORCED_NS;
    search_number++;
    if (see_all())
        end_others();
}

void late_threads_search(void) {
    uint64_t now = ticker_now(CLOCK_MONOTONIC);
    uint32_t nobody = 0;
    if (now < atomic_load_explicit(&due_ns, memory_order_relaxed) ||
        !atomic_compare_exchange_strong(&searching, &nobody, 1))
        return;
    search(now);
    uint64_t after = ticker_now(CLOCK_MONOTONIC), pause = (after - now) * COST_TIMES;
    atomic_store(&due_ns, after + (pause > SEARCH_NS ? pause : SEARCH_NS));
    atomic_store(&searching, 0);
}

void late_threads_forget(void) {
    for (struct agent_thread *t = thread_first(); t != NULL; t = t->next) {
        if (atomic_load(&t->used) == 0)
            continue;
        t->ending = true; /* a tick that is on its way does nothing */
        trigger_stop(t);
        memset(t->streams, 0, sizeof t->streams);
        thread_release(t);
    }
    atomic_store(&due_ns, 0);
    atomic_store(&searching, 0);
    threads_then = 0;
}
