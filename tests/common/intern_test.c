/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * intern_test.c - each key has its number, however full the table and however alike the hashes;
 * what is not kept is forgotten; no memory is said; and no two runs of a program have the same
 * hashes.
 */
#include "common/base/intern.h"

#include <unistd.h>

#include "tests/check.h"

#define KEYS 20000

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

static bool no_memory;

void *__wrap_calloc(size_t n, size_t size) {
    return no_memory ? NULL : __real_calloc(n, size);
}

static uint64_t keys[KEYS + 1];

static bool same(const void *entries, uint32_t number, const void *key) {
    return ((const uint64_t *)entries)[number] == *(const uint64_t *)key;
}

/* Of all, of some, or of none are the hashes alike. */
static uint64_t hash_of(uint64_t key, unsigned bits) {
    return bits == 0 ? 7 : seeded_hash(0, key) >> (64 - bits) << 3;
}

static uint32_t get(const struct intern *table, uint64_t key, unsigned bits) {
    return intern_get(table, hash_of(key, bits), same, keys, &key);
}

static bool is_even(const void *none, uint32_t number) {
    (void)none;
    return number % 2 == 0;
}

static void test_keys(uint32_t n, unsigned bits) {
    struct intern table = {0};
    uint32_t wrong = 0;
    CHECK_UINT(get(&table, 1, bits), 0);
    for (uint32_t i = 1; i <= n; i++) {
        keys[i] = i * 4096ull;
        uint32_t *number = intern_try(&table, hash_of(keys[i], bits), same, keys, &keys[i]);
        wrong += *number != 0;
        *number = i;
    }
    for (uint32_t i = 1; i <= n; i++) {
        wrong += *intern_find(&table, hash_of(keys[i], bits), same, keys, &keys[i]) != i;
        wrong += get(&table, keys[i] + 1, bits) != 0;
    }
    CHECK_UINT(wrong, 0);
    CHECK_UINT(table.used, n);
    CHECK(intern_keep(&table, is_even, NULL));
    for (uint32_t i = 1; i <= n; i++)
        wrong += get(&table, keys[i], bits) != (i % 2 == 0 ? i : 0);
    CHECK_UINT(wrong, 0);
    CHECK_UINT(table.used, n / 2);
    intern_free(&table);
    CHECK_UINT(get(&table, keys[1], bits), 0);
}

/* What there is stays as it is. */
static void test_no_memory(void) {
    struct intern table = {0};
    uint32_t n = 0, *number;
    no_memory = true;
    CHECK(intern_try(&table, 1, same, keys, &keys[1]) == NULL);
    no_memory = false;
    *intern_try(&table, hash_of(keys[1], 32), same, keys, &keys[1]) = ++n;
    no_memory = true;
    while ((number = intern_try(&table, hash_of(keys[n + 1], 32), same, keys, &keys[n + 1])) !=
           NULL)
        *number = ++n;
    CHECK(!intern_keep(&table, is_even, NULL));
    no_memory = false;
    CHECK(n > 1 && n < table.capacity);
    CHECK_UINT(table.used, n);
    for (uint32_t i = 1; i <= n; i++)
        CHECK_UINT(get(&table, keys[i], 32), i);
    intern_free(&table);
}

static void test_bytes(void) {
    static const char text[] = "the same bytes are the same hash";
    uint64_t hash = seeded_hash_bytes(0, text, sizeof text);
    CHECK(hash == seeded_hash_bytes(0, text, sizeof text));
    CHECK(hash != seeded_hash_bytes(1, text, sizeof text));
    for (size_t n = 0; n < sizeof text; n++)
        CHECK(seeded_hash_bytes(0, text, n) != seeded_hash_bytes(0, text, n + 1));
    CHECK(seeded_hash_bytes(0, "", 1) != seeded_hash_bytes(0, "\0", 2));
}

/* With this seed, keys that differ in high bits alone, or in low ones, spread as well as any. */
static void test_spread(unsigned shift) {
    static uint8_t taken[2][1u << 16];
    unsigned crowded = 0;
    memset(taken, 0, sizeof taken);
    for (uint64_t i = 0; i < sizeof taken[0]; i++) {
        const uint64_t key[4] = {16, i << shift};
        crowded += ++taken[0][seeded_hash_bytes(0, key, sizeof key) % sizeof taken[0]] > 16;
        crowded += ++taken[1][seeded_hash(0, i << shift) % sizeof taken[1]] > 16;
    }
    CHECK_UINT(crowded, 0);
}

/* Seeds that are the same in each run of this test, as a weak one is rare. */
static void test_seeds(void) {
    const uint64_t drawn[2] = {seeded_hash_seed[0], seeded_hash_seed[1]};
    uint64_t state = 1;
    for (unsigned i = 0; i < 300; i++) {
        for (unsigned k = 0; k < 2; k++) {
            state = state * 6364136223846793005 + 1442695040888963407;
            seeded_hash_seed[k] = state ^ (state >> 29);
        }
        test_spread(0);
        test_spread(24);
        test_spread(48);
    }
    memcpy(seeded_hash_seed, drawn, sizeof drawn);
}

/* Of another run of this program. */
static void test_seed(const char *self) {
    char command[4200], line[64] = "";
    snprintf(command, sizeof command, "'%s' hash", self);
    FILE *other = popen(command, "r");
    CHECK(other != NULL && fgets(line, sizeof line, other) != NULL && pclose(other) == 0);
    CHECK(strtoull(line, NULL, 10) != 0);
    CHECK(strtoull(line, NULL, 10) != seeded_hash(0, 1));
}

int main(int argc, char **argv) {
    if (argc > 1) {
        printf("%llu\n", (unsigned long long)seeded_hash(0, 1));
        return 0;
    }
    test_keys(KEYS, 32);
    test_keys(KEYS, 10);
    test_keys(1000, 0);
    test_no_memory();
    test_bytes();
    test_seeds();
    test_seed(argv[0]);
    return check_report();
}
