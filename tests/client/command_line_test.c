/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * command_line_test.c - titles of commands: readable, bounded, and words of a shell.
 */
#include "client/command_line.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/utf8.h"
#include "common/wire/compiler.h"
#include "tests/check.h"

static const struct {
    const char *argument, *word;
} words[] = {
    {"", "''"},
    {"a b", "'a b'"},
    {"--rate=10", "--rate=10"},
    {"/usr/lib/x-1.2_3@4:5,6%7+", "/usr/lib/x-1.2_3@4:5,6%7+"},
    {"~/x", "'~/x'"},
    {"#no", "'#no'"},
    {"*", "'*'"},
    {"$HOME", "'$HOME'"},
    {"`id`;!", "'`id`;!'"},
    {"it's", "'it'\\''s'"},
    {"\\", "'\\'"},
    {"a\nb", "$'a\\nb'"},
    {"\x1b[2J", "$'\\033[2J'"},
    {"\x7f", "$'\\177'"},
    {"\x01"
     "1",
     "$'\\0011'"},
    {"\t'\\", "$'\\t\\'\\\\'"},
    {"gr\u00fc\u00df", "gr\u00fc\u00df"},
    {"\u65e5 \u672c", "'\u65e5 \u672c'"},
    {"\xff", "$'\\377'"},
    {"\u00fc\xc3", "$'\u00fc\\303'"},
    {"\xc2\x9b"
     "1m",
     "$'\\302\\2331m'"},
    {"a\u202eb", "$'a\\342\\200\\256b'"},
    {"\u200b", "$'\\342\\200\\213'"},
    {"\xed\xa0\x80", "$'\\355\\240\\200'"},
};

static void test_words(void) {
    for (size_t i = 0; i < HCCT_ARRAY_LEN(words); i++) {
        char want[100], *argument = strdup(words[i].argument), *argv[] = {"x", argument, NULL};
        char *title = command_line_title(argv);
        snprintf(want, sizeof want, "x %s", words[i].word);
        CHECK_STR(title, want);
        free(title);
        free(argument);
    }
}

static void test_first(void) {
    char *assignment[] = {"A=b", "A=b", NULL}, *nothing[] = {NULL}, *empty[] = {"", NULL};
    char *title = command_line_title(assignment);
    CHECK_STR(title, "'A=b' A=b");
    free(title);
    title = command_line_title(nothing);
    CHECK_STR(title, "");
    free(title);
    title = command_line_title(empty);
    CHECK_STR(title, "''");
    free(title);
}

static char *filled(size_t n, const char *with) {
    char *text = malloc(n * strlen(with) + 1), *to = text;
    for (size_t i = 0; i < n; i++)
        to = stpcpy(to, with);
    return text;
}

/* One argument of n times `with`, and n arguments of it. */
static void check_bounded(size_t n, const char *with) {
    char *argument = filled(n, with), **many = calloc(n + 1, sizeof *many);
    char *one[] = {argument, argument, "last", NULL};
    for (size_t i = 0; i < n; i++)
        many[i] = (char *)with;
    for (unsigned k = 0; k < 2; k++) {
        char *title = command_line_title(k == 0 ? one : many);
        size_t length = strlen(title);
        CHECK(length > 0 && length <= COMMAND_LINE_MAX);
        CHECK(utf8_is_valid(title, length));
        for (const char *at = title; *at != '\0'; at++)
            CHECK((signed char)*at < 0 || *at >= ' ');
        free(title);
    }
    free(many);
    free(argument);
}

static void test_long(void) {
    static const char *const parts[] = {"x",      "\n",         "\xff",   "'",  "\u00fc",
                                        "\u65e5", "\U0001f600", "\u202e", "a b"};
    for (size_t i = 0; i < HCCT_ARRAY_LEN(parts); i++)
        for (size_t n = 1; n < 3000; n += n < 260 ? 1 : 700)
            check_bounded(n, parts[i]);
    char *argument = filled(500, "ab"), *argv[] = {"x", "-c", argument, "last", NULL};
    char *title = command_line_title(argv);
    CHECK(strstr(title, "...") != NULL && strlen(title) < 300);
    CHECK_STR(title + strlen(title) - 9, "abab last");
    free(title);
    free(argument);
}

int main(void) {
    test_words();
    test_first();
    test_long();
    return check_report();
}
