/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * memory.c - the target's memory, read by pages.
 */
#include "tests/step/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

bool memory_init(struct memory *memory, pid_t pid, const struct maps *maps) {
    *memory = (struct memory){.pid = pid, .maps = maps};
    memory->page = calloc(MEMORY_PAGES_KEPT, sizeof *memory->page);
    if (memory->page == NULL)
        return false;
    memory_forget_pages(memory);
    return true;
}

void memory_clear(struct memory *memory) {
    free(memory->page);
    memory->page = NULL;
}

void memory_next_step(struct memory *memory) {
    memory->step++;
}

void memory_forget_pages(struct memory *memory) {
    for (size_t i = 0; i < MEMORY_PAGES_KEPT; i++)
        memory->page[i].address = 1;
}

static const unsigned char *page_at(struct memory *memory, uint64_t address) {
    struct memory_page *page = &memory->page[address / MEMORY_PAGE % MEMORY_PAGES_KEPT];
    if (page->address == address && page->step >= memory->step)
        return page->byte;
    struct iovec here = {page->byte, MEMORY_PAGE};
    struct iovec there = {(void *)(uintptr_t)address, MEMORY_PAGE};
    page->address = 1;
    if (process_vm_readv(memory->pid, &here, 1, &there, 1, 0) != (ssize_t)MEMORY_PAGE)
        return NULL;
    const struct map *map = maps_find(memory->maps, address);
    page->address = address;
    page->step = map != NULL && !map->can_write ? UINT64_MAX : memory->step;
    return page->byte;
}

bool memory_bytes(struct memory *memory, uint64_t address, void *into, size_t bytes) {
    unsigned char *out = into;
    while (bytes > 0) {
        size_t at = address % MEMORY_PAGE;
        size_t n = MEMORY_PAGE - at < bytes ? MEMORY_PAGE - at : bytes;
        const unsigned char *page = page_at(memory, address - at);
        if (page == NULL)
            return false;
        memcpy(out, page + at, n);
        out += n;
        address += n;
        bytes -= n;
    }
    return true;
}

bool memory_word(struct memory *memory, uint64_t address, uint64_t *word) {
    return memory_bytes(memory, address, word, sizeof *word);
}
