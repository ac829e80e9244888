/*
 * seeded_hash.c - eight bytes at a time are multiplied to 128 bits with a secret, and folded.
 */
#include "common/base/seeded_hash.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

__extension__ typedef unsigned __int128 product;

static uint64_t seed[2];
static pthread_once_t seeded = PTHREAD_ONCE_INIT;

static void draw(void) {
    if (getrandom(seed, sizeof seed, 0) != (ssize_t)sizeof seed) {
        fputs(
            "the kernel gives no random numbers, without which outsiders could stop this program\n",
            stderr);
        abort();
    }
}

static uint64_t fold(uint64_t a, uint64_t b) {
    product p = (product)a * b;
    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

uint64_t seeded_hash(const void *bytes, size_t n) {
    const char *at = bytes;
    pthread_once(&seeded, draw);
    uint64_t hash = fold(seed[0] ^ n, seed[1] | 1), word;
    for (; n >= sizeof word; at += sizeof word, n -= sizeof word) {
        memcpy(&word, at, sizeof word);
        hash = fold(word ^ seed[0], hash ^ seed[1]) ^ hash;
    }
    word = 0;
    memcpy(&word, at, n);
    return fold(word ^ seed[1], hash ^ seed[0]) ^ hash;
}
