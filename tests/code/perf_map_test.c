/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * perf_map_test.c - lists of generated code: growth, replaced functions, broken and hostile text,
 * and random text held against a plain model.
 */
#include "common/code/jit_names.h"
#include "common/code/perf_map.h"
#include "tests/check.h"

static struct perf_map *map_of(const char *text) {
    struct perf_map *map = perf_map_new();
    perf_map_feed(map, text, strlen(text));
    return map;
}

static struct perf_map_stats stats_of(const struct perf_map *map) {
    struct perf_map_stats stats;
    perf_map_get_stats(map, &stats);
    return stats;
}

static void test_lines(void) {
    struct perf_map *map = map_of("1000 10 JS:*f /home/a b/x.js:1:2; x\n"
                                  "0x2000 0x20 java.lang.String::hashCode\n"
                                  "000000000000FFA0 Ff [Stub]\n"
                                  "3000 8   padded\n"
                                  "7fffffffffffffff 1 far\n");
    CHECK_STR(perf_map_find(map, 0x1000), "JS:*f /home/a b/x.js:1:2; x");
    CHECK_STR(perf_map_find(map, 0x100f), "JS:*f /home/a b/x.js:1:2; x");
    CHECK(perf_map_find(map, 0x1010) == NULL);
    CHECK(perf_map_find(map, 0xfff) == NULL);
    CHECK_STR(perf_map_find(map, 0x201f), "java.lang.String::hashCode");
    CHECK_STR(perf_map_find(map, 0x1009e), "[Stub]");
    CHECK(perf_map_find(map, 0x1009f) == NULL);
    CHECK_STR(perf_map_find(map, 0x3000), "padded");
    CHECK_STR(perf_map_find(map, INT64_MAX), "far");
    CHECK_UINT(stats_of(map).entries, 5);
    CHECK_UINT(stats_of(map).broken, 0);
    perf_map_free(map);
}

/* Whatever pieces the text comes in; a line without its end says nothing yet. */
static void test_growth(void) {
    static const char text[] = "1000 10 first\n2000 10 second\n3000 10 third";
    for (size_t piece = 1; piece < sizeof text; piece++) {
        struct perf_map *map = perf_map_new();
        for (size_t at = 0; at < sizeof text - 1; at += piece) {
            size_t left = sizeof text - 1 - at;
            perf_map_feed(map, text + at, piece < left ? piece : left);
        }
        CHECK_STR(perf_map_find(map, 0x1008), "first");
        CHECK_STR(perf_map_find(map, 0x2008), "second");
        CHECK(perf_map_find(map, 0x3008) == NULL);
        perf_map_feed(map, " and more\n", 10);
        CHECK_STR(perf_map_find(map, 0x3008), "third and more");
        CHECK_UINT(stats_of(map).added, 3);
        CHECK_UINT(stats_of(map).broken, 0);
        perf_map_free(map);
    }
}

static void test_overlap(void) {
    struct perf_map *map = map_of("1000 100 a\n1100 100 b\n1200 100 c\n");
    CHECK_UINT(stats_of(map).replaced, 0);
    perf_map_feed(map, "1180 100 d\n", 11); /* the end of b, the beginning of c */
    CHECK_STR(perf_map_find(map, 0x10ff), "a");
    CHECK(perf_map_find(map, 0x1100) == NULL);
    CHECK_STR(perf_map_find(map, 0x1180), "d");
    CHECK_STR(perf_map_find(map, 0x127f), "d");
    CHECK(perf_map_find(map, 0x1280) == NULL);
    CHECK_UINT(stats_of(map).replaced, 2);
    perf_map_feed(map, "1190 1 e\n", 9); /* inside d */
    CHECK(perf_map_find(map, 0x1180) == NULL);
    CHECK_STR(perf_map_find(map, 0x1190), "e");
    perf_map_feed(map, "1000 1000 f\n", 12); /* around all */
    CHECK_STR(perf_map_find(map, 0x1190), "f");
    CHECK_UINT(stats_of(map).entries, 1);
    CHECK_UINT(stats_of(map).replaced, 5);
    perf_map_free(map);
}

static void test_garbage(void) {
    static const char *const broken[] = {
        "\n",
        " \n",
        "x\n",
        "1000\n",
        "1000 10\n",
        "1000 10 \n",
        "1000 0 empty\n",
        "-1000 10 minus\n",
        "1000 -10 minus\n",
        "10000000000000000 10 long\n",
        "ffffffffffffffff 2 wraps\n",
        "1000 ffffffffffffffff wraps\n",
        "1000\t10\ttabs\n",
        "0x 10 nothing\n",
        "1000 10name\n",
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct perf_map *map = map_of(broken[i]);
        CHECK_UINT(stats_of(map).broken, 1);
        CHECK_UINT(stats_of(map).entries, 0);
        perf_map_feed(map, "1000 10 good\n", 13);
        CHECK_STR(perf_map_find(map, 0x1000), "good");
        perf_map_free(map);
    }
    struct perf_map *map = perf_map_new();
    perf_map_feed(map, "1000 10 a\x1b[2J\tb\0c\n", 19);
    CHECK_STR(perf_map_find(map, 0x1000), "a?[2J?b");
    perf_map_feed(map, "2000 10 \0\n", 10);
    CHECK(perf_map_find(map, 0x2000) == NULL);
    perf_map_free(map);
}

/* A long name is cut, in one piece and in many, and not inside a character. */
static void test_long_names(void) {
    size_t bytes = 100000;
    char *text = malloc(bytes);
    memset(text, 'n', bytes);
    memcpy(text, "1000 10 ", 8);
    memcpy(text + 8 + PERF_MAP_NAME_MAX - 2, "\xe2\x82\xac", 3); /* a euro sign across the limit */
    text[bytes - 1] = '\n';
    for (size_t piece = 1; piece <= bytes; piece *= 10) {
        struct perf_map *map = perf_map_new();
        for (size_t at = 0; at < bytes; at += piece)
            perf_map_feed(map, text + at, piece);
        const char *name = perf_map_find(map, 0x1008);
        CHECK(name != NULL && strlen(name) == PERF_MAP_NAME_MAX - 2);
        CHECK(name != NULL && strspn(name, "n") == strlen(name));
        perf_map_feed(map, "2000 10 next\n", 13);
        CHECK_STR(perf_map_find(map, 0x2000), "next");
        perf_map_free(map);
    }
    free(text);
}

static void feed_line(struct perf_map *map, uint64_t start, uint64_t size, const char *name) {
    char line[2 * PERF_MAP_NAME_MAX];
    int n = snprintf(line, sizeof line, "%llx %llx %s\n", (unsigned long long)start,
                     (unsigned long long)size, name);
    perf_map_feed(map, line, (size_t)n);
}

/* More functions than there is room for: what was there stays, what is new is dropped, and what a
 * dropped one overlaps is hidden nevertheless. */
static void test_caps(void) {
    struct perf_map *map = perf_map_new();
    for (uint64_t i = PERF_MAP_ENTRIES + 100; i-- > 0;) /* downwards, as a tree must not mind */
        feed_line(map, 0x100000 + 16 * i, 16, "f");
    CHECK_UINT(stats_of(map).entries, PERF_MAP_ENTRIES);
    CHECK_UINT(stats_of(map).dropped, 100);
    CHECK_STR(perf_map_find(map, 0x100000 + 16 * 100), "f");
    CHECK(perf_map_find(map, 0x100000 + 16 * 99) == NULL);
    feed_line(map, 0x100000 + 16 * 100, 32, "g"); /* in the room of two */
    CHECK_STR(perf_map_find(map, 0x100000 + 16 * 101), "g");
    CHECK_UINT(stats_of(map).entries, PERF_MAP_ENTRIES - 1);
    perf_map_free(map);

    char name[PERF_MAP_NAME_MAX + 1] = "";
    memset(name, 'n', PERF_MAP_NAME_MAX);
    map = perf_map_new();
    uint64_t fit = PERF_MAP_NAME_BYTES / sizeof name;
    for (uint64_t i = 0; i < fit + 5; i++)
        feed_line(map, 0x100000 + 16 * i, 16, name);
    CHECK_UINT(stats_of(map).entries, fit);
    CHECK_UINT(stats_of(map).dropped, 5);
    feed_line(map, 0x100000 + 8, 16, name); /* replaces two: there is room for one */
    CHECK_UINT(stats_of(map).entries, fit - 1);
    perf_map_free(map);
}

/* ---- random lines against a model that keeps a name for each address ---- */

#define SPACE 4096u

static uint32_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*state >> 33);
}

static void model_add(uint32_t *model, uint32_t start, uint32_t size, uint32_t number) {
    for (uint32_t at = start; at < start + size; at++) {
        uint32_t old = model[at];
        for (uint32_t i = 0; old != 0 && i < SPACE; i++)
            if (model[i] == old)
                model[i] = 0;
    }
    for (uint32_t at = start; at < start + size; at++)
        model[at] = number;
}

static void test_random(void) {
    static uint32_t model[SPACE];
    uint64_t state = 1;
    struct perf_map *map = perf_map_new();
    for (uint32_t number = 1; number <= 3000; number++) {
        uint32_t size = 1 + next_random(&state) % (number % 10 == 0 ? 300 : 20);
        uint32_t start = next_random(&state) % (SPACE - size);
        char name[16];
        snprintf(name, sizeof name, "f%u", number);
        feed_line(map, start, size, name);
        model_add(model, start, size, number);
        unsigned wrong = 0;
        for (uint32_t at = 0; at < SPACE; at++) {
            const char *found = perf_map_find(map, at);
            wrong += found == NULL ? model[at] != 0 : (uint32_t)atoi(found + 1) != model[at];
        }
        CHECK_UINT(wrong, 0);
    }
    perf_map_free(map);
}

/* Bytes that are nearly lines: nothing to find out but that it stands them. */
static void test_noise(void) {
    static const char alphabet[] = "0123456789abcdefFxX  \n\n\t-n\xc3\xa9";
    uint64_t state = 7;
    struct perf_map *map = perf_map_new();
    for (unsigned i = 0; i < 200000; i++) {
        char bytes[7];
        size_t n = 1 + next_random(&state) % sizeof bytes;
        for (size_t k = 0; k < n; k++)
            bytes[k] = alphabet[next_random(&state) % sizeof alphabet];
        perf_map_feed(map, bytes, n);
    }
    struct perf_map_stats stats = stats_of(map);
    CHECK(stats.broken > 0 && stats.added > 0);
    CHECK_UINT(stats.entries, stats.added - stats.replaced);
    perf_map_free(map);
}

static void test_names(void) {
    uint32_t a = jit_name_intern("JS:*a"), b = jit_name_intern("JS:~a");
    CHECK(a != JIT_UNNAMED && b != JIT_UNNAMED && a != b);
    CHECK_UINT(jit_name_intern("JS:*a"), a);
    CHECK_STR(jit_name(a), "JS:*a");
    CHECK_STR(jit_name(b), "JS:~a");
    CHECK_STR(jit_name(JIT_UNNAMED), "[generated code]");
    CHECK_STR(jit_name(UINT32_MAX), "[generated code]");

    char name[32];
    uint32_t unnamed = 0;
    for (uint32_t i = 0; i < JIT_NAMES_USER_MAX + 10; i++) {
        snprintf(name, sizeof name, "many %u", i);
        unnamed += jit_name_intern(name) == JIT_UNNAMED;
    }
    CHECK_UINT(unnamed, 10 + 2);
    CHECK_UINT(jit_name_intern("JS:*a"), a);
    CHECK_STR(jit_name(a), "JS:*a");
    CHECK_STR(jit_name(jit_name_intern("many 77")), "many 77");

    /* another user has names of their own, of equal text, too, and a sweep does not touch them */
    struct frame_user *other = frame_user(12345);
    uint32_t others = jit_name_intern_for(other, "JS:*a");
    CHECK(others != JIT_UNNAMED && others != a);
    jit_names_sweep_begin(frame_own_user());
    jit_names_mark(&(struct frame_key){.routine_module = UINT32_MAX, .routine = a});
    uint32_t late = jit_name_intern("late"), again = jit_name_intern("many 5");
    jit_names_sweep_end(frame_own_user(), true);
    CHECK_UINT(late, JIT_UNNAMED); /* there was no room before the end */
    CHECK_UINT(jit_names_count(frame_own_user()), 2);
    CHECK_STR(jit_name(a), "JS:*a");
    CHECK_STR(jit_name(again), "many 5");
    CHECK_STR(jit_name(b), "[generated code]");
    CHECK_UINT(jit_name_intern("JS:*a"), a);
    CHECK(jit_name_intern("late") != JIT_UNNAMED);
    CHECK_STR(jit_name(others), "JS:*a");
}

int main(void) {
    test_lines();
    test_growth();
    test_overlap();
    test_garbage();
    test_long_names();
    test_caps();
    test_random();
    test_noise();
    test_names();
    return check_report();
}
