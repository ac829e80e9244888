/*
 * memory.c - allocation that ends the program when it fails, and a pool of small pieces.
 */
#include "daemon/report/memory.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/report/profile.h"

#define POOL_CHUNK 65536

struct pool_chunk {
    struct pool_chunk *next;
    alignas(max_align_t) char bytes[];
};

void *memory_new(size_t n, size_t size, const char *what) {
    void *memory = calloc(n > 0 ? n : 1, size);

    if (memory == NULL)
        profile_die(what);
    return memory;
}

void *memory_grow(void *array, uint32_t n, uint32_t *capacity, size_t size, const char *what) {
    if (n < *capacity)
        return array;
    if (*capacity > UINT32_MAX / 2)
        profile_die(what);
    *capacity = *capacity > 0 ? *capacity * 2 : 16;
    array = reallocarray(array, *capacity, size);
    if (array == NULL)
        profile_die(what);
    return array;
}

void *pool_alloc(struct pool *pool, size_t bytes) {
    const size_t align = alignof(max_align_t);
    void *piece;

    bytes = (bytes + align - 1) / align * align;
    if (pool->chunks == NULL || bytes > pool->size - pool->used) {
        size_t size = bytes > POOL_CHUNK ? bytes : POOL_CHUNK;
        struct pool_chunk *chunk = memory_new(1, sizeof(*chunk) + size, "names and stacks");

        chunk->next = pool->chunks;
        pool->chunks = chunk;
        pool->used = 0;
        pool->size = size;
    }
    piece = pool->chunks->bytes + pool->used;
    pool->used += bytes;
    return piece;
}

void pool_free(struct pool *pool) {
    while (pool->chunks != NULL) {
        struct pool_chunk *next = pool->chunks->next;

        free(pool->chunks);
        pool->chunks = next;
    }
    memset(pool, 0, sizeof(*pool));
}
