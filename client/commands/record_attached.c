/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * record_attached.c - attaches for a while.
 */
#include "client/commands/record_attached.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "client/attach/attach.h"
#include "client/locate.h"
#include "common/base/clock.h"
#include "common/base/options.h"
#include "common/wire/compiler.h"
#include "common/wire/metric.h"
#include "common/wire/wire.h"

#define WAIT_SECONDS 5
#define SLICE_MS     50

static const int ending[] = {SIGHUP, SIGINT, SIGTERM};

/* ---- options ---- */

static bool parse_duration(const char *text, double *seconds) {
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"ms", 0.001}, {"m", 60}, {"h", 3600}};
    char *end;
    double number = strtod(text, &end);
    if (end == text || !(number > 0) || number > 1e6)
        return false;
    for (size_t i = 0; i < HCCT_ARRAY_LEN(units); i++)
        if (strcmp(end, units[i].unit) == 0) {
            *seconds = number * units[i].seconds;
            return true;
        }
    return false;
}

static const char *contradiction(const struct record_options *options) {
    const struct rule {
        bool broken;
        const char *sentence;
    } rules[] = {
        {record_counts_calls(options), "--collector calls"},
        {options->burst != NULL, "--burst"},
        {options->check, "--check"},
    };
    for (size_t i = 0; i < HCCT_ARRAY_LEN(rules); i++)
        if (rules[i].broken)
            return rules[i].sentence;
    return NULL;
}

bool record_attached_agrees(struct record_options *options) {
    const char *what = contradiction(options);
    options->no_follow = true;
    if (options->duration != NULL && !parse_duration(options->duration, &options->seconds)) {
        complain("--duration '%s' is no time such as 10s, 500ms or 2m", options->duration);
        return false;
    }
    if (what != NULL) {
        complain("%s needs an agent that is there from the beginning, which -p can't have: start "
                 "the program under 'hcct record --'",
                 what);
        return false;
    }
    if (options->rate == 0)
        options->rate = attach_rate_usual();
    return true;
}

/* ---- a recording ---- */

/* Those that end it wait until it has been left. */
static void hold_signals(int how) {
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < HCCT_ARRAY_LEN(ending); i++)
        sigaddset(&set, ending[i]);
    sigprocmask(how, &set, NULL);
}

static bool is_wall(const struct record_options *options) {
    return options->clock != NULL && strcmp(options->clock, "wall") == 0;
}

bool record_attached_begin(const struct record_options *options, const char *socket,
                           const char *seen) {
    char library[PATH_MAX], why[256];
    struct metric_list metrics;
    record_metrics(options, &metrics);
    const struct attach attach = {.pid = options->pid,
                                  .agent_path = library,
                                  .socket = socket,
                                  .socket_seen = seen,
                                  .tags = options->tags,
                                  .rate = options->rate,
                                  .clock = is_wall(options) ? WIRE_CLOCK_WALL : WIRE_CLOCK_CPU,
                                  .lines = options->lines,
                                  .threads = options->threads,
                                  .python = options->python,
                                  .metrics = &metrics,
                                  .leaves = options->socket == NULL,
                                  .seconds = WAIT_SECONDS};
    struct attached attached;
    const char *unseen;
    if (!locate_late_agent(library))
        return false;
    hold_signals(SIG_BLOCK);
    if (!attach_begin(&attach, &attached)) {
        hold_signals(SIG_UNBLOCK);
        return false;
    }
    if (attach_says_missing(&attached, why, sizeof why))
        complain("%s", why);
    unseen = attach_says_unseen(&attach, &attached);
    if (unseen != NULL)
        complain("%s", unseen);
    return true;
}

static bool has_ended(int pidfd, pid_t pid) {
    struct pollfd end = {.fd = pidfd, .events = POLLIN};
    return pidfd >= 0 ? poll(&end, 1, 0) == 1 : kill(pid, 0) != 0 && errno == ESRCH;
}

void record_attached_wait(const struct record_options *options) {
    const struct timespec slice = {0, SLICE_MS * 1000000l};
    uint64_t until = clock_now() + (uint64_t)(options->seconds * CLOCK_SECOND);
    pid_t pid = options->pid;
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < HCCT_ARRAY_LEN(ending); i++)
        sigaddset(&set, ending[i]);
    while ((options->seconds <= 0 || clock_now() < until) && !has_ended(pidfd, pid))
        if (sigtimedwait(&set, NULL, &slice) > 0)
            break;
    if (pidfd >= 0)
        close(pidfd);
}

void record_attached_end(const struct record_options *options) {
    if (kill(options->pid, 0) == 0 && attach_is_there(options->pid))
        (void)attach_end(options->pid, WAIT_SECONDS);
    hold_signals(SIG_UNBLOCK);
}

/* Threads that sleep are woken for it. */
static bool needs_no_work(const struct record_options *options) {
    return (options->clock != NULL && strcmp(options->clock, "wall") == 0) ||
           record_samples_waits(options);
}

const char *record_attached_unseen(const struct record_options *options) {
    pid_t pid = options->pid;
    if (attach_is_limited(pid))
        return "its address space is limited (RLIMIT_AS, ulimit -v), and the agent may have found "
               "no room for what it shares with hcctd";
    if (attach_is_filtered(pid))
        return "a seccomp filter may refuse it the socket by which its agent reaches hcctd; or it "
               "used no CPU time";
    if (needs_no_work(options))
        return "none of its threads has come to run the agent in that time: on a busy machine "
               "a longer --duration helps";
    return "no clock tick of the kernel has met it at work: it used no CPU time, or works in step "
           "with "
           "the ticks (a --rate above theirs, 1000 say, does not go by them)";
}

uid_t record_attached_user(pid_t pid) {
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    return stat(path, &status) == 0 ? status.st_uid : geteuid();
}

void record_attached_name(pid_t pid, char *name, size_t bytes) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    snprintf(name, bytes, "process %d", (int)pid);
    FILE *file = fopen(path, "re");
    if (file != NULL && fgets(name, (int)bytes, file) != NULL)
        name[strcspn(name, "\n")] = '\0';
    if (file != NULL)
        fclose(file);
}
