/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * write_page.c - writes the profiles that page_test.py shows to a browser, and that are no samples
 * of the other tests: write_page NAME FORMAT > FILE
 *
 *   many     50,000 contexts
 *   hostile  names that try to break out of the page
 *   wide     weights beyond 2^53
 *   diff     a comparison of two runs; FORMAT is html or json
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/profile/diff.h"
#include "common/render/format.h"
#include "common/render/write_html.h"
#include "tests/report/sample.h"

#define MANY 50000u

static struct profile *begin(const char *type, const char *unit) {
    struct profile *profile = profile_new();
    struct profile_process process = {
        .exe = "/usr/bin/app", .command = "app", .pid = 7, .runs = 1, .walks = 9000};
    profile->type = type;
    profile->unit = unit;
    profile->phi = 0.001;
    profile->epsilon = 0.0001;
    profile_add_process(profile, &process);
    return profile;
}

/* Each context but the first is called by one before it, most by one that is not far. */
static struct profile *make_many(void) {
    struct profile *profile = begin("cpu", "nanoseconds");
    uint32_t nodes[MANY], locations[3000];
    uint64_t state = 1;
    for (uint32_t i = 0; i < 3000; i++) {
        char name[64], path[64];
        struct profile_line line = {.line = i % 900 + 1};
        snprintf(name, sizeof name, "ns%u::Part<%u>::work(int, char const*)", i % 40, i);
        snprintf(path, sizeof path, "/usr/lib/libpart%u.so.1", i % 9);
        locations[i] =
            profile_add_location(profile, profile_add_module(profile, path, ""), 16 * i, true);
        line.function = profile_add_function(profile, name, name, "/src/part.cc", 1);
        profile_set_lines(profile, locations[i], &line, 1);
    }
    for (uint32_t i = 0; i < MANY; i++) {
        uint32_t near = i < 4000 ? i : 4000, parent = profile_root(profile, 1);
        state = state * 6364136223846793005u + 1442695040888963407u;
        if (i > 3)
            parent = nodes[i - 1 - (uint32_t)(state >> 33) % near];
        nodes[i] = profile_add_node(profile, parent, locations[(state >> 20) % 3000],
                                    1000 + (state >> 40) % 100000, (state >> 50) % 900);
    }
    return profile;
}

static struct profile *make_hostile(void) {
    static const char *const names[] = {
        "<!--<script>alert(1)",
        "\"><img src=x onerror=alert(2)>",
        "&lt;b&gt;",
        "constructor",
        "__proto__",
        "\xe2\x80\xae"
        "desrever",
        "javascript:alert(3)",
    };
    struct profile *profile = begin("calls", "count");
    uint32_t node = profile_root(profile, 1), module = profile_add_module(profile, "/lib/<b>", "");

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        uint32_t location = profile_add_location(profile, module, i, true);
        struct profile_line line = {.function =
                                        profile_add_function(profile, names[i], names[i], "", 0)};
        profile_set_lines(profile, location, &line, 1);
        node = profile_add_node(profile, node, location, 100, 0);
    }
    sample_add(profile, 1, "x</script><script>alert(4)@m", 10, 0); /* '/' parts its frames */
    return profile;
}

static struct profile *make_wide(void) {
    struct profile *profile = begin("calls", "count");
    sample_add(profile, 1, "main@app/heavy", 9007199254740993, 1);
    sample_add(profile, 1, "main@app/heavier", 9007199254740995, 0);
    return profile;
}

static struct profile *make_before(void) {
    struct profile *profile = begin("calls", "count");
    sample_add(profile, 1, "main@app/parse/read", 5000, 0);
    sample_add(profile, 1, "main@app/parse/old", 3000, 0);
    sample_add(profile, 1, "main@app/draw/blit", 2000, 10);
    sample_add(profile, 1, "main@app/draw/[~]", 10, 0); /* may be blit, too */
    return profile;
}

static struct profile *make_after(void) {
    struct profile *profile = begin("calls", "count");
    sample_add(profile, 1, "main@app/parse/read", 2000, 0);
    sample_add(profile, 1, "main@app/parse/fresh", 6000, 0);
    sample_add(profile, 1, "main@app/draw/blit", 2005, 10);
    sample_add(profile, 1, "main@app/draw/[~]", 10, 0); /* may be blit, too */
    return profile;
}

static bool write_diff(FILE *out, const char *form) {
    const struct diff_options options = {
        .by = PROFILE_BY_FUNCTION, .mode = DIFF_ABSOLUTE, .name = {"before.pb.gz", "after.pb.gz"}};
    struct profile *before = make_before(), *after = make_after();
    struct diff diff;
    char error[256];
    bool ok = diff_make(&diff, before, after, &options, error, sizeof error);
    if (!ok)
        fprintf(stderr, "%s\n", error);
    else if (strcmp(form, "html") == 0)
        ok = write_html_diff(out, &diff, &format_default_options);
    else
        ok = write_json_diff(out, &diff, &format_default_options);
    if (ok)
        diff_free(&diff);
    profile_free(before);
    profile_free(after);
    return ok;
}

static const struct {
    const char *name;
    struct profile *(*make)(void);
} profiles[] = {{"many", make_many}, {"hostile", make_hostile}, {"wide", make_wide}, {NULL, NULL}};

int main(int argc, char **argv) {
    const struct format *format = argc == 3 ? format_find(argv[2]) : NULL;
    if (argc == 3 && strcmp(argv[1], "diff") == 0)
        return write_diff(stdout, argv[2]) ? 0 : 1;
    for (size_t i = 0; format != NULL && profiles[i].name != NULL; i++) {
        if (strcmp(profiles[i].name, argv[1]) != 0)
            continue;
        struct profile *profile = profiles[i].make();
        bool ok = format->write(stdout, profile, &format_default_options);
        profile_free(profile);
        return ok ? 0 : 1;
    }
    fprintf(stderr, "usage: write_page many|hostile|wide|diff FORMAT\n");
    return 2;
}
