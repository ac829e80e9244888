/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * memory.c - allocation that ends the work, or the program, when it fails; a pool of small pieces.
 *
 * What is tried has a table of what it holds, by address: open addressing, at most half full.
 */
#include "common/base/memory.h"

#include <limits.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define POOL_CHUNK     65536
#define POOL_CHUNK_MAX (HUGE_PAGE - 64) /* with its head a huge page */
#define HUGE_PAGE      (2u << 20)
#define LARGE          (HUGE_PAGE / 2)
#define LARGE_KEPT     (4 * HUGE_PAGE) /* where the heap is of huge pages */
#define HEAP           (64u << 20)     /* that is kept begins with so much */
#define MMAP_LEAST     (32u << 20)     /* the largest that malloc knows */
#define HEAP_PART      16u             /* of what the process may have, at most */

struct pool_chunk {
    struct pool_chunk *next;
    alignas(max_align_t) char bytes[];
};

struct stream {
    struct stream *below;
    FILE *out;
    char *text;
    size_t bytes;
};

/* One memory_try(). */
struct attempt {
    struct attempt *outer;
    jmp_buf back;
    const char *what;
};

static _Thread_local struct attempt *trying; /* the innermost; NULL: nothing is tried */
static _Thread_local struct stream *streams; /* the newest */
static size_t large = LARGE;                 /* an array of so much is of huge pages itself */
static _Thread_local struct {
    void **slot;
    size_t n, room; /* room is a power of two */
} held;

/* ---- what is held ---- */

static size_t home_of(const void *memory) {
    return (size_t)((uintptr_t)memory / 16 * 0x9e3779b97f4a7c15u >> 20) & (held.room - 1);
}

/* Its slot, or the empty one where it would be. */
static size_t find(const void *memory) {
    size_t at = home_of(memory);
    while (held.slot[at] != NULL && held.slot[at] != memory)
        at = (at + 1) & (held.room - 1);
    return at;
}

static bool grow_held(void) {
    void **old = held.slot;
    size_t room = held.room;
    void **slot = calloc(room > 0 ? 2 * room : 256, sizeof *slot);
    if (slot == NULL)
        return false;
    held.slot = slot;
    held.room = room > 0 ? 2 * room : 256;
    for (size_t i = 0; i < room; i++)
        if (old[i] != NULL)
            held.slot[find(old[i])] = old[i];
    free(old);
    return true;
}

/* What was just got, to be given back should the work fail; NULL stays NULL. */
static void *hold(void *memory) {
    if (memory == NULL || trying == NULL)
        return memory;
    if (2 * (held.n + 1) > held.room && !grow_held()) {
        free(memory);
        return NULL;
    }
    held.slot[find(memory)] = memory;
    held.n++;
    return memory;
}

/* What stands behind the empty slot moves up, when it is looked for from there on. */
static void close_gap(size_t gap) {
    for (size_t at = (gap + 1) & (held.room - 1); held.slot[at] != NULL;
         at = (at + 1) & (held.room - 1)) {
        size_t home = home_of(held.slot[at]);
        if (((at - home) & (held.room - 1)) >= ((at - gap) & (held.room - 1))) {
            held.slot[gap] = held.slot[at];
            held.slot[at] = NULL;
            gap = at;
        }
    }
}

void memory_forget(const void *memory) {
    size_t at;
    if (trying == NULL || held.room == 0 || memory == NULL)
        return;
    at = find(memory);
    if (held.slot[at] == NULL)
        return;
    held.slot[at] = NULL;
    held.n--;
    close_gap(at);
}

static void forget_all(void) {
    void **slot = held.slot;
    held.slot = NULL;
    held.n = held.room = 0;
    free(slot);
}

static void give_all_back(void) {
    void **slot = held.slot;
    size_t room = held.room;
    held.slot = NULL;
    held.n = held.room = 0;
    while (streams != NULL) {
        struct stream *stream = streams;
        streams = stream->below;
        fclose(stream->out);
        free(stream->text);
        free(stream);
    }
    for (size_t i = 0; i < room; i++)
        free(slot[i]);
    free(slot);
}

/* ---- trying ---- */

bool memory_try(void (*work)(void *arg), void *arg, const char **what) {
    struct attempt attempt = {.outer = trying};
    trying = &attempt;
    if (setjmp(attempt.back) == 0) {
        work(arg);
        trying = attempt.outer;
        if (trying == NULL)
            forget_all();
        return true;
    }
    trying = attempt.outer;
    *what = attempt.what;
    if (trying == NULL)
        give_all_back();
    return false;
}

void memory_die(const char *what) {
    if (trying != NULL) {
        trying->what = what;
        longjmp(trying->back, 1);
    }
    fprintf(stderr, "hcct: out of memory for %s\n", what);
    exit(1);
}

/* ---- memory ---- */

/* Zeroed. Large arrays are of huge pages, where the kernel has them: in a virtual machine, the page
 * faults of an array of a hundred thousand contexts cost more than what is done with it. */
static void *get(size_t n, size_t size) {
    size_t bytes, rounded;
    if (__builtin_mul_overflow(n, size, &bytes) ||
        __builtin_add_overflow(bytes, HUGE_PAGE - 1, &rounded))
        return NULL;
    if (bytes < large)
        return calloc(n, size);
    rounded = rounded / HUGE_PAGE * HUGE_PAGE;
    void *memory = aligned_alloc(HUGE_PAGE, rounded);
    if (memory == NULL)
        return NULL;
    madvise(memory, rounded, MADV_HUGEPAGE); /* refused: pages as ever */
    return memset(memory, 0, bytes);
}

/* As realloc(), of `used` bytes to n * size, which are more; what is new is not zeroed. */
static void *get_more(void *array, size_t used, size_t n, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        return NULL;
    if (bytes < large)
        return realloc(array, bytes);
    void *moved = get(n, size);
    if (moved == NULL)
        return NULL;
    if (used > 0)
        memcpy(moved, array, used);
    free(array);
    return moved;
}

void *memory_new(size_t n, size_t size, const char *what) {
    void *memory = hold(get(n > 0 ? n : 1, size));
    if (memory == NULL)
        memory_die(what);
    return memory;
}

/* To a capacity that is larger. */
static void *move_to(void *array, uint32_t n, uint32_t *capacity, size_t size, uint32_t room,
                     const char *what) {
    memory_forget(array);
    void *moved = get_more(array, n * size, room, size);
    if (moved == NULL) {
        hold(array); /* it is where it was, and so is its slot */
        memory_die(what);
    }
    moved = hold(moved);
    if (moved == NULL)
        memory_die(what);
    *capacity = room;
    return moved;
}

void *memory_grow(void *array, uint32_t n, uint32_t *capacity, size_t size, const char *what) {
    if (n < *capacity)
        return array;
    if (*capacity > UINT32_MAX / 2)
        memory_die(what);
    return move_to(array, n, capacity, size, *capacity > 0 ? *capacity * 2 : 16, what);
}

void *memory_reserve(void *array, uint32_t used, uint32_t *capacity, size_t size, uint32_t n,
                     const char *what) {
    if (n > UINT32_MAX - used)
        memory_die(what);
    return used + n > *capacity ? move_to(array, used, capacity, size, used + n, what) : array;
}

/* Address space that a heap of huge pages may take from the start. */
static size_t heap_bytes(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur / HEAP_PART > HEAP)
        return HEAP;
    return limit.rlim_cur / HEAP_PART;
}

/* The heap grows, and from there on its pages are huge ones; what it had before, where pages are
 * small, is left out. A compiler would leave out, too, what is given back at once. */
void memory_keep(void) {
    size_t heap = heap_bytes();
    uintptr_t begin = ((uintptr_t)sbrk(0) + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_MMAP_THRESHOLD, MMAP_LEAST);
    mallopt(M_TOP_PAD, (int)(heap - heap / 4));
    char *volatile whole = malloc(heap / 4);
    uintptr_t end = (uintptr_t)sbrk(0) / HUGE_PAGE * HUGE_PAGE;
    if ((uintptr_t)whole >= begin || begin >= end) { /* this malloc() does not take from there */
        free(whole);
        return;
    }
    madvise((void *)begin, end - begin, MADV_HUGEPAGE); /* before anything is written there */
    whole = realloc(whole, begin - (uintptr_t)whole);
    large = LARGE_KEPT;
}

FILE *memory_stream(const char *what) {
    struct stream *stream = calloc(1, sizeof *stream);
    if (stream != NULL)
        stream->out = open_memstream(&stream->text, &stream->bytes);
    if (stream == NULL || stream->out == NULL) {
        free(stream);
        memory_die(what);
    }
    stream->below = streams;
    streams = stream;
    return stream->out;
}

char *memory_stream_end(FILE *out, size_t *bytes, const char *what) {
    struct stream *stream = streams;
    bool whole = !ferror(out);
    char *text;
    streams = stream->below;
    whole = fclose(out) == 0 && whole;
    text = stream->text;
    if (bytes != NULL)
        *bytes = stream->bytes;
    free(stream);
    if (!whole) {
        free(text);
        memory_die(what);
    }
    text = hold(text);
    if (text == NULL)
        memory_die(what);
    return text;
}

/* ---- many small pieces ---- */

void *pool_alloc(struct pool *pool, size_t bytes) {
    const size_t align = alignof(max_align_t);
    void *piece;
    bytes = (bytes + align - 1) / align * align;
    if (pool->chunks == NULL || bytes > pool->size - pool->used) {
        size_t size = pool->size > 0 ? 2 * pool->size : POOL_CHUNK;
        size = size > POOL_CHUNK_MAX ? POOL_CHUNK_MAX : size;
        size = bytes > size ? bytes : size;
        struct pool_chunk *chunk = memory_new(1, sizeof *chunk + size, "names and stacks");
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
    memset(pool, 0, sizeof *pool);
}
