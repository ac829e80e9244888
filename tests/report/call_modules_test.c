/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_modules_test.c - modules whose calls are followed, as text and back, and texts that are
 * none.
 */
#include <stdlib.h>
#include <string.h>

#include "common/profile/call_modules.h"
#include "common/profile/call_words.h"
#include "tests/check.h"

static struct call_module example(char *path, enum calls_verdict verdict) {
    struct call_module module = {.path = path,
                                 .verdict = verdict,
                                 .times = 1,
                                 .found = 11629,
                                 .plt = 1433,
                                 .sites = 11600,
                                 .redirected = 11599,
                                 .missed_ns = 1500000,
                                 .covered = 738419};
    for (unsigned i = 0; i < CALL_LEFT_REASONS; i++)
        module.left[i] = i * 1000000007ull;
    return module;
}

static void test_words(void) {
    for (unsigned i = 0; i < CALLS_VERDICTS; i++) {
        const char *key = call_verdict_key((enum calls_verdict)i);
        CHECK(key != NULL && strpbrk(key, ",;% ") == NULL);
        CHECK_UINT(call_verdict_of_key(key, strlen(key)), i);
        CHECK(call_verdict_words((enum calls_verdict)i) != NULL);
    }
    for (unsigned i = 0; i < CALL_LEFT_REASONS; i++)
        CHECK(call_left_words((enum call_sites_left)i, i) != NULL);
    CHECK_UINT(call_verdict_of_key("no", 2), CALLS_VERDICTS);
    CHECK_UINT(call_verdict_of_key("", 0), CALLS_VERDICTS);
}

static void test_round_trip(void) {
    char plain[] = "/usr/games/gnugo", odd[] = "/a,b;c%2c\n\x7f d", none[] = "";
    struct call_modules modules = {0}, again = {0};
    struct call_module module = example(plain, CALLS_FOLLOWED);
    CHECK(call_modules_add(&modules, &module));
    module = example(odd, CALLS_FORBIDDEN);
    module.found = UINT64_MAX;
    CHECK(call_modules_add(&modules, &module));
    module = example(none, CALLS_GO); /* without a name it can't be read again */
    CHECK(call_modules_add(&modules, &module));
    char *text = call_modules_write(&modules);
    CHECK(strpbrk(text, "\n\x7f") == NULL);
    CHECK(call_modules_read(&again, text));
    CHECK_UINT(again.n, 2);
    for (size_t i = 0; i < again.n; i++)
        CHECK(strcmp(again.list[i].path, modules.list[i].path) == 0);
    char *copy = call_modules_write(&again);
    CHECK(strncmp(text, copy, strlen(copy)) == 0 && text[strlen(copy)] == ';');
    free(copy);
    free(text);
    call_modules_clear(&again);
    call_modules_clear(&modules);
}

/* The same module with the same verdict: how often it was there is a sum, all else the larger. */
static void test_joined(void) {
    char path[] = "app";
    struct call_modules modules = {0};
    struct call_module module = example(path, CALLS_FOLLOWED);
    call_modules_add(&modules, &module);
    module.redirected = 5;
    module.times = 2;
    call_modules_add(&modules, &module);
    CHECK_UINT(modules.n, 1);
    CHECK_UINT(modules.list[0].redirected, 11599);
    CHECK_UINT(modules.list[0].times, 3);
    module.times = UINT64_MAX;
    call_modules_add(&modules, &module);
    CHECK(modules.list[0].times == UINT64_MAX);
    module.verdict = CALLS_FAR;
    call_modules_add(&modules, &module);
    CHECK_UINT(modules.n, 2);
    call_modules_clear(&modules);
}

static void test_room(void) {
    struct call_modules modules = {0};
    for (unsigned i = 0; i < CALL_MODULES_MAX + 2; i++) {
        char path[16];
        snprintf(path, sizeof path, "lib%u.so", i);
        struct call_module module = example(path, CALLS_FOLLOWED);
        CHECK(call_modules_add(&modules, &module) == (i < CALL_MODULES_MAX));
    }
    CHECK_UINT(modules.n, CALL_MODULES_MAX);
    call_modules_clear(&modules);
}

static void test_nonsense(void) {
    static const char *const none[] = {
        "",
        ";;;",
        "app",
        "app,followed",
        "app,followed,1,2,3,4,5,6,7,8,9,10,11,12,13",
        "app,followed,1,2,3,4,5,6,7,8,9,10,11,12,13,",
        "app,followed,1,2,3,4,5,6,7,8,9,10,11,12,13,x",
        "app,followed,1,2,3,4,5,6,7,8,9,10,11,12,13,-1",
        "app,followed,1,2,3,4,5,6,7,8,9,10,11,12,13, 1",
        "app,lost,1,2,3,4,5,6,7,8,9,10,11,12,13,14",
        ",followed,1,2,3,4,5,6,7,8,9,10,11,12,13,14",
        "app,followed,1,2,3,4,5,6,7,8,9,10,11,12,13,99999999999999999999",
        "app,followed,1,2,3,4,5,6,7,8,9,10;11,12,13,14",
    };
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        struct call_modules modules = {0};
        CHECK(call_modules_read(&modules, none[i]));
        if (modules.n != 0)
            fprintf(stderr, "'%s' was taken\n", none[i]);
        CHECK_UINT(modules.n, 0);
        call_modules_clear(&modules);
    }
    struct call_modules modules = {0}; /* what stands beside is read, and what a later one adds */
    call_modules_read(&modules, "x;%41%4%zz%00,go,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,new;,;");
    CHECK_UINT(modules.n, 1);
    CHECK(modules.n == 1 && strcmp(modules.list[0].path, "A%4%zz%00") == 0);
    CHECK(modules.n == 1 && modules.list[0].left[CALL_LEFT_RULE] == 14);
    call_modules_clear(&modules);
}

int main(void) {
    test_words();
    test_round_trip();
    test_joined();
    test_room();
    test_nonsense();
    return check_report();
}
