/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * memory.h - memory of the reporting side: it is there, or the work that needs it ends.
 *
 * Without memory_try() a failure ends the program (memory_die()): right for a command. Within it,
 * a failure ends what is tried, and gives back all that this thread got from here: right for hcctd,
 * where it costs an answer.
 */
#ifndef HCCT_REPORT_MEMORY_H
#define HCCT_REPORT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Zeroed; free() gives it back. `what` names it in the message when there is none left. */
void *memory_new(size_t n, size_t size, const char *what);

/* Room for one more entry of `size` bytes beyond the n that `array` has: the array, moved when it
 * had to grow. *capacity is kept for the caller. */
void *memory_grow(void *array, uint32_t n, uint32_t *capacity, size_t size, const char *what);

/* The same for n more entries beyond the `used` ones, at once. */
void *memory_reserve(void *array, uint32_t used, uint32_t *capacity, size_t size, uint32_t n,
                     const char *what);

/* A stream to memory, and the string that was written to it, for free(); *bytes (or NULL) is how
 * many it has. Streams end in the opposite order. */
FILE *memory_stream(const char *what);
char *memory_stream_end(FILE *stream, size_t *bytes, const char *what);

/* Calls work(arg). False: memory ran out for `*what`; all is given back that was got since and not
 * freed. Within another memory_try() nothing is given back but by the outer one: clean up, then
 * call memory_die() again. `work` must hold no lock and no other thing that has to be given back
 * while it gets memory here. The program must be linked so that free() tells memory_forget(). */
bool memory_try(void (*work)(void *arg), void *arg, const char **what);

/* Ends what this thread tries, else the program: "out of memory for WHAT". */
_Noreturn void memory_die(const char *what);

/* This process keeps what it frees, for what it gets next, and its heap is of huge pages: for one
 * that ends soon, and has one thread. */
void memory_keep(void);

/* free() is about to be called for this. */
void memory_forget(const void *memory);

/* Many small pieces that are given back together. All zero is an empty pool. */
struct pool {
    struct pool_chunk *chunks;
    size_t used, size; /* of the newest chunk */
};

/* Zeroed, aligned for any type. */
void *pool_alloc(struct pool *pool, size_t bytes);
void pool_free(struct pool *pool);

#endif
