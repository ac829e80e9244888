/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * session_blocks.c - one mapping takes the other's place at once: who reads meanwhile finds either.
 */
#include "preload/life/session_blocks.h"

#include <sys/mman.h>

#include "common/wire/metric.h"
#include "common/wire/wire.h"
#include "preload/life/agent.h"
#include "preload/life/memory.h"
#include "preload/life/sys.h"

static bool replace(struct wire_block *blocks, int flags, int fd, uint64_t offset) {
    long at = sys6(SYS_mmap, blocks, WIRE_BLOCKS_BYTES, PROT_READ | PROT_WRITE,
                   flags | MAP_FIXED | MAP_NORESERVE, fd, offset);
    return at == (long)blocks;
}

/* In a child of fork there are none, whatever its parent had: the agent's page says so. */
static struct wire_block *place(void) {
    struct wire_block *blocks = atomic_load(&agent.process->blocks);
    if (blocks == NULL) {
        blocks = memory_map(WIRE_BLOCKS_BYTES, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
        atomic_store(&agent.process->blocks, blocks);
    }
    return blocks;
}

bool session_blocks_follow(int session_fd) {
    if (!settings_have(&agent.settings, wire_of_heap))
        return true;
    struct wire_block *blocks = place();
    if (blocks == NULL || !replace(blocks, MAP_SHARED, session_fd, WIRE_BLOCKS_OFFSET))
        return false;
    sys3(SYS_madvise, blocks, WIRE_BLOCKS_BYTES, MADV_DONTFORK);
    sys3(SYS_madvise, blocks, WIRE_BLOCKS_BYTES, MADV_DONTDUMP);
    return true;
}

/* Where that fails the last session goes on hearing of blocks, which does no harm. */
void session_blocks_leave(void) {
    struct wire_block *blocks = atomic_load(&agent.process->blocks);
    if (blocks != NULL)
        (void)replace(blocks, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* A child that shares its parent's memory frees its parent's blocks. */
void session_block_gone(uint64_t number) {
    struct wire_block *blocks = agent_started() ? atomic_load(&agent.process->blocks) : NULL;
    if (blocks != NULL)
        atomic_compare_exchange_strong(&blocks[WIRE_BLOCK_PLACE(number)].number, &number, 0);
}
