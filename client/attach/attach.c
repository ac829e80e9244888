/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * attach.c - what is judged, injected and answered, in words.
 */
#include "client/attach/attach.h"

#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "client/attach/code.h"
#include "client/attach/inject.h"
#include "client/attach/judge.h"
#include "client/attach/sight.h"
#include "client/attach/target.h"
#include "common/base/clock.h"
#include "common/base/options.h"
#include "common/wire/compiler.h"
#include "common/wire/metric.h"

unsigned attach_rate_usual(void) {
    struct timespec tick = {0, 0};
    if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) != 0 || tick.tv_nsec <= 0)
        return 100;
    return (unsigned)((1000000000l + tick.tv_nsec / 2) / tick.tv_nsec);
}

static const char *answer_words(enum wire_attach_answer answer) {
    static const char *const words[] = {
        [WIRE_ATTACH_UNSAID] = "its agent has not answered",
        [WIRE_ATTACH_DONE] = "done",
        [WIRE_ATTACH_OTHER_VERSION] =
            "an agent of another version is in it: use the hcct that it came with, or start the "
            "program anew",
        [WIRE_ATTACH_REST] =
            "it is not sampled any more, but a thread of it has a timer left that it "
            "has yet to see; 'hcct detach' once more takes it back",
        [WIRE_ATTACH_NO_MEMORY] =
            "the agent finds no room in it: no memory, or its address space is limited "
            "(RLIMIT_AS, ulimit -v)",
        [WIRE_ATTACH_NO_LIBC] = "its glibc is too old: the agent needs 2.35 or later",
        [WIRE_ATTACH_NO_SIGNAL] = "it uses every signal that the agent could: none is free",
        [WIRE_ATTACH_NO_TIMER] =
            "no timer can be made for its threads: its user may have no more of them "
            "(RLIMIT_SIGPENDING, ulimit -i)",
        [WIRE_ATTACH_NOT_BOUND] =
            "the words by which its objects call libc can't be changed: attach by CPU time, at the "
            "rate that is used without --rate",
    };
    bool known = answer < HCCT_ARRAY_LEN(words) && words[answer] != NULL;
    return words[known ? answer : WIRE_ATTACH_UNSAID];
}

/* What a function has done that was left to itself is found done. */
static bool is_done(const struct injection *injection, enum wire_attach_answer answer) {
    enum wire_attach_answer before =
        injection->request.what == WIRE_ATTACH_BEGIN ? WIRE_ATTACH_ALREADY : WIRE_ATTACH_NOT;
    return answer == WIRE_ATTACH_DONE || (injection->was_late && answer == before);
}

bool attach_is_limited(pid_t pid) {
    uint64_t most;
    return target_limit(pid, "Max address space", &most) && most != UINT64_MAX;
}

bool attach_is_filtered(pid_t pid) {
    uint64_t mode;
    return target_status(pid, 0, "Seccomp", false, &mode) && mode == SECCOMP_MODE_FILTER;
}

static const char *why_not_injected(const struct injection *injection, enum injected result) {
    if (result == INJECT_NOT_LOADED && attach_is_limited(injection->pid))
        return "its loader could not load the agent, for which there may be no room: its address "
               "space is limited (RLIMIT_AS, ulimit -v)";
    return inject_words(result);
}

#define REST_NS 2000000 /* until threads that were woken have had their last tick */

/* As often as it takes. */
static enum injected inject_all(struct injection *injection) {
    const struct timespec rest = {0, REST_NS};
    enum injected result = inject(injection);
    uint64_t until = clock_now() + (uint64_t)(injection->seconds * CLOCK_SECOND);
    while (result == INJECTED && atomic_load(&injection->request.answer) == WIRE_ATTACH_REST &&
           clock_now() < until) {
        nanosleep(&rest, NULL);
        result = inject(injection);
    }
    return result;
}

static bool run(struct injection *injection, const char *what) {
    enum injected result = inject_all(injection);
    enum wire_attach_answer answer = atomic_load(&injection->request.answer);
    if (result == INJECTED && is_done(injection, answer))
        return true;
    if (result == INJECTED && answer == WIRE_ATTACH_ALREADY)
        complain("process %d is attached to already: 'hcct detach' first", (int)injection->pid);
    else if (result == INJECTED && answer == WIRE_ATTACH_NOT)
        complain("process %d is not attached to", (int)injection->pid);
    else
        complain("process %d is not %s: %s", (int)injection->pid, what,
                 result == INJECTED ? answer_words(answer) : why_not_injected(injection, result));
    return false;
}

bool attach_says_missing(const struct attached *attached, char *text, size_t bytes) {
    const struct {
        unsigned n;
        const char *why;
    } causes[] = {
        {attached->closed, "blocking the agent's signal, or not made by the C library"},
        {attached->timerless, "for want of a timer (RLIMIT_SIGPENDING, ulimit -i)"},
        {attached->roomless, "for want of memory (RLIMIT_AS, ulimit -v)"},
    };
    size_t used = (size_t)snprintf(text, bytes, "%u of %u threads are not sampled%s",
                                   attached->threads - attached->sampled, attached->threads,
                                   attached->closed > 0 && attached->events ? " by time" : "");
    for (size_t i = 0, said = 0; i < HCCT_ARRAY_LEN(causes); i++)
        if (causes[i].n > 0 && used < bytes)
            used += (size_t)snprintf(text + used, bytes - used, "%s%u %s",
                                     said++ == 0 ? ": " : ", ", causes[i].n, causes[i].why);
    return attached->sampled < attached->threads;
}

/* By which path the process reaches hcctd. */
static bool find_socket(const struct attach *attach, char socket[PATHS_SOCKET_MAX]) {
    char seen[PATH_MAX];
    if (attach->socket_seen != NULL) {
        snprintf(socket, PATHS_SOCKET_MAX, "%s", attach->socket_seen);
        return true;
    }
    if (sight_of_socket(attach->pid, attach->socket, seen) && strlen(seen) < PATHS_SOCKET_MAX) {
        strcpy(socket, seen);
        return true;
    }
    complain("process %d has another root directory, where hcctd's socket %s is not: mount its "
             "directory there, as that or as /run/hcct; or record it by 'hcct record -p %d'",
             (int)attach->pid, attach->socket, (int)attach->pid);
    return false;
}

static bool has(const struct metric_list *list, bool (*kind)(uint32_t)) {
    for (unsigned i = 0; i < list->n; i++)
        if (kind(list->metric[i]->collector))
            return true;
    return false;
}

static bool is_by_ticks(uint32_t collector) {
    return !wire_of_events(collector);
}

bool attach_has_ticks(const struct metric_list *metrics) {
    return has(metrics, is_by_ticks);
}

const char *attach_says_unseen(const struct attach *attach, const struct attached *attached) {
    if (attached->own_malloc && has(attach->metrics, wire_of_blocks))
        return "its executable has a malloc of its own: what it allocates itself is not seen, only "
               "what its libraries do; start it under 'hcct record --' with that malloc as a "
               "library to see all";
    if (has(attach->metrics, wire_of_heap))
        return "heap is what is allocated from now on and not freed: blocks that were there before "
               "are not known";
    if (attached->asleep)
        return "it has changed its user, and threads of it that sleep could not be woken: they are "
               "seen when their calls are over";
    return NULL;
}

static void name_metrics(const struct metric_list *list, struct wire_attach *request) {
    for (unsigned i = 0; i < list->n && i < WIRE_METRICS_MAX; i++) {
        request->metric[i] = list->metric[i]->collector;
        request->metrics = i + 1;
        if (list->metric[i]->clock != WIRE_CLOCKS)
            request->clock = list->metric[i]->clock;
    }
}

/* Once, or as often as it takes: a process has more threads than can be named at once, or asks for
 * them itself just now. False: some were not woken, and are met when their calls are over. */
static bool wake_threads(const struct attach *attach, struct attached *attached) {
    const struct timespec pause = {0, REST_NS};
    uint64_t until = clock_now() + (uint64_t)(attach->seconds * CLOCK_SECOND);
    struct injection injection = {
        .pid = attach->pid,
        .seconds = attach->seconds,
        .request = {.version = WIRE_ATTACH_VERSION, .what = WIRE_ATTACH_WAKE}};
    enum wire_attach_answer answer;
    do {
        size_t from = injection.from;
        if (inject(&injection) != INJECTED)
            return false;
        answer = atomic_load(&injection.request.answer);
        if (answer == WIRE_ATTACH_REST) {
            injection.from = from;
            nanosleep(&pause, NULL);
        }
    } while ((answer == WIRE_ATTACH_REST || (answer == WIRE_ATTACH_DONE && injection.from != 0)) &&
             clock_now() < until);
    double ms = (double)injection.stopped_ns / 1e6;
    attached->stopped_ms = ms > attached->stopped_ms ? ms : attached->stopped_ms;
    return answer == WIRE_ATTACH_DONE && injection.from == 0;
}

bool attach_begin(const struct attach *attach, struct attached *attached) {
    char why[512];
    struct injection injection = {.pid = attach->pid,
                                  .agent_path = attach->agent_path,
                                  .seconds = attach->seconds,
                                  .request = {.version = WIRE_ATTACH_VERSION,
                                              .what = WIRE_ATTACH_BEGIN,
                                              .rate = attach->rate,
                                              .clock = attach->clock,
                                              .lines = attach->lines,
                                              .threads = attach->threads,
                                              .python = attach->python,
                                              .leaves = attach->leaves}};
    struct wire_attach *request = &injection.request;
    if (!judge(attach->pid, attach->agent_path, why, sizeof why)) {
        complain("process %d can't be attached to: %s", (int)attach->pid, why);
        return false;
    }
    if (!find_socket(attach, request->socket))
        return false;
    injection.sends = !sight_has_file(attach->pid, attach->agent_path);
    name_metrics(attach->metrics, request);
    snprintf(request->tags, sizeof request->tags, "%s", attach->tags != NULL ? attach->tags : "");
    if (!run(&injection, "attached to"))
        return false;
    *attached = (struct attached){.sampled = atomic_load(&request->fates[WIRE_ATTACH_SAMPLED]),
                                  .threads = request->n_threads,
                                  .closed = atomic_load(&request->fates[WIRE_ATTACH_CLOSED]),
                                  .events = has(attach->metrics, wire_of_events),
                                  .own_malloc = injection.own_malloc,
                                  .timerless = atomic_load(&request->fates[WIRE_ATTACH_TIMERLESS]),
                                  .roomless = atomic_load(&request->fates[WIRE_ATTACH_ROOMLESS]),
                                  .stopped_ms = (double)injection.stopped_ns / 1e6};
    if (injection.was_late) /* one that was left to itself has not said how many it found */
        attached->sampled = attached->threads;
    if (!attach_has_ticks(attach->metrics)) { /* events need no signal */
        attached->sampled += attached->closed;
        attached->closed = 0;
    }
    bool unread = atomic_load(&request->unread) != 0;
    if ((unread || injection.was_late) && !wake_threads(attach, attached))
        attached->asleep = unread;
    return true;
}

int attach_end(pid_t pid, double seconds) {
    struct injection injection = {
        .pid = pid,
        .seconds = seconds,
        .request = {.version = WIRE_ATTACH_VERSION, .what = WIRE_ATTACH_END}};
    if (run(&injection, "detached from"))
        return HCCT_EXIT_OK;
    return atomic_load(&injection.request.answer) == WIRE_ATTACH_NOT ? HCCT_EXIT_NO_DATA
                                                                     : HCCT_EXIT_FAILURE;
}

bool attach_is_there(pid_t pid) {
    struct target target;
    if (!target_open(&target, pid))
        return false;
    bool found = code_base_of(&target, INJECT_LIBRARY) != 0;
    target_close(&target);
    return found;
}
