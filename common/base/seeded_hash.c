/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * seeded_hash.c - the seed, and hashes of bytes.
 */
#include "common/base/seeded_hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

uint64_t seeded_hash_seed[2];

__attribute__((constructor)) static void draw(void) {
    if (getrandom(seeded_hash_seed, sizeof seeded_hash_seed, 0) !=
        (ssize_t)sizeof seeded_hash_seed) {
        fputs(
            "the kernel gives no random numbers, without which outsiders could stop this program\n",
            stderr);
        abort();
    }
}

uint64_t seeded_hash_bytes(uint64_t hash, const void *bytes, size_t n) {
    const char *at = bytes;
    uint64_t word;
    hash = seeded_hash(hash, n);
    for (; n >= sizeof word; at += sizeof word, n -= sizeof word) {
        memcpy(&word, at, sizeof word);
        hash = seeded_hash(hash, word);
    }
    word = 0;
    memcpy(&word, at, n);
    return seeded_hash(hash, word);
}
