/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * tables.c - for each kind of table requests of all users, which threads serve in turns.
 *
 * A request carries its own reference to the arena, and names its process by its number, not by
 * pointer: the process may be gone when the table is ready.
 */
#include "daemon/ingest/tables.h"

#include <stdlib.h>

#include "common/code/elf_pool.h"
#include "common/code/module.h"
#include "daemon/ingest/registry.h"

struct request {
    struct elf_job job; /* first */
    struct arena *arena;
    uint64_t number; /* of the process */
    uint32_t index, module;
};

static struct queue {
    struct elf_pool *pool;
    pthread_mutex_t cache_lock;
    struct table_cache *cache; /* NULL: none */
} queues[TABLE_KINDS] = {
    [TABLE_UNWIND] = {.cache_lock = PTHREAD_MUTEX_INITIALIZER},
    [TABLE_CALLS] = {.cache_lock = PTHREAD_MUTEX_INITIALIZER},
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
    *request = (struct request){.job.uid = process->uid,
                                .arena = arena_ref(process->arena),
                                .number = process->number,
                                .index = index,
                                .module = module};
    elf_pool_put(queues[kind].pool, &request->job);
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

/* NULL: it is not there. */
static void *get_kept(struct queue *queue, uint32_t module, size_t *bytes) {
    struct module_info info;
    if (queue->cache == NULL || !module_get(module, &info) || !info.is_protected)
        return NULL;
    pthread_mutex_lock(&queue->cache_lock);
    void *data = table_cache_get(queue->cache, &info, kind_of(queue), bytes);
    pthread_mutex_unlock(&queue->cache_lock);
    return data;
}

static struct table get_table(struct queue *queue, struct elf_worker *worker, uint32_t module) {
    struct table table = {0};
    table.data = get_kept(queue, module, &table.bytes);
    if (table.data == NULL) {
        table.is_new = true;
        table.data = elf_worker_compile(worker, module, kind_of(queue), &table.bytes);
    }
    return table;
}

/* What stands on disk goes by build-id alone, and anybody can write a file that has libc's. */
static void keep(struct queue *queue, uint32_t module, const struct table *table) {
    struct module_info info;
    if (!table->is_new || table->data == NULL || queue->cache == NULL ||
        !module_get(module, &info) || !info.is_protected)
        return;
    pthread_mutex_lock(&queue->cache_lock);
    table_cache_put(queue->cache, &info, kind_of(queue), table->data, table->bytes);
    pthread_mutex_unlock(&queue->cache_lock);
}

static void publish(const struct queue *queue, const struct request *request, uint64_t offset) {
    struct process *process = registry_find_numbered(request->number);
    if (process != NULL)
        process_publish_table(process, &(const struct module_table){request->index, request->module,
                                                                    kind_of(queue), offset});
    registry_put(process);
}

static void free_request(struct request *request) {
    arena_put(request->arena);
    free(request);
}

/* The program waits for its table, the disk does not. */
static void serve(struct elf_worker *worker, struct elf_job *job, void *its_queue) {
    struct queue *queue = its_queue;
    struct request *request = (struct request *)job;
    struct table table = {0};
    /* an earlier request may have been equal */
    uint64_t offset = arena_lookup(request->arena, request->module, kind_of(queue));
    if (offset == WIRE_TABLE_PENDING) {
        table = get_table(queue, worker, request->module);
        offset =
            arena_store(request->arena, request->module, kind_of(queue), table.data, table.bytes);
    }
    publish(queue, request, offset);
    keep(queue, request->module, &table);
    free(table.data);
    free_request(request);
}

static void drop(struct elf_job *job, void *unused) {
    (void)unused;
    free_request((struct request *)job);
}

/* ---- the threads ---- */

static const struct elf_work work[TABLE_KINDS] = {
    [TABLE_UNWIND] = {.run = serve, .drop = drop},
    [TABLE_CALLS] = {.run = serve, .drop = drop, .is_given_up = true},
};

bool tables_start(struct table_cache *const caches[TABLE_KINDS]) {
    bool started = true;
    for (unsigned kind = 0; kind < TABLE_KINDS && started; kind++) {
        queues[kind].cache = caches[kind];
        queues[kind].pool = elf_pool_start("/proc/self/exe", &work[kind], &queues[kind]);
        started = queues[kind].pool != NULL;
    }
    return started;
}

void tables_stop(void) {
    for (unsigned kind = 0; kind < TABLE_KINDS; kind++)
        elf_pool_stop(queues[kind].pool);
}
