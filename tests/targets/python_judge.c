/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * python_judge.c - an agent that has each of its samples judged by the interpreter: linked with
 * --wrap, what it is about to send is compared with what faulthandler says at the same moment,
 * whose handler the program has registered: faulthandler.register(SIGUSR2, 199, all_threads=False).
 *
 * faulthandler tells a hundred frames at most, and 3.13's reads what is not there where it meets a
 * frame that is being made: no sample is judged from there on. When the process ends, the file that
 * PYTHON_JUDGE names has a line of counts, and one for each of the first differences.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/life/sys.h"
#include "preload/life/thread.h"
#include "preload/sample/emit.h"
#include "preload/wrap/real.h"

#define DUMP        199
#define TOLD_MOST   100u
#define NAMES       (1u << 16)
#define NAME_BYTES  (WIRE_NAME_MAX + 1)
#define DIFFERENT   20u /* that are described */
#define DESCRIPTION 1000

bool __real_emit_sample(struct agent_thread *thread, struct wire_slot *slot, uint32_t mark,
                        uint64_t weight);
bool __wrap_emit_sample(struct agent_thread *thread, struct wire_slot *slot, uint32_t mark,
                        uint64_t weight);
bool __real_emit_name(struct agent_thread *thread, struct wire_slot *slot, uint64_t frame,
                      const char *text, uint64_t bytes);
bool __wrap_emit_name(struct agent_thread *thread, struct wire_slot *slot, uint64_t frame,
                      const char *text, uint64_t bytes);

struct name {
    uint64_t frame;
    char text[NAME_BYTES];
};

static atomic_flag busy = ATOMIC_FLAG_INIT;
static struct name names[NAMES];
static bool judging;
static char told[1u << 20];
static struct {
    unsigned compared, equal, missed, functions;
    char different[DIFFERENT][DESCRIPTION];
} judged;

static void enter(void) {
    while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
        ;
}

static void leave(void) {
    atomic_flag_clear_explicit(&busy, memory_order_release);
}

static struct name *name_of(uint64_t frame) {
    uint32_t at = (uint32_t)((frame >> 4) * 0x9e3779b97f4a7c15ull >> 48);
    while (names[at].frame != 0 && names[at].frame != frame)
        at = (at + 1) % NAMES;
    return &names[at];
}

bool __wrap_emit_name(struct agent_thread *thread, struct wire_slot *slot, uint64_t frame,
                      const char *text, uint64_t bytes) {
    if (!__real_emit_name(thread, slot, frame, text, bytes))
        return false;
    if (wire_is_python(frame)) {
        enter();
        struct name *name = name_of(frame);
        name->frame = frame;
        memcpy(name->text, text, bytes);
        name->text[bytes] = '\0';
        leave();
    }
    return true;
}

/* faulthandler's \xe9 and \u540d as they are. */
static void plain(char *text) {
    char *out = text;
    for (const char *in = text; *in != '\0';) {
        unsigned c, used = 0;
        if (in[0] != '\\' || (sscanf(in, "\\x%2x%n", &c, (int *)&used) != 1 &&
                              sscanf(in, "\\u%4x%n", &c, (int *)&used) != 1)) {
            *out++ = *in++;
            continue;
        }
        if (c >= 0x800)
            *out++ = (char)(0xe0 | c >> 12);
        *out++ = (char)(c >= 0x800 ? 0x80 | (c >> 6 & 0x3f) : 0xc0 | c >> 6);
        *out++ = (char)(0x80 | (c & 0x3f));
        in += used;
    }
    *out = '\0';
}

/* `"/a/path.py", line 1 in name` is of the function "a.qualified.name (path.py)". */
static bool is_of(char *line, const char *function) {
    char *file = strchr(line, '"'), *name = strstr(line, " in "), *file_end;
    const char *shown = strrchr(function, '('), *qualified_end = shown - 1, *last = function;
    if (file == NULL || name == NULL || shown == NULL ||
        (file_end = strstr(++file, "\", ")) == NULL)
        return false;
    name += 4;
    *file_end = '\0';
    plain(name);
    size_t bytes = strlen(shown + 1) - 1, path = (size_t)(file_end - file);
    for (const char *c = function; c < qualified_end; c++)
        last = *c == '.' ? c + 1 : last;
    return strlen(name) == (size_t)(qualified_end - last) &&
           memcmp(name, last, strlen(name)) == 0 && path >= bytes &&
           memcmp(file_end - bytes, shown + 1, bytes) == 0;
}

static void describe(const struct agent_thread *thread, const char *said) {
    unsigned n = judged.compared - judged.equal - judged.missed;
    if (n > DIFFERENT)
        return;
    char *out = judged.different[n - 1];
    size_t used = 0;
    for (uint32_t i = thread->shown.depth; i > 0 && used < DESCRIPTION / 2; i--) {
        uint64_t frame = thread_shown(thread, i - 1)->routine;
        if (wire_is_python(frame))
            used +=
                (size_t)snprintf(out + used, DESCRIPTION / 2 - used, "%s; ", name_of(frame)->text);
    }
    used = used < DESCRIPTION / 2 ? used : DESCRIPTION / 2 - 1;
    used += (size_t)snprintf(out + used, DESCRIPTION - used, " BUT ");
    for (; *said != '\0' && used < DESCRIPTION - 1; said++)
        out[used++] = *said == '\n' ? ';' : *said;
}

/* The line, or the first one behind it, of a function that is none of the interpreter's own; NULL:
 * there is none. */
static char *next(char *line) {
    while (line != NULL && strncmp(line, "  File \"<shim>\"", 15) == 0)
        line = (line = strchr(line, '\n')) == NULL ? NULL : line + 1;
    return line != NULL && strncmp(line, "  File ", 7) == 0 ? line : NULL;
}

/* Innermost first. */
static bool is_equal(const struct agent_thread *thread, char *said) {
    unsigned n = 0;
    char *line = strstr(said, "  File ");
    line = line == NULL ? NULL : next(line);
    for (uint32_t i = thread->shown.depth; i > 0; i--) {
        uint64_t frame = thread_shown(thread, i - 1)->routine;
        if (!wire_is_python(frame))
            continue;
        if (n == TOLD_MOST)
            return true;
        char *end = line == NULL ? NULL : strchr(line, '\n');
        if (end == NULL)
            return false;
        *end = '\0';
        if (!is_of(line, name_of(frame)->text))
            return false;
        line = next(end + 1);
        judged.functions++;
        n++;
    }
    return line == NULL;
}

static uint64_t missed_of(struct wire_slot *slot) {
    return atomic_load_explicit(&slot->counter[WIRE_PYTHON_MISSED], memory_order_relaxed);
}

static void *back[5];

static void crash(int signal) {
    (void)signal;
    __builtin_longjmp(back, 1);
}

/* False: it has crashed. */
static bool call(void (*handler)(int)) {
    struct sigaction ours = {.sa_handler = crash, .sa_flags = SA_NODEFER}, before;
    struct agent_thread *self = thread_self;
    uint64_t open = 1ull << (SIGSEGV - 1), mask;
    volatile bool good = false;
    sys4(SYS_rt_sigprocmask, SIG_UNBLOCK, &open, &mask, sizeof mask);
    real_sigaction(SIGSEGV, &ours, &before);
    thread_self = NULL; /* what write() leads to is no call of the program's */
    if (__builtin_setjmp(back) == 0) {
        handler(SIGUSR2);
        good = true;
    }
    thread_self = self;
    real_sigaction(SIGSEGV, &before, NULL);
    sys4(SYS_rt_sigprocmask, SIG_SETMASK, &mask, 0, sizeof mask);
    return good;
}

/* What faulthandler says, in `told`. False: it is not registered (any more), or has crashed. */
static bool ask(void) {
    struct sigaction its;
    if (real_sigaction(SIGUSR2, NULL, &its) != 0 || its.sa_handler == SIG_DFL ||
        ftruncate(DUMP, 0) != 0 || lseek(DUMP, 0, SEEK_SET) != 0)
        return false;
    if (!call(its.sa_handler)) {
        judging = false; /* it believes to be at work still, and says nothing any more */
        return false;
    }
    ssize_t bytes = pread(DUMP, told, sizeof told - 1, 0);
    told[bytes > 0 ? bytes : 0] = '\0';
    return bytes >= 0;
}

static void judge(const struct agent_thread *thread, struct wire_slot *slot) {
    static __thread uint64_t missed;
    static char kept[sizeof told];
    int before = errno; /* of the call that the sample stands behind */
    bool has_said = judging && ask();
    errno = before;
    if (!has_said)
        return;
    memcpy(kept, told, strlen(told) + 1);
    judged.compared++;
    bool has_missed = missed_of(slot) != missed;
    missed = missed_of(slot);
    if (is_equal(thread, told))
        judged.equal++;
    else if (has_missed)
        judged.missed++;
    else
        describe(thread, kept);
}

bool __wrap_emit_sample(struct agent_thread *thread, struct wire_slot *slot, uint32_t mark,
                        uint64_t weight) {
    if (judging && thread->python != NULL) {
        enter();
        judge(thread, slot);
        leave();
    }
    return __real_emit_sample(thread, slot, mark, weight);
}

__attribute__((constructor)) static void begin(void) {
    int file = memfd_create("judge", 0);
    judging = getenv("PYTHON_JUDGE") != NULL && dup2(file, DUMP) == DUMP;
    close(file);
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("PYTHON_JUDGE");
    judging = false;
    FILE *out = path == NULL ? NULL : fopen(path, "w");
    if (out == NULL)
        return;
    fprintf(out, "%u %u %u %u\n", judged.compared, judged.equal, judged.missed, judged.functions);
    for (unsigned i = 0; i < DIFFERENT && judged.different[i][0] != '\0'; i++)
        fprintf(out, "%s\n", judged.different[i]);
    fclose(out);
}
