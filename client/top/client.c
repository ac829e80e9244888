/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * client.c - one thread, one request at a time.
 */
#include "client/top/client.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/memory.h"

/* ---- one request ---- */

void top_client_once(const struct top_source *source, const struct top_request *request,
                     struct top_response *response) {
    *response = (struct top_response){.request = *request, .outcome = TOP_ANSWERED};
    source->answer(source, request, response);
}

void top_copies_free(struct top_copy copy[static TOP_SPANS]) {
    for (int span = 0; span < TOP_SPANS; span++) {
        free(copy[span].data);
        copy[span] = (struct top_copy){0};
    }
}

void top_response_clear(struct top_response *response) {
    top_model_free(response->model);
    top_threads_free(&response->threads);
    processes_free(&response->processes);
    top_copies_free(response->copy);
    *response = (struct top_response){0};
}

/* ---- the thread ---- */

struct top_client {
    const struct top_source *source;
    int fd; /* eventfd */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* request or stop */
    struct top_request request;
    bool fresh; /* request has not been sent yet */
    bool stop;
    bool done;                     /* whoever of both comes last frees all */
    uint64_t asked_ns;             /* when the question under way was asked; 0: there is none */
    struct top_response *response; /* to be taken */
};

static void discard(struct top_response *response) {
    if (response == NULL)
        return;
    top_response_clear(response);
    free(response);
}

static void free_ask(struct top_client *client) {
    discard(client->response);
    close(client->fd);
    pthread_cond_destroy(&client->changed);
    pthread_mutex_destroy(&client->lock);
    free(client);
}

/* Waits, with the lock, until it is time to ask. False: to stop. */
static bool wait_for_turn(struct top_client *client, uint64_t last_ns) {
    while (!client->stop && !client->fresh) {
        uint64_t next = last_ns + (uint64_t)(client->request.delay * 1e9);
        struct timespec until = {(time_t)(next / 1000000000u), (long)(next % 1000000000u)};
        if (client->request.paused)
            pthread_cond_wait(&client->changed, &client->lock);
        else if (pthread_cond_timedwait(&client->changed, &client->lock, &until) == ETIMEDOUT)
            break;
    }
    return !client->stop;
}

static void post(struct top_client *client, struct top_response *response) {
    uint64_t one = 1;
    discard(client->response);
    client->response = response;
    if (write(client->fd, &one, sizeof one) < 0) {
        /* the counter is full: whoever waits has been woken */
    }
}

static void *keep_asking(void *arg) {
    struct top_client *client = arg;
    uint64_t last_ns = 0;
    pthread_mutex_lock(&client->lock);
    while (wait_for_turn(client, last_ns)) {
        struct top_request request = client->request;
        struct top_response *response = memory_new(1, sizeof *response, "an answer");
        client->fresh = false;
        client->asked_ns = last_ns = clock_now();
        pthread_mutex_unlock(&client->lock);
        top_client_once(client->source, &request, response);
        pthread_mutex_lock(&client->lock);
        client->asked_ns = 0;
        post(client, response);
    }
    bool last = client->done;
    client->done = true;
    pthread_mutex_unlock(&client->lock);
    if (last)
        free_ask(client);
    return NULL;
}

/* Signals are for the thread that has the terminal. */
static bool start_thread(struct top_client *client) {
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_t thread;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&thread, &attributes, keep_asking, client);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    errno = failed;
    return failed == 0;
}

struct top_client *top_client_start(const struct top_source *source) {
    struct top_client *client = memory_new(1, sizeof *client, "questions");
    pthread_condattr_t monotonic;
    client->source = source;
    pthread_mutex_init(&client->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&client->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    client->request.paused = true;
    client->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (client->fd >= 0 && start_thread(client))
        return client;
    int why = errno;
    free_ask(client);
    errno = why;
    return NULL;
}

void top_client_request(struct top_client *client, const struct top_request *request, bool now) {
    pthread_mutex_lock(&client->lock);
    client->request = *request;
    client->fresh = now;
    pthread_cond_signal(&client->changed);
    pthread_mutex_unlock(&client->lock);
}

const char *top_client_of(const struct top_client *client) {
    return client->source->name;
}

int top_client_fd(const struct top_client *client) {
    return client->fd;
}

struct top_response *top_client_take(struct top_client *client) {
    uint64_t count;
    if (read(client->fd, &count, sizeof count) < 0)
        return NULL;
    pthread_mutex_lock(&client->lock);
    struct top_response *response = client->response;
    client->response = NULL;
    pthread_mutex_unlock(&client->lock);
    return response;
}

uint64_t top_client_waiting_ns(struct top_client *client) {
    pthread_mutex_lock(&client->lock);
    uint64_t since = client->asked_ns;
    pthread_mutex_unlock(&client->lock);
    return since > 0 ? clock_now() - since : 0;
}

void top_client_stop(struct top_client *client) {
    pthread_mutex_lock(&client->lock);
    client->stop = true;
    pthread_cond_signal(&client->changed);
    bool last = client->done;
    client->done = true;
    pthread_mutex_unlock(&client->lock);
    if (last)
        free_ask(client);
}
