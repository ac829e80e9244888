/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * seeded_hash.h - hashes that nobody outside of this program can predict.
 *
 * For tables whose keys come from others: who knows the hash can choose keys that all fall into one
 * place. The seed is drawn from the kernel before main(). Any thread.
 */
#ifndef HCCT_SEEDED_HASH_H
#define HCCT_SEEDED_HASH_H

#include <stddef.h>
#include <stdint.h>

extern uint64_t seeded_hash_seed[2];

/* Hashes of what a key is made of, chained through `hash` (0 at first). Each bit of the value
 * reaches all bits: the two are multiplied to 128 bits with a secret, and folded. One seed of a
 * hundred keeps regular keys together in the low bits after that: the last two steps part them. */
static inline uint64_t seeded_hash(uint64_t hash, uint64_t value) {
    __extension__ typedef unsigned __int128 product;
    product p = (product)(hash ^ seeded_hash_seed[0]) * (value ^ seeded_hash_seed[1]);
    uint64_t mixed = ((uint64_t)p ^ (uint64_t)(p >> 64)) * 0x9e3779b97f4a7c15;
    return mixed ^ (mixed >> 32);
}

/* The same of bytes, eight at a time. */
uint64_t seeded_hash_bytes(uint64_t hash, const void *bytes, size_t n);

#endif
