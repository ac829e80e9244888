/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * ids.c - the identities are hashes already.
 */
#include "client/top/ids.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"

static bool is_id(const void *items, uint32_t i, const void *id) {
    return ((const struct top_id *)items)[i].id == *(const uint64_t *)id;
}

uint32_t top_ids_get(const struct top_ids *ids, uint64_t id) {
    uint32_t place = intern_get(&ids->places, id, is_id, ids->item, &id);
    return place != 0 ? ids->item[place].number : 0;
}

void top_ids_set(struct top_ids *ids, uint64_t id, uint32_t number) {
    uint32_t *place = intern_find(&ids->places, id, is_id, ids->item, &id);
    if (*place == 0) {
        *place = ++ids->n;
        ids->item = memory_grow(ids->item, ids->n, &ids->room, sizeof *ids->item, "contexts");
    }
    ids->item[*place] = (struct top_id){id, number};
}

void top_ids_clear(struct top_ids *ids) {
    intern_free(&ids->places);
    free(ids->item);
    *ids = (struct top_ids){0};
}

uint64_t top_id_mix(uint64_t id, uint64_t more) {
    id = seeded_hash(id, more);
    return id != 0 ? id : 1;
}

uint64_t top_id_text(uint64_t id, const char *text) {
    return top_id_mix(id, seeded_hash_bytes(0, text, strlen(text)));
}
