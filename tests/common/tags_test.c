/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * tags_test.c - which texts are tags, and what is in them.
 */
#include "common/wire/tags.h"

#include <string.h>

#include "common/wire/compiler.h"
#include "tests/check.h"

static void test_what_is_one(void) {
    static const char *const good[] = {
        "a=b", "build=417,host=db1", "Team.x-y_2=a b=c/d;e'f", "city=Z\xc3\xbcrich", "pids=1",
        "a=="};
    static const char *const bad[] = {
        "",      "a",     "=b",    "a=",        "a=b,",    ",a=b",   "a=b,,c=d", "1a=b",
        "a b=c", "a=b,c", "pid=1", "process=x", "a=\"b\"", "a=b\\c", "a=b\nc=d", "a=\x7f"};
    for (size_t i = 0; i < HCCT_ARRAY_LEN(good); i++)
        CHECK(tags_check(good[i]));
    for (size_t i = 0; i < HCCT_ARRAY_LEN(bad); i++)
        CHECK(!tags_check(bad[i]));
}

static void test_length(void) {
    char text[TAGS_ROOM + 1] = "key=";
    memset(text + 4, 'v', sizeof text - 5);
    text[TAGS_ROOM] = '\0';
    CHECK(!tags_check(text));
    text[TAGS_ROOM - 1] = '\0';
    CHECK(tags_check(text));
}

static void test_parts(void) {
    const char *text = "build=417,host=db=1";
    struct tag tag;
    CHECK(tags_next(&text, &tag));
    CHECK(tag.key_length == 5 && memcmp(tag.key, "build", 5) == 0);
    CHECK(tag.value_length == 3 && memcmp(tag.value, "417", 3) == 0);
    CHECK(tags_next(&text, &tag));
    CHECK(tag.key_length == 4 && memcmp(tag.key, "host", 4) == 0);
    CHECK(tag.value_length == 4 && memcmp(tag.value, "db=1", 4) == 0);
    CHECK(!tags_next(&text, &tag));
}

static void test_search(void) {
    const char *text = "build=417,host=db1";
    CHECK(tags_have(text, "build=417") && tags_have(text, "host=db1"));
    CHECK(!tags_have(text, "build=41") && !tags_have(text, "build=4170"));
    CHECK(!tags_have(text, "host") && !tags_have("", "host=db1"));
}

int main(void) {
    test_what_is_one();
    test_length();
    test_parts();
    test_search();
    return check_report();
}
