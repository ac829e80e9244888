/*
 * tables.c - a queue of requests and one thread that serves them in order.
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
    enum table_kind kind;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t more;
    pthread_t thread;
    struct request *first, **last;
    bool stop;
    struct elf_worker *worker;
    struct table_cache *cache;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};

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
                                .module = module,
                                .kind = kind};
    pthread_mutex_lock(&queue.lock);
    *queue.last = request;
    queue.last = &request->next;
    pthread_cond_signal(&queue.more);
    pthread_mutex_unlock(&queue.lock);
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

static struct table get_table(uint32_t module, enum table_kind kind) {
    struct table table = {0};
    struct module_info info;
    if (module_get(module, &info) && info.is_trusted)
        table.data = table_cache_get(queue.cache, &info, kind, &table.bytes);
    if (table.data == NULL) {
        table.is_new = true;
        table.data = elf_worker_compile(queue.worker, module, kind, &table.bytes);
    }
    return table;
}

/* What stands on disk goes by build-id alone, and anybody can write a file that has libc's. */
static void keep(uint32_t module, enum table_kind kind, const struct table *table) {
    struct module_info info;
    if (table->is_new && table->data != NULL && queue.cache != NULL && module_get(module, &info) &&
        info.is_trusted)
        table_cache_put(queue.cache, &info, kind, table->data, table->bytes);
}

static void publish(const struct request *request, uint64_t offset) {
    struct process *process = registry_find_numbered(request->number);
    if (process != NULL)
        process_publish_table(process, &(const struct module_table){request->index, request->module,
                                                                    request->kind, offset});
    registry_put(process);
}

/* The program waits for its table, the disk does not. */
static void serve_request(struct request *request) {
    struct table table = {0};
    /* an earlier request may have been equal */
    uint64_t offset = arena_lookup(request->arena, request->module, request->kind);
    if (offset == WIRE_TABLE_PENDING) {
        table = get_table(request->module, request->kind);
        offset =
            arena_store(request->arena, request->module, request->kind, table.data, table.bytes);
    }
    publish(request, offset);
    keep(request->module, request->kind, &table);
    free(table.data);
    arena_put(request->arena);
    free(request);
}

static struct request *next_request(void) {
    pthread_mutex_lock(&queue.lock);
    while (queue.first == NULL && !queue.stop)
        pthread_cond_wait(&queue.more, &queue.lock);
    struct request *request = queue.stop ? NULL : queue.first;
    if (request != NULL) {
        queue.first = request->next;
        if (queue.first == NULL)
            queue.last = &queue.first;
    }
    pthread_mutex_unlock(&queue.lock);
    return request;
}

static void *run(void *unused) {
    struct request *request;
    (void)unused;
    while ((request = next_request()) != NULL)
        serve_request(request);
    return NULL;
}

bool tables_start(struct elf_worker *worker, struct table_cache *cache) {
    queue.worker = worker;
    queue.cache = cache;
    queue.last = &queue.first;
    return pthread_create(&queue.thread, NULL, run, NULL) == 0;
}

void tables_stop(void) {
    pthread_mutex_lock(&queue.lock);
    queue.stop = true;
    pthread_cond_signal(&queue.more);
    pthread_mutex_unlock(&queue.lock);
    pthread_join(queue.thread, NULL);
}
