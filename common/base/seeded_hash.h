/*
 * seeded_hash.h - hashes that nobody outside of this program can predict.
 *
 * For tables whose keys come from others: who knows the hash can choose keys that all fall into one
 * place. The seed is drawn from the kernel when the first hash is asked for. Any thread.
 */
#ifndef HCCT_SEEDED_HASH_H
#define HCCT_SEEDED_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t seeded_hash(const void *bytes, size_t n);

#endif
