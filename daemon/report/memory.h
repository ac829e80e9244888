/*
 * memory.h - memory of the reporting side: it is there, or the program ends by profile_die().
 */
#ifndef HCCT_REPORT_MEMORY_H
#define HCCT_REPORT_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed; free() gives it back. `what` names it in the message when there is none left. */
void *memory_new(size_t n, size_t size, const char *what);

/* Room for one more entry of `size` bytes beyond the n that `array` has: the array, moved when it
 * had to grow. *capacity is kept for the caller. */
void *memory_grow(void *array, uint32_t n, uint32_t *capacity, size_t size, const char *what);

/* Many small pieces that are given back together. All zero is an empty pool. */
struct pool {
    struct pool_chunk *chunks;
    size_t used, size; /* of the newest chunk */
};

/* Zeroed, aligned for any type. */
void *pool_alloc(struct pool *pool, size_t bytes);
void pool_free(struct pool *pool);

#endif
