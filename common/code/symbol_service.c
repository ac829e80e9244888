/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * symbol_service.c - two pools of workers, one for debug information and one for bare names, and
 * waiting for them.
 *
 * What is asked of a file that is one user's alone goes on that user's turn, whoever asks: it may
 * have been made to take long.
 */
#include "common/code/symbol_service.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "common/code/elf_pool.h"
#include "common/code/elf_protocol.h"
#include "common/code/module.h"
#include "common/code/symbol_cache.h"

#define CACHE_BYTES (128u << 20)
#define AT_ONCE     64u /* addresses of one request: what is known is soon to be had */
#define NEW_PART    10  /* of the addresses, one in so many of new modules is worth a wait */
#define ROUNDS      2   /* to ask again for what fell out of the cache before it was read */

/* Addresses of one module to be found out. */
struct job {
    struct elf_job job; /* first */
    uint32_t module;
    size_t n;
    struct symbol_query query[];
};

/* Functions of one module to be named, or names to be made readable, for somebody who waits. */
struct naming {
    struct elf_job job; /* first */
    uint32_t module;
    size_t n;
    const struct symbol_query *query;
    const char *const *name; /* NULL: they are to be found by `query` */
    struct symbol *symbol;
    bool done;
};

struct symbol_service {
    struct symbol_cache *cache;
    struct elf_pool *full, *names;
    pthread_mutex_t lock;
    pthread_cond_t done;
    struct first {
        uint32_t module; /* whose it is */
        int64_t asked;   /* elf_now() of it; 0: never */
    } first[MODULE_PLACES];
};

/* ---- the pools' threads ---- */

static void tell(struct symbol_service *service) {
    pthread_mutex_lock(&service->lock);
    pthread_cond_broadcast(&service->done);
    pthread_mutex_unlock(&service->lock);
}

static void find_out(struct elf_worker *worker, struct elf_job *its_job, void *arg) {
    struct symbol_service *service = arg;
    struct job *job = (struct job *)its_job;
    struct symbol symbol[AT_ONCE];
    for (size_t at = 0; at < job->n; at += AT_ONCE) {
        const struct symbol_query *query = &job->query[at];
        size_t n = job->n - at < AT_ONCE ? job->n - at : AT_ONCE;
        bool ok = elf_worker_symbols(worker, job->module, query, n, symbol);
        for (size_t i = 0; i < n; i++) {
            if (ok)
                symbol_cache_put(service->cache, job->module, &query[i], &symbol[i]);
            else
                symbol_cache_drop(service->cache, job->module, &query[i]);
            symbol_clear(&symbol[i]);
        }
        tell(service);
    }
    free(job);
}

static void drop_job(struct elf_job *job, void *unused) {
    (void)unused;
    free((struct job *)job);
}

/* Where the child fails over one of many, ever fewer are tried, and that one is passed over. */
static void make_readable(struct elf_worker *worker, const struct naming *naming) {
    size_t most = naming->n;
    for (size_t at = 0, done; at < naming->n; at += done) {
        size_t n = naming->n - at < most ? naming->n - at : most;
        done = elf_worker_demangle(worker, naming->name + at, n, naming->symbol + at);
        if (done > 0)
            most = 2 * n;
        else if (n > 1)
            most = n / 2;
        else
            done = 1;
    }
}

static void name(struct elf_worker *worker, struct elf_job *job, void *arg) {
    struct symbol_service *service = arg;
    struct naming *naming = (struct naming *)job;
    if (naming->name != NULL)
        make_readable(worker, naming);
    else
        elf_worker_names(worker, naming->module, naming->query, naming->n, naming->symbol);
    pthread_mutex_lock(&service->lock);
    naming->done = true;
    pthread_cond_broadcast(&service->done);
    pthread_mutex_unlock(&service->lock);
}

/* There is none that waits when the service ends. */
static void drop_naming(struct elf_job *job, void *unused) {
    (void)job;
    (void)unused;
}

/* ---- life ---- */

static bool start(struct symbol_service *service, const char *program) {
    static const struct elf_work full = {.run = find_out, .drop = drop_job, .is_given_up = true},
                                 names = {.run = name, .drop = drop_naming};
    pthread_condattr_t monotonic;
    pthread_mutex_init(&service->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&service->done, &monotonic);
    pthread_condattr_destroy(&monotonic);
    service->cache = symbol_cache_new(CACHE_BYTES);
    if (service->cache == NULL)
        return false;
    service->full = elf_pool_start(program, &full, service);
    service->names = elf_pool_start(program, &names, service);
    return service->full != NULL && service->names != NULL;
}

void symbol_service_free(struct symbol_service *service) {
    if (service == NULL)
        return;
    elf_pool_stop(service->full);
    elf_pool_stop(service->names);
    symbol_cache_free(service->cache);
    pthread_cond_destroy(&service->done);
    pthread_mutex_destroy(&service->lock);
    free(service);
}

struct symbol_service *symbol_service_new(const char *program) {
    struct symbol_service *service = calloc(1, sizeof *service);
    if (service != NULL && !start(service, program)) {
        symbol_service_free(service);
        return NULL;
    }
    return service;
}

/* ---- asking for jobs ---- */

/* Small files go first, on the turn of the user whose they are. */
static struct elf_job its_turn(uint32_t module) {
    struct elf_job job = {.uid = MODULE_NOBODY};
    struct module_info info;
    struct stat status;
    if (!module_get(module, &info))
        return job;
    job.uid = info.uid;
    if (info.fd >= 0 && fstat(info.fd, &status) == 0)
        job.cost = (uint64_t)status.st_size;
    return job;
}

/* Under the lock. */
static int64_t first_asked(const struct symbol_service *service, uint32_t module) {
    const struct first *first = &service->first[module_place(module)];
    return first->module == module ? first->asked : 0;
}

static void submit(struct symbol_service *service, struct job *job) {
    uint32_t module = job->module;
    job->job = its_turn(module);
    pthread_mutex_lock(&service->lock);
    if (first_asked(service, module) == 0)
        service->first[module_place(module)] = (struct first){module, elf_now()};
    pthread_mutex_unlock(&service->lock);
    elf_pool_put(service->full, &job->job);
}

static bool is_open(const struct symbol_request *request) {
    return request->symbol.n_lines == 0;
}

/* A job for those of the open requests [from, to), all of one module, that nobody is at yet. */
static void ask_for(struct symbol_service *service, const struct symbol_request *from,
                    const struct symbol_request *to) {
    struct job *job = malloc(sizeof *job + (size_t)(to - from) * sizeof(struct symbol_query));
    if (job == NULL)
        return;
    *job = (struct job){.module = from->module};
    for (const struct symbol_request *request = from; request < to; request++)
        if (is_open(request) &&
            symbol_cache_reserve(service->cache, request->module, &request->query))
            job->query[job->n++] = request->query;
    if (job->n > 0)
        submit(service, job);
    else
        free(job);
}

/* The first request behind `at` that is of another module. */
static size_t end_of_module(const struct symbol_request *requests, size_t n, size_t at) {
    uint32_t module = requests[at].module;
    while (at < n && requests[at].module == module)
        at++;
    return at;
}

/* ---- waiting ---- */

/* Takes what is known. True: of the rest, some is being found out. */
static bool take_known(struct symbol_service *service, struct symbol_request *requests, size_t n) {
    bool pending = false;
    for (size_t i = 0; i < n; i++)
        if (is_open(&requests[i]))
            pending |= symbol_cache_get(service->cache, requests[i].module, &requests[i].query,
                                        &requests[i].symbol) == SYMBOL_PENDING;
    return pending;
}

/* Until when to wait for the open requests. Where next to all is known already, a module more is no
 * reason to keep somebody who asks again and again. Under the lock. */
static int64_t deadline_of(const struct symbol_service *service,
                           const struct symbol_request *requests, size_t n,
                           enum symbol_patience patience) {
    int64_t now = elf_now(), later = now + SYMBOL_LATER_NS, deadline = later;
    size_t n_new = 0;
    if (patience == SYMBOL_COMPLETE)
        return ELF_NO_DEADLINE;
    for (size_t i = 0; i < n; i++) {
        if (!is_open(&requests[i]))
            continue;
        int64_t first = first_asked(service, requests[i].module) + SYMBOL_FIRST_NS;
        n_new += first > now;
        if (first > deadline)
            deadline = first;
    }
    return n_new >= n / NEW_PART ? deadline : later;
}

/* Checks the requests each time that something has become known. */
static void wait_for(struct symbol_service *service, struct symbol_request *requests, size_t n,
                     enum symbol_patience patience) {
    pthread_mutex_lock(&service->lock);
    int64_t deadline = deadline_of(service, requests, n, patience);
    const struct timespec until = {.tv_sec = deadline / 1000000000,
                                   .tv_nsec = deadline % 1000000000};
    int late = 0;
    while (take_known(service, requests, n) && late == 0) {
        if (deadline == ELF_NO_DEADLINE)
            pthread_cond_wait(&service->done, &service->lock);
        else
            late = pthread_cond_timedwait(&service->done, &service->lock, &until);
    }
    pthread_mutex_unlock(&service->lock);
}

/* ---- bare names ---- */

/* The bare name, unless all has become known in the meantime. */
static void put_bare_name(struct symbol_service *service, struct symbol_request *request,
                          struct symbol *name) {
    enum symbol_state state =
        symbol_cache_get(service->cache, request->module, &request->query, &request->symbol);
    request->is_for_now = state == SYMBOL_PENDING;
    if (state == SYMBOL_PENDING)
        symbol_cache_put_name(service->cache, request->module, &request->query, name);
    if (state == SYMBOL_KNOWN)
        symbol_clear(name);
    else
        request->symbol = *name;
}

/* The bare name that an answer before this one had to be content with. */
static bool get_bare_name(struct symbol_service *service, struct symbol_request *request) {
    request->is_for_now =
        symbol_cache_get_name(service->cache, request->module, &request->query, &request->symbol);
    return request->is_for_now;
}

static void wait_for_names(struct symbol_service *service, struct naming *naming) {
    naming->job = its_turn(naming->module);
    elf_pool_put(service->names, &naming->job);
    pthread_mutex_lock(&service->lock);
    while (!naming->done)
        pthread_cond_wait(&service->done, &service->lock);
    pthread_mutex_unlock(&service->lock);
}

void symbol_service_demangle(struct symbol_service *service, const char *const *name, size_t n,
                             struct symbol *symbol) {
    for (size_t i = 0; i < n; i++)
        symbol[i] = (struct symbol){0};
    if (n > 0)
        wait_for_names(service, &(struct naming){
                                    .module = MODULE_JIT, .n = n, .name = name, .symbol = symbol});
}

static void name_module(struct symbol_service *service, struct symbol_request *from,
                        struct symbol_request *to) {
    size_t n = (size_t)(to - from), open = 0;
    struct symbol_query *query = calloc(n, sizeof *query);
    struct symbol *symbol = calloc(n, sizeof *symbol);
    struct symbol_request **of = calloc(n, sizeof(struct symbol_request *));
    for (struct symbol_request *request = from; request < to && query != NULL && of != NULL;
         request++)
        if (is_open(request) && !get_bare_name(service, request)) {
            of[open] = request;
            query[open++] = request->query;
        }
    if (open > 0 && symbol != NULL) {
        wait_for_names(
            service,
            &(struct naming){.module = from->module, .n = open, .query = query, .symbol = symbol});
        for (size_t i = 0; i < open; i++)
            put_bare_name(service, of[i], &symbol[i]);
    }
    free(query);
    free(symbol);
    free(of);
}

/* ---- all of it ---- */

static bool has_open(const struct symbol_request *requests, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (is_open(&requests[i]))
            return true;
    return false;
}

void symbol_service_resolve(struct symbol_service *service, struct symbol_request *requests,
                            size_t n, enum symbol_patience patience) {
    for (size_t i = 0; i < n; i++) {
        requests[i].symbol = (struct symbol){0};
        requests[i].is_for_now = false;
    }
    take_known(service, requests, n);
    for (int round = 0; round < ROUNDS && has_open(requests, n); round++) {
        if (round > 0 && patience != SYMBOL_COMPLETE)
            break;
        for (size_t at = 0, end; at < n; at = end) {
            end = end_of_module(requests, n, at);
            ask_for(service, requests + at, requests + end);
        }
        wait_for(service, requests, n, patience);
    }
    for (size_t at = 0, end; at < n; at = end) {
        end = end_of_module(requests, n, at);
        name_module(service, requests + at, requests + end);
    }
}
