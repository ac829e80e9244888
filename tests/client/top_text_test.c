/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * top_text_test.c - what the live screen makes of others' words: the daemon's list of threads, its
 * time line, and text that a terminal must not obey.
 */
#include <locale.h>

#include "client/top/strip.h"
#include "client/top/text.h"
#include "client/top/threads.h"
#include "tests/check.h"

static void test_threads(void) {
    static const char json[] =
        "{\"threads\":[{\"pid\":1,\"tid\":2,\"name\":\"a\",\"state\":\"running\","
        "\"credited_ns\":1000},{\"pid\":1,\"tid\":3,\"name\":\"b\",\"credited_ns\":5000}],"
        "\"ended\":[{\"pid\":1,\"threads\":4,\"credited_ns\":10}]}";
    static const char later[] = "{\"threads\":[{\"tid\":2,\"pid\":1,\"credited_ns\":2000}],"
                                "\"ended\":[]}";
    struct top_threads list, next;
    CHECK(top_threads_parse(json, sizeof json - 1, 100, &list));
    CHECK_UINT(list.n, 2);
    CHECK_STR(list.item[0].name, "b"); /* busiest first */
    CHECK_UINT(list.ended, 4);
    CHECK_UINT(list.credited_ns, 6010);
    CHECK(top_threads_parse(later, sizeof later - 1, 2100, &next));
    CHECK(next.item[0].recent < 0);
    top_threads_compare(&next, &list);
    CHECK(next.item[0].recent == 0.5);
    top_threads_free(&list);
    top_threads_free(&next);
    CHECK(!top_threads_parse("{\"threads\":[1],\"ended\":[]}", 26, 0, &list));
    CHECK(!top_threads_parse("[]", 2, 0, &list));
    CHECK(!top_threads_parse("{", 1, 0, &list));
}

/* ---- the time line ---- */

/* The line of a time line whose last cells of two seconds have these loads; NULL: there is none. */
static const char *drawn(const char *now, const char *before, const char *last) {
    static struct top_line line;
    const struct top_range none = {0, 0};
    struct top_strip strip;
    char json[256];
    unsigned from, to;
    snprintf(json, sizeof json,
             "{\"now\":%s,\"levels\":[{\"seconds\":2,\"cells\":[{\"since\":7196,\"load\":%s},"
             "{\"since\":7198,\"load\":%s}]}]}",
             now, before, last);
    if (!top_strip_parse(json, strlen(json), 0, &strip))
        return NULL;
    CHECK_UINT(strip.n, 0); /* there is no room */
    CHECK(top_strip_parse(json, strlen(json), 20, &strip) && strip.n > 3);
    top_line_begin(&line, 20);
    top_strip_line(&line, &strip, &none, &from, &to);
    CHECK_UINT(from, 0);
    CHECK_UINT(to, 0);
    return line.text + strlen(line.text) - 3; /* the cell that has just begun is the last */
}

/* A load that is no number is none; a moment that is none is no time line. */
static void test_time_line(void) {
    CHECK_STR(drawn("7200", "1", "1"), "##.");
    CHECK_STR(drawn("7200", "1", "0"), "#..");
    CHECK_STR(drawn("7200", "1", "1e-9"), "#_.");
    CHECK_STR(drawn("7200", "1", "1e999"), "#..");
    CHECK_STR(drawn("7200", "Infinity", "2"), ".#.");
    CHECK_STR(drawn("7200", "NaN", "2"), ".#.");
    CHECK_STR(drawn("7200", "-1", "2"), ".#.");
    CHECK(drawn("0", "1", "1") == NULL);
    CHECK(drawn("-1", "1", "1") == NULL);
    CHECK(drawn("NaN", "1", "1") == NULL);
    CHECK(drawn("Infinity", "1", "1") == NULL);
    CHECK(drawn("1e300", "1", "1") == NULL); /* which no calendar has */
}

static const char *fitted(const char *name, unsigned columns, struct top_line *line) {
    top_line_begin(line, columns);
    top_line_name(line, name, columns);
    return line->text;
}

static void test_text(void) {
    struct top_line line;
    CHECK_STR(fitted("a\x1b[2Jb\r\n", 20, &line), "a [2Jb  ");
    top_line_begin(&line, 0);
    top_line_add(&line, "a\x1b[2Jb\xff\x7f");
    CHECK_STR(line.text, "a?[2Jb??");
    top_line_begin(&line, 3);
    top_line_add(&line, "abcdef");
    CHECK_STR(line.text, "abc");
    for (unsigned columns = 1; columns < 40; columns++) {
        fitted("std::vector<int, std::allocator<int>>::push_back(int const&)", columns, &line);
        CHECK(line.columns <= columns && line.columns > 0);
    }
    if (setlocale(LC_CTYPE, "C.UTF-8") == NULL)
        return;
    top_line_begin(&line, 5);
    top_line_add(&line, "漢字漢字"); /* two columns each */
    CHECK_STR(line.text, "漢字");
    CHECK_UINT(line.columns, 4);
    top_line_begin(&line, 0);
    top_line_add(&line, "a\u202e\u200b\302\233x"); /* right to left, no width, a control */
    CHECK_STR(line.text, "a???x");
    for (unsigned columns = 1; columns < 30; columns++) {
        fitted("漢字漢字漢字漢字漢字漢字漢字漢字漢字", columns, &line);
        CHECK(line.columns <= columns);
    }
    setlocale(LC_CTYPE, "C");
}

int main(void) {
    test_threads();
    test_time_line();
    test_text();
    return check_report();
}
