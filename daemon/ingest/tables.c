/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * tables.c - for each kind of table a queue of requests, and one thread that serves them in order.
 *
 * A request carries its own reference to the arena, and names its process by its number, not by
 * pointer: the process may be gone when the table is ready.
 */
#include "daemon/ingest/tables.h"

#include <stdlib.h>

#include "common/code/module.h"
#include "daemon/ingest/registry.h"

struct request {
    struct request *next;
    struct arena *arena;
    uint64_t number; /* of the process */
    uint32_t index, module;
};

static struct queue {
    pthread_mutex_t lock;
    pthread_cond_t more;
    pthread_t thread;
    struct request *first, **last;
    bool stop;
    struct table_maker maker;
} queues[TABLE_KINDS] = {
    [TABLE_UNWIND] = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER},
    [TABLE_CALLS] = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER},
};

static enum table_kind kind_of(const struct queue *queue) {
    return (enum table_kind)(queue - queues);
}

static void request_one(struct process *process, uint32_t index, uint32_t module,
                        enum table_kind kind) {
    uint64_t table = arena_lookup(process->arena, module, kind);
    struct request *request = table == WIRE_TABLE_PENDING ? calloc(1, sizeof *request) : NULL;
    if (request == NULL) {
        if (table == WIRE_TABLE_PENDING)
            table = WIRE_TABLE_NONE; /* no memory even for the request */
        process_publish_table_locked(process,
                                     &(const struct module_table){index, module, kind, table});
        return;
    }
    *request = (struct request){.arena = arena_ref(process->arena),
                                .number = process->number,
                                .index = index,
                                .module = module};
    struct queue *queue = &queues[kind];
    pthread_mutex_lock(&queue->lock);
    *queue->last = request;
    queue->last = &request->next;
    pthread_cond_signal(&queue->more);
    pthread_mutex_unlock(&queue->lock);
}

void tables_request(void *unused, struct process *process, uint32_t index, uint32_t module) {
    (void)unused;
    request_one(process, index, module, TABLE_UNWIND);
    if (session_memory_module(&process->memory, index)->want_sites != 0)
        request_one(process, index, module, TABLE_CALLS);
}

/* A table that was found or made: malloc'ed, or NULL. */
struct table {
    void *data;
    size_t bytes;
    bool is_new;
};

static struct table get_table(const struct queue *queue, uint32_t module) {
    struct table table = {0};
    struct module_info info;
    if (module_get(module, &info) && info.is_protected)
        table.data = table_cache_get(queue->maker.cache, &info, kind_of(queue), &table.bytes);
    if (table.data == NULL) {
        table.is_new = true;
        table.data = elf_worker_compile(queue->maker.worker, module, kind_of(queue), &table.bytes);
    }
    return table;
}

/* What stands on disk goes by build-id alone, and anybody can write a file that has libc's. */
static void keep(const struct queue *queue, uint32_t module, const struct table *table) {
    struct module_info info;
    if (table->is_new && table->data != NULL && queue->maker.cache != NULL &&
        module_get(module, &info) && info.is_protected)
        table_cache_put(queue->maker.cache, &info, kind_of(queue), table->data, table->bytes);
}

static void publish(const struct queue *queue, const struct request *request, uint64_t offset) {
    struct process *process = registry_find_numbered(request->number);
    if (process != NULL)
        process_publish_table(process, &(const struct module_table){request->index, request->module,
                                                                    kind_of(queue), offset});
    registry_put(process);
}

/* The program waits for its table, the disk does not. */
static void serve_request(const struct queue *queue, struct request *request) {
    struct table table = {0};
    /* an earlier request may have been equal */
    uint64_t offset = arena_lookup(request->arena, request->module, kind_of(queue));
    if (offset == WIRE_TABLE_PENDING) {
        table = get_table(queue, request->module);
        offset =
            arena_store(request->arena, request->module, kind_of(queue), table.data, table.bytes);
    }
    publish(queue, request, offset);
    keep(queue, request->module, &table);
    free(table.data);
    arena_put(request->arena);
    free(request);
}

static struct request *next_request(struct queue *queue) {
    pthread_mutex_lock(&queue->lock);
    while (queue->first == NULL && !queue->stop)
        pthread_cond_wait(&queue->more, &queue->lock);
    struct request *request = queue->stop ? NULL : queue->first;
    if (request != NULL) {
        queue->first = request->next;
        if (queue->first == NULL)
            queue->last = &queue->first;
    }
    pthread_mutex_unlock(&queue->lock);
    return request;
}

static void *run(void *its_queue) {
    struct queue *queue = its_queue;
    struct request *request;
    while ((request = next_request(queue)) != NULL)
        serve_request(queue, request);
    return NULL;
}

bool tables_start(const struct table_maker makers[TABLE_KINDS]) {
    bool started = true;
    for (unsigned kind = 0; kind < TABLE_KINDS; kind++)
        queues[kind].last = &queues[kind].first;
    for (unsigned kind = 0; kind < TABLE_KINDS && started; kind++) {
        queues[kind].maker = makers[kind];
        started = pthread_create(&queues[kind].thread, NULL, run, &queues[kind]) == 0;
    }
    return started;
}

static void stop(struct queue *queue) {
    pthread_mutex_lock(&queue->lock);
    queue->stop = true;
    pthread_cond_signal(&queue->more);
    pthread_mutex_unlock(&queue->lock);
    pthread_join(queue->thread, NULL);
}

void tables_stop(void) {
    elf_worker_interrupt(queues[TABLE_CALLS].maker.worker);
    for (unsigned kind = 0; kind < TABLE_KINDS; kind++)
        stop(&queues[kind]);
}
