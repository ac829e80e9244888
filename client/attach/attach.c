/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * attach.c - what is judged, injected and answered, in words.
 */
#include "client/attach/attach.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "client/attach/code.h"
#include "client/attach/inject.h"
#include "client/attach/judge.h"
#include "client/attach/sight.h"
#include "client/attach/target.h"
#include "common/base/options.h"

unsigned attach_rate_most(void) {
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
        [WIRE_ATTACH_ALREADY] = "it is attached to already: 'hcct detach' first",
        [WIRE_ATTACH_NOT] = "it is not attached to",
        [WIRE_ATTACH_NO_MEMORY] = "it can't map more memory",
        [WIRE_ATTACH_NO_LIBC] = "its glibc is too old: the agent needs 2.35 or later",
        [WIRE_ATTACH_NO_SIGNAL] = "it uses every signal that the agent could: none is free",
        [WIRE_ATTACH_NO_TIMER] = "no timer can be made for it (RLIMIT_SIGPENDING)",
    };
    return answer < sizeof words / sizeof *words ? words[answer] : words[WIRE_ATTACH_UNSAID];
}

/* What a function has done that was left to itself is found done. */
static bool is_done(const struct injection *injection, enum wire_attach_answer answer) {
    enum wire_attach_answer before =
        injection->request.what == WIRE_ATTACH_BEGIN ? WIRE_ATTACH_ALREADY : WIRE_ATTACH_NOT;
    return answer == WIRE_ATTACH_DONE || (injection->was_late && answer == before);
}

static bool run(struct injection *injection, const char *what) {
    enum injected result = inject(injection);
    enum wire_attach_answer answer = atomic_load(&injection->request.answer);
    if (result == INJECTED && is_done(injection, answer))
        return true;
    complain("process %d is not %s: %s", (int)injection->pid, what,
             result == INJECTED ? answer_words(answer) : inject_words(result));
    return false;
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

bool attach_begin(const struct attach *attach, struct attached *attached) {
    char why[512];
    struct injection injection = {.pid = attach->pid,
                                  .agent_path = attach->agent_path,
                                  .seconds = attach->seconds,
                                  .request = {.version = WIRE_ATTACH_VERSION,
                                              .what = WIRE_ATTACH_BEGIN,
                                              .rate = attach->rate,
                                              .lines = attach->lines,
                                              .threads = attach->threads,
                                              .leaves = attach->leaves}};
    struct wire_attach *request = &injection.request;
    if (!judge(attach->pid, why, sizeof why)) {
        complain("process %d can't be attached to: %s", (int)attach->pid, why);
        return false;
    }
    if (!find_socket(attach, request->socket))
        return false;
    injection.sends = !sight_has_file(attach->pid, attach->agent_path);
    snprintf(request->tags, sizeof request->tags, "%s", attach->tags != NULL ? attach->tags : "");
    if (!run(&injection, "attached to"))
        return false;
    /* one that was left to itself has not said how many it found */
    uint32_t sampled = injection.was_late ? request->n_threads : atomic_load(&request->sampled);
    *attached = (struct attached){.sampled = sampled,
                                  .threads = request->n_threads,
                                  .stopped_ms = (double)injection.stopped_ns / 1e6};
    return true;
}

bool attach_end(pid_t pid, double seconds) {
    struct injection injection = {
        .pid = pid,
        .seconds = seconds,
        .request = {.version = WIRE_ATTACH_VERSION, .what = WIRE_ATTACH_END}};
    return run(&injection, "detached from");
}

bool attach_is_there(pid_t pid) {
    struct target target;
    if (!target_open(&target, pid))
        return false;
    bool found = code_base_of(&target, INJECT_LIBRARY) != 0;
    target_close(&target);
    return found;
}
