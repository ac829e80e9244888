/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * doctor_machine.c - what of the kernel, libc and limits profiling rests upon.
 */
#include <errno.h>
#include <gnu/libc-version.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "client/commands/doctor.h"

#define GLIBC_MINOR_MIN 35   /* _dl_find_object */
#define TIMERS_WANTED   4096 /* of one user: two for each thread */

static void inspect_libc(struct finding *finding, const char *program) {
    const char *version = gnu_get_libc_version();
    unsigned major = 0, minor = 0;
    (void)program;
    sscanf(version, "%u.%u", &major, &minor);
    if (major > 2 || (major == 2 && minor >= GLIBC_MINOR_MIN))
        finding_set(finding, FINDING_OK, "glibc %s", version);
    else
        finding_set(finding, FINDING_PROBLEM,
                    "glibc %s: the agent needs 2.%d or later, so use a newer system or container",
                    version, GLIBC_MINOR_MIN);
}

static void inspect_memory(struct finding *finding, const char *program) {
    int fd = memfd_create("hcct-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    (void)program;
    if (fd < 0)
        finding_set(finding, FINDING_PROBLEM,
                    "memfd_create: %s: a seccomp filter must allow it to hcctd", strerror(errno));
    else
        finding_set(finding, FINDING_OK, "can be shared (memfd_create)");
    if (fd >= 0)
        close(fd);
}

/* The kernel serves CPU-time timers on its tick, whose length is the coarse clocks' resolution. */
static void inspect_timers(struct finding *finding, const char *program) {
    struct timespec tick = {0};
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    (void)program;
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0) {
        finding_set(finding, FINDING_PROBLEM,
                    "timer_create for CPU time: %s: a seccomp filter must allow it to programs "
                    "that are profiled",
                    strerror(errno));
        return;
    }
    timer_delete(timer);
    clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    long hz = tick.tv_nsec > 0 ? 1000000000 / tick.tv_nsec : 0;
    finding_set(finding, FINDING_OK,
                "CPU-time timers, %ld a second; higher rates use a second timer while a thread "
                "computes",
                hz);
}

static void inspect_signals(struct finding *finding, const char *program) {
    struct rlimit limit = {0};
    (void)program;
    getrlimit(RLIMIT_SIGPENDING, &limit);
    if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < TIMERS_WANTED)
        finding_set(finding, FINDING_NOTE,
                    "at most %llu timers and queued signals for all processes of a user: a program "
                    "with more threads than half of that is not profiled whole (ulimit -i raises "
                    "it)",
                    (unsigned long long)limit.rlim_cur);
    else
        finding_set(finding, FINDING_OK, "enough timers for a user's threads (ulimit -i)");
}

static void inspect_files(struct finding *finding, const char *program) {
    (void)program;
    if (access("/proc/self/maps", R_OK) != 0)
        finding_set(finding, FINDING_PROBLEM,
                    "/proc can't be read (%s): hcctd finds programs' files there, so mount it",
                    strerror(errno));
    else if (geteuid() != 0)
        finding_set(finding, FINDING_OK,
                    "/proc can be read; this user's hcctd serves this user's programs, root's "
                    "those of all");
    else
        finding_set(finding, FINDING_OK, "/proc can be read; root's hcctd serves all programs");
}

static void inspect_names(struct finding *finding, const char *program) {
    const char *urls = getenv("DEBUGINFOD_URLS");
    bool server = urls != NULL && urls[0] != '\0';
    bool separate = access("/usr/lib/debug/.build-id", R_OK) == 0;
    (void)program;
    if (server || separate)
        finding_set(finding, FINDING_OK, "debug information of libraries: %s%s%s",
                    separate ? "installed in /usr/lib/debug" : "",
                    server && separate ? ", and " : "",
                    server ? "from debuginfod (DEBUGINFOD_URLS)" : "");
    else
        finding_set(finding, FINDING_NOTE,
                    "no debug information of libraries: install -dbgsym packages, libc6-dbg for "
                    "one, or set DEBUGINFOD_URLS, to see the inner functions, inlined ones and "
                    "lines of stripped code");
}

static void inspect_terminal(struct finding *finding, const char *program) {
    const char *term = getenv("TERM");
    (void)program;
    if (term == NULL || term[0] == '\0' || strcmp(term, "dumb") == 0)
        finding_set(finding, FINDING_NOTE,
                    "TERM is %s: hcct top draws no screen there, only hcct top --batch works",
                    term == NULL || term[0] == '\0' ? "not set" : term);
    else
        finding_set(finding, FINDING_OK, "%s", term);
}

const struct check doctor_machine[] = {
    {"libc", inspect_libc},         {"timers", inspect_timers},
    {"limits", inspect_signals},    {"memory", inspect_memory},
    {"files", inspect_files},       {"names", inspect_names},
    {"terminal", inspect_terminal}, {NULL, NULL},
};
