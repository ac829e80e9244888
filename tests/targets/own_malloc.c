/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * own_malloc.c - a program whose executable has a malloc, and which waits for a signal.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROOM  (1u << 20)
#define ALIGN 16u

static _Alignas(ALIGN) char room[ROOM];
static _Atomic size_t used;

void *malloc(size_t size) {
    size_t bytes = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    size_t at = atomic_fetch_add(&used, bytes);
    return size <= ROOM && at + bytes <= ROOM ? room + at : NULL;
}

void free(void *block) {
    (void)block;
}

void *calloc(size_t n, size_t size) {
    return size == 0 || n <= ROOM / size ? malloc(n * size) : NULL; /* never used before: zeros */
}

void *realloc(void *old, size_t size) {
    char *block = malloc(size);
    size_t most = old != NULL ? (size_t)(room + ROOM - (char *)old) : 0;
    if (block != NULL && old != NULL)
        memmove(block, old, size < most ? size : most);
    return block;
}

int main(void) {
    for (;;)
        pause();
}
