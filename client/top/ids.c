/*
 * ids.c - open addressing; the identities are hashes already.
 */
#include "client/top/ids.h"

#include <stdlib.h>

#include "common/base/memory.h"

static struct top_id *find(const struct top_ids *ids, uint64_t id) {
    uint32_t mask = ids->slots - 1, at = (uint32_t)id & mask;
    while (ids->slot[at].id != 0 && ids->slot[at].id != id)
        at = (at + 1) & mask;
    return &ids->slot[at];
}

uint32_t top_ids_get(const struct top_ids *ids, uint64_t id) {
    return ids->slots > 0 ? find(ids, id)->number : 0;
}

static void grow(struct top_ids *ids) {
    struct top_ids more = {.slots = ids->slots > 0 ? 2 * ids->slots : 256, .n = ids->n};
    more.slot = memory_new(more.slots, sizeof *more.slot, "contexts");
    for (uint32_t i = 0; i < ids->slots; i++)
        if (ids->slot[i].id != 0)
            *find(&more, ids->slot[i].id) = ids->slot[i];
    free(ids->slot);
    *ids = more;
}

void top_ids_set(struct top_ids *ids, uint64_t id, uint32_t number) {
    if (2 * (ids->n + 1) > ids->slots)
        grow(ids);
    struct top_id *slot = find(ids, id);
    ids->n += slot->id == 0;
    *slot = (struct top_id){id, number};
}

void top_ids_clear(struct top_ids *ids) {
    free(ids->slot);
    *ids = (struct top_ids){0};
}

uint64_t top_id_mix(uint64_t id, uint64_t more) {
    id = (id ^ more) * 0x9e3779b97f4a7c15u;
    id = (id ^ id >> 32) * 0xd6e8feb86659fd93u;
    id ^= id >> 29;
    return id != 0 ? id : 1;
}

uint64_t top_id_text(uint64_t id, const char *text) {
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return top_id_mix(id, hash);
}
