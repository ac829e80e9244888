/*
 * ask.c - one thread, one question at a time.
 *
 * Profiles are asked for as .pb.gz: they are what is kept when somebody wants a copy of what is on
 * the screen, and one reader reads them all.
 */
#include "client/top/ask.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "client/ask.h"
#include "common/base/memory.h"
#include "common/render/format.h"

#define PHI_DEFAULT 1e-4 /* a screen has no room for less, and is drawn anew all the time */

/* The first question about a large program waits until its symbols have been read. */
#define ANSWER_TIMEOUT_MS 120000

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- one question ---- */

static void first_line(char *line, size_t bytes, const char *body) {
    snprintf(line, bytes, "%.*s", (int)strcspn(body, "\n"), body);
}

/* True: `answer` is a good one, and the caller's to free. Else said->outcome and its sentence. */
static bool exchange(const char *socket, const char *target, struct http_answer *answer,
                     struct top_said *said) {
    enum http_result result = http_exchange(socket, "GET", target, ANSWER_TIMEOUT_MS, answer,
                                            said->sentence, sizeof said->sentence);
    if (result != HTTP_DONE) {
        said->outcome = result == HTTP_NO_DAEMON ? TOP_SAID_NO_DAEMON : TOP_SAID_ERROR;
        return false;
    }
    if (answer->status / 100 == 2)
        return true;
    said->outcome = answer->status == 404 ? TOP_SAID_NOTHING : TOP_SAID_ERROR;
    said->window_refused = answer->status == 400;
    first_line(said->sentence, sizeof said->sentence, answer->body);
    if (said->sentence[0] == '\0')
        snprintf(said->sentence, sizeof said->sentence, "hcctd answered with status %u",
                 answer->status);
    free(answer->body);
    return false;
}

static void start_query(struct query *query, const char *path, const struct top_want *want) {
    query_start(query, path);
    if (want->pid != 0)
        query_add_unsigned(query, "pid", want->pid);
    if (want->exe[0] != '\0')
        query_add(query, "exe", want->exe);
}

static bool unreadable(struct top_said *said, const char *what) {
    said->outcome = TOP_SAID_ERROR;
    snprintf(said->sentence, sizeof said->sentence,
             "hcctd's answer can't be read (%.300s): hcct and hcctd may be of different versions",
             what);
    return false;
}

static bool ask_profile(const char *socket, const struct top_want *want, int span,
                        struct profile **profile, struct top_said *said) {
    struct http_answer answer;
    struct query query;
    char error[256];
    start_query(&query, "/v1/hot", want);
    query_add(&query, "format", "pprof");
    query_add_fraction(&query, "phi", want->phi > 0 ? want->phi : PHI_DEFAULT);
    if (span == TOP_RECENT)
        query_add(&query, "window", want->window);
    if (!exchange(socket, query.text, &answer, said))
        return false;
    *profile = read_pprof(answer.body, answer.bytes, error, sizeof error);
    said->copy[span] = (struct top_copy){answer.body, answer.bytes};
    return *profile != NULL || unreadable(said, error);
}

static void ask_contexts(const char *socket, const struct top_want *want, struct top_said *said) {
    struct profile *total = NULL, *recent = NULL;
    if (!ask_profile(socket, want, TOP_TOTAL, &total, said)) {
        said->window_refused = false;
        return;
    }
    if (want->window == NULL || ask_profile(socket, want, TOP_RECENT, &recent, said) ||
        said->window_refused) {
        said->outcome = TOP_SAID_ANSWER;
        said->model = top_model_make(total, recent, want->by, want->n);
    }
    profile_free(total);
    profile_free(recent);
}

static void ask_list(const char *socket, const struct top_want *want, struct top_said *said) {
    struct http_answer answer;
    struct query query;
    bool threads = want->what == TOP_ASK_THREADS;
    start_query(&query, "/v1/threads", want);
    if (!exchange(socket, threads ? query.text : "/v1/processes", &answer, said))
        return;
    if (threads ? !top_threads_parse(answer.body, answer.bytes, now_ns(), &said->threads)
                : !processes_parse(answer.body, answer.bytes, &said->processes))
        unreadable(said, "it is not the JSON that was asked for");
    free(answer.body);
}

void top_ask_once(const char *socket, const struct top_want *want, struct top_said *said) {
    *said = (struct top_said){.want = *want, .outcome = TOP_SAID_ANSWER};
    if (want->what == TOP_ASK_CONTEXTS)
        ask_contexts(socket, want, said);
    else
        ask_list(socket, want, said);
}

void top_copies_free(struct top_copy copy[static TOP_SPANS]) {
    for (int span = 0; span < TOP_SPANS; span++) {
        free(copy[span].data);
        copy[span] = (struct top_copy){0};
    }
}

void top_said_clear(struct top_said *said) {
    top_model_free(said->model);
    top_threads_free(&said->threads);
    processes_free(&said->processes);
    top_copies_free(said->copy);
    *said = (struct top_said){0};
}

/* ---- the thread ---- */

struct top_ask {
    char socket[PATHS_SOCKET_MAX];
    int fd; /* eventfd */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* want or stop */
    struct top_want want;
    bool fresh; /* want has not been asked yet */
    bool stop;
    bool done;             /* whoever of both comes last frees all */
    uint64_t asked_ns;     /* when the question under way was asked; 0: there is none */
    struct top_said *said; /* to be taken */
};

static void discard(struct top_said *said) {
    if (said == NULL)
        return;
    top_said_clear(said);
    free(said);
}

static void free_ask(struct top_ask *ask) {
    discard(ask->said);
    close(ask->fd);
    pthread_cond_destroy(&ask->changed);
    pthread_mutex_destroy(&ask->lock);
    free(ask);
}

/* Waits, with the lock, until it is time to ask. False: to stop. */
static bool wait_for_turn(struct top_ask *ask, uint64_t last_ns) {
    while (!ask->stop && !ask->fresh) {
        uint64_t next = last_ns + (uint64_t)(ask->want.delay * 1e9);
        struct timespec until = {(time_t)(next / 1000000000u), (long)(next % 1000000000u)};
        if (ask->want.paused)
            pthread_cond_wait(&ask->changed, &ask->lock);
        else if (pthread_cond_timedwait(&ask->changed, &ask->lock, &until) == ETIMEDOUT)
            break;
    }
    return !ask->stop;
}

static void post(struct top_ask *ask, struct top_said *said) {
    uint64_t one = 1;
    discard(ask->said);
    ask->said = said;
    if (write(ask->fd, &one, sizeof one) < 0) {
        /* the counter is full: whoever waits has been told */
    }
}

static void *keep_asking(void *arg) {
    struct top_ask *ask = arg;
    uint64_t last_ns = 0;
    pthread_mutex_lock(&ask->lock);
    while (wait_for_turn(ask, last_ns)) {
        struct top_want want = ask->want;
        struct top_said *said = memory_new(1, sizeof *said, "an answer");
        ask->fresh = false;
        ask->asked_ns = last_ns = now_ns();
        pthread_mutex_unlock(&ask->lock);
        top_ask_once(ask->socket, &want, said);
        pthread_mutex_lock(&ask->lock);
        ask->asked_ns = 0;
        post(ask, said);
    }
    bool last = ask->done;
    ask->done = true;
    pthread_mutex_unlock(&ask->lock);
    if (last)
        free_ask(ask);
    return NULL;
}

/* Signals are for the thread that has the terminal. */
static bool start_thread(struct top_ask *ask) {
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_t thread;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&thread, &attributes, keep_asking, ask);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    errno = failed;
    return failed == 0;
}

struct top_ask *top_ask_start(const char *socket) {
    struct top_ask *ask = memory_new(1, sizeof *ask, "questions");
    pthread_condattr_t monotonic;
    snprintf(ask->socket, sizeof ask->socket, "%s", socket);
    pthread_mutex_init(&ask->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&ask->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    ask->want.paused = true;
    ask->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (ask->fd >= 0 && start_thread(ask))
        return ask;
    int why = errno;
    free_ask(ask);
    errno = why;
    return NULL;
}

void top_ask_want(struct top_ask *ask, const struct top_want *want, bool now) {
    pthread_mutex_lock(&ask->lock);
    ask->want = *want;
    ask->fresh = now;
    pthread_cond_signal(&ask->changed);
    pthread_mutex_unlock(&ask->lock);
}

int top_ask_fd(const struct top_ask *ask) {
    return ask->fd;
}

struct top_said *top_ask_take(struct top_ask *ask) {
    uint64_t count;
    if (read(ask->fd, &count, sizeof count) < 0)
        return NULL;
    pthread_mutex_lock(&ask->lock);
    struct top_said *said = ask->said;
    ask->said = NULL;
    pthread_mutex_unlock(&ask->lock);
    return said;
}

uint64_t top_ask_waiting_ns(struct top_ask *ask) {
    pthread_mutex_lock(&ask->lock);
    uint64_t since = ask->asked_ns;
    pthread_mutex_unlock(&ask->lock);
    return since > 0 ? now_ns() - since : 0;
}

void top_ask_stop(struct top_ask *ask) {
    pthread_mutex_lock(&ask->lock);
    ask->stop = true;
    pthread_cond_signal(&ask->changed);
    bool last = ask->done;
    ask->done = true;
    pthread_mutex_unlock(&ask->lock);
    if (last)
        free_ask(ask);
}
