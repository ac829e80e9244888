/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * top_text_test.c - what the live screen makes of others' words: the daemon's list of threads, and
 * text that a terminal must not obey.
 */
#include <locale.h>

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
    test_text();
    return check_report();
}
