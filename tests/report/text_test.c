/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * text_test.c - the text report: golden files, and what must hold of any report. The lines above
 * its tables have text_summary_test.c.
 *
 * A golden file is written anew by running this test with HCCT_GOLDEN=write; look at the difference
 * before you keep it.
 */
#include "tests/check.h"

#include <locale.h>

#include "common/render/format.h"
#include "common/render/text_wrap.h"
#include "common/wire/compiler.h"
#include "tests/report/sample.h"
#include "tests/report/text_report.h"

static char *read_all(const char *path) {
    char *text = NULL;
    size_t room = 0;
    FILE *in = fopen(path, "r");
    if (in == NULL)
        return NULL;
    if (getdelim(&text, &room, '\0', in) < 0) {
        free(text);
        text = NULL;
    }
    fclose(in);
    return text;
}

static void golden(const char *name, struct profile *profile,
                   const struct format_options *options) {
    const char *source = getenv("srcdir"), *mode = getenv("HCCT_GOLDEN");
    char *text = report(profile, options), path[512], *want;
    snprintf(path, sizeof path, "%s/tests/report/golden/%s.txt", source != NULL ? source : ".",
             name);
    if (mode != NULL && strcmp(mode, "write") == 0) {
        FILE *out = fopen(path, "w");
        CHECK(out != NULL && fputs(text, out) >= 0 && fclose(out) == 0);
    }
    want = read_all(path);
    CHECK_STR(text, want != NULL ? want : path);
    free(want);
    free(text);
    profile_free(profile);
}

static void test_golden(bool utf8) {
    struct format_options options = format_default_options;
    golden("shell-ascii", sample_shell(), &options);
    if (!utf8 || setlocale(LC_CTYPE, "C.UTF-8") == NULL)
        return;
    golden("shell", sample_shell(), &options);
    golden("build", sample_build(), &options);
    golden("stripped", sample_stripped(), &options);
    golden("calls", sample_calls(), &options);
    golden("call-bursts", sample_call_bursts(), &options);
    options.width = 90;
    golden("calls-narrow", sample_calls(), &options);
    options.width = 97;
    golden("names", sample_names(), &options);
    options.width = 90;
    options.by = PROFILE_BY_LINE;
    golden("shell-line", sample_shell(), &options);
    options = format_default_options;
    options.color = true;
    options.n = 4;
    options.by = PROFILE_BY_SITE;
    golden("shell-color", sample_shell(), &options);
    options = format_default_options;
    format_set_cut(&options, 0.02);
    golden("deep", sample_deep(100000), &options);
    options.by = PROFILE_BY_MODULE;
    golden("shell-module", sample_shell(), &options);
    setlocale(LC_CTYPE, "C");
}

static void test_empty(void) {
    struct profile *profile = sample_empty(), *none = profile_new();
    char *text = report(profile, &format_default_options);
    CHECK_STR(text, "Nothing to show: sleep (pid 9) used too little CPU time to be sampled.\n");
    free(text);
    profile->processes[1].lost = 1200;
    text = report(profile, &format_default_options);
    CHECK_STR(text, "Nothing to show: sleep (pid 9) used too little CPU time to be sampled "
                    "(1,200 ticks were lost).\n");
    free(text);
    text = report(none, &format_default_options);
    CHECK_STR(text, "Nothing to show: no process was profiled.\n");
    free(text);
    profile_free(none);
    profile_free(profile);
}

/* Where a column of shares begins, by its title. */
static size_t find_column(const char *titles, const char *title) {
    return (size_t)(strstr(titles, title) - titles) + strlen(title) - 7;
}

static double read_share(const char *line, size_t column) {
    char share[8] = "";
    if (strlen(line) < column + 7)
        return 0;
    memcpy(share, line + column, 7);
    return atof(share);
}

static size_t columns_of(const char *line) {
    size_t columns = 0;
    for (; *line != '\0'; line++)
        columns += (*line & 0xc0) != 0x80;
    return columns;
}

/* No line ends with a space, no control character, no escape without colour, nothing wider than the
 * terminal; own shares of the table add up to 100 %; no row of a tree weighs less than the cut. */
static void check_lines(char *text, const struct format_options *options) {
    enum { HEAD, TABLE, TREE, SUMMARY } part = HEAD;
    size_t incl = 0, self = 0;
    double sum = 0;
    int rows = 0;

    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        size_t length = strlen(line);
        CHECK(length > 0 && line[length - 1] != ' ');
        if (options->width > 0 && columns_of(line) > options->width)
            CHECK_STR(line, "a line that is as wide as the terminal");
        for (size_t i = 0; i < length; i++)
            if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
                CHECK(!"a control character");
        if (strncmp(line, "Hottest", 7) == 0)
            part = TABLE;
        else if (strncmp(line, "Hot contexts", 12) == 0)
            part = TREE;
        else if (strncmp(line, "N   ", 4) == 0)
            part = SUMMARY;
        if (strncmp(line, "  incl.", 7) == 0) {
            incl = find_column(line, "incl.");
            self = find_column(line, "self");
        } else if (part == TREE && options->lines == 0 && read_share(line, incl) > 0) {
            CHECK(read_share(line, incl) > options->cut * 100 - 0.051);
        } else if (part == TABLE) {
            rows += read_share(line, self) > 0;
            sum += read_share(line, self);
        }
    }
    CHECK(sum > 100 - 0.051 * (rows + 1) && sum < 100 + 0.051 * (rows + 1));
}

static unsigned count_lines(const char *text) {
    unsigned lines = 0;
    for (; *text != '\0'; text++)
        lines += *text == '\n';
    return lines;
}

static void test_any(void) {
    static const unsigned widths[] = {0, 80, 97, 132, 200};
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct profile *profile = seed == 0 ? sample_names() : sample_random(seed);
        struct format_options options = {.by = (enum profile_by)(seed % 4),
                                         .cut = (double)(seed % 3) / 100,
                                         .lines = seed % 2 == 0 ? FORMAT_DEFAULT_LINES : 0,
                                         .top = 1 + (unsigned)seed % 12,
                                         .width = widths[seed % HCCT_ARRAY_LEN(widths)]};
        char *text = report(profile, &options);
        if (options.lines > 0)
            CHECK(count_lines(text) <= options.lines);
        if (profile_total(profile) > 0)
            check_lines(text, &options);
        free(text);
        profile_free(profile);
    }
}

/* A program of equal parts. */
static struct profile *sample_handlers(uint32_t handlers, uint64_t weight) {
    struct profile *profile = profile_new();
    uint32_t process =
        profile_add_process(profile, &(struct profile_process){.command = "server", .pid = 1});
    profile->type = "cpu";
    profile->unit = "nanoseconds";
    for (uint32_t i = 0; i < handlers; i++) {
        char frames[64];
        snprintf(frames, sizeof frames, "main@server/dispatch@server/handle_%03u@server", i);
        sample_add(profile, process, frames, weight, 0);
    }
    return profile;
}

/* As many of them as there is room for, and how many there are beyond. */
static void test_equal(uint32_t handlers, uint64_t weight) {
    struct profile *profile = sample_handlers(handlers, weight);
    struct format_options options = format_default_options;
    unsigned shown = 0, left = 0;
    char *text, *rest;
    options.width = 80;
    text = report(profile, &options);
    CHECK_UINT(count_lines(text), FORMAT_DEFAULT_LINES);
    rest = strstr(text, "Hot contexts");
    CHECK(rest != NULL);
    for (const char *at = rest; (at = strstr(at, "handle_")) != NULL; at++)
        shown++;
    rest = strstr(rest, "[~] ");
    CHECK(rest != NULL && sscanf(rest, "[~] %u more callees\n", &left) == 1);
    CHECK(shown > 20);
    CHECK_UINT(shown + left, handlers);
    free(text);
    profile_free(profile);
}

/* Rows deeper than a narrow terminal has room for say how deep they are. */
static void test_narrow(void) {
    struct profile *profile = profile_new();
    uint32_t process = profile_add_process(profile, &(struct profile_process){.command = "deep"});
    struct format_options options = {.width = 80};
    char frames[1000] = "main@deep", *text;
    for (uint32_t i = 0; i < 60; i++) {
        sample_add(profile, process, frames, 10, 0);
        snprintf(frames + strlen(frames), sizeof frames - strlen(frames), "/%c%02u@deep",
                 'a' + (char)(i % 26), i);
    }
    text = report(profile, &options);
    CHECK(strstr(text, "(level 59) ") != NULL);
    check_says(profile, "(level ", false);
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        CHECK(columns_of(line) <= 80);
    free(text);
    profile_free(profile);
}

static void check_wrapped(const char *lines, size_t width, const char *want) {
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    text_wrap(out, lines, width, 2);
    fclose(out);
    CHECK_STR(text, want);
    free(text);
}

static void test_wrap(void) {
    check_wrapped("", 10, "");
    check_wrapped("\n\n", 10, "\n\n");
    check_wrapped("1234567890\nab\n", 10, "1234567890\nab\n");
    check_wrapped("one two three four\n", 10, "one two\n  three\n  four\n");
    check_wrapped("one two three four\n", 0, "one two three four\n");
    check_wrapped("12345 10 % of\n", 9, "12345\n  10 % of\n"); /* not "%" by itself */
    check_wrapped("123456789012345678\n", 10, "1234567890\n  12345678\n");
    check_wrapped("\033[1mone\033[0m two three\n", 10, "\033[1mone\033[0m two\n  three\n");
    check_wrapped("no end of line", 10, "no end of\n  line");
    check_wrapped("\033[1", 10, "\033[1");
}

/* The n hottest contexts have rows however light they are. */
static void test_hottest(void) {
    struct profile *profile = sample_handlers(100, 10000000);
    struct format_options options = format_default_options;
    unsigned shown = 0;
    char *text;
    options.n = 60;
    text = report(profile, &options);
    for (const char *at = strstr(text, "Hot contexts"); (at = strstr(at, "handle_")) != NULL; at++)
        shown++;
    CHECK_UINT(shown, 60);
    free(text);
    profile_free(profile);
}

/* Who asks for all gets the middle of rows, too. */
static void test_whole(void) {
    struct profile *profile = sample_shell();
    struct format_options options = format_default_options;
    char *overview = report(profile, &options), *whole;
    format_set_cut(&options, 0);
    whole = report(profile, &options);
    CHECK(strstr(overview, " frames ...") != NULL && strstr(whole, " frames ...") == NULL);
    CHECK(strstr(whole, "[~] 12 more functions") != NULL);
    format_set_top(&options, 100);
    free(overview);
    overview = report(profile, &options);
    CHECK(strstr(overview, " more functions") == NULL);
    free(overview);
    free(whole);
    profile_free(profile);
}

/* What "+1.2" means is said where it stands, and only there. */
static void test_bounds(void) {
    struct profile *profile = sample_shell(), *exact = sample_stripped();
    check_says(profile,
               "\n+x.x      the true share is up to x.x points larger: contexts that were not kept "
               "may belong to it\n",
               true);
    check_says(profile, "\n  incl.  more     self  more  ", true);
    check_says(exact, "+x.x", false);
    check_says(exact, "\n  incl.     self  ", true);
    profile_free(profile);
    profile_free(exact);
}

int main(void) {
    test_equal(100, 10000000);
    test_equal(900, 10000000);
    test_narrow();
    test_hottest();
    test_whole();
    test_wrap();
    test_bounds();
    test_golden(setlocale(LC_CTYPE, "C.UTF-8") != NULL && setlocale(LC_CTYPE, "C") != NULL);
    test_empty();
    test_any();
    return check_report();
}
