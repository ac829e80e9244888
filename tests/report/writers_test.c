/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * writers_test.c - folded stacks and JSON: weights add up, names survive; the table of formats.
 */
#include "tests/check.h"

#include <json-c/json.h>

#include "common/base/utf8.h"
#include "common/render/format.h"
#include "tests/report/forest.h"
#include "tests/report/sample.h"

static char *written(const char *format, const struct profile *profile,
                     const struct format_options *options) {
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    CHECK(format_find(format)->write(out, profile, options));
    fclose(out);
    return text;
}

static uint64_t folded_sum(char *text) {
    uint64_t sum = 0;
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        char *weight = strrchr(line, ' '), *end;
        CHECK(weight != NULL);
        sum += strtoull(weight, &end, 10);
        CHECK(*end == '\0');
    }
    return sum;
}

static void check_json(const char *text, uint64_t total) {
    struct json_object *top = json_tokener_parse(text), *nodes, *value;
    uint64_t sum = 0, roots = 0;
    CHECK(top != NULL);
    CHECK(json_object_object_get_ex(top, "format", &value));
    CHECK_STR(json_object_get_string(value), "hcct-profile");
    CHECK(json_object_object_get_ex(top, "version", &value));
    CHECK_UINT(json_object_get_uint64(value), 2);
    CHECK(json_object_object_get_ex(top, "total", &value));
    CHECK_UINT(json_object_get_uint64(value), total);
    CHECK(json_object_object_get_ex(top, "nodes", &nodes));
    for (size_t i = 0; i < json_object_array_length(nodes); i++) {
        struct json_object *node = json_object_array_get_idx(nodes, i), *parent, *inclusive;
        CHECK(json_object_object_get_ex(node, "count", &value));
        sum += json_object_get_uint64(value);
        CHECK(json_object_object_get_ex(node, "inclusive", &inclusive));
        CHECK(json_object_object_get_ex(node, "parent", &parent));
        if (parent == NULL)
            roots += json_object_get_uint64(inclusive);
        else
            CHECK(json_object_get_uint64(parent) < i);
    }
    CHECK_UINT(sum, total);
    CHECK_UINT(roots, total);
    json_object_put(top);
}

static void check_both(struct profile *profile, const struct format_options *options) {
    uint64_t total = profile_total(profile);
    char *text = written("folded", profile, options);
    CHECK_UINT(folded_sum(text), total);
    free(text);
    text = written("json", profile, options);
    check_json(text, total);
    free(text);
    profile_free(profile);
}

static void test_sums(void) {
    struct format_options options = format_default_options;
    check_both(sample_shell(), &options);
    check_both(sample_build(), &options);
    check_both(sample_names(), &options);
    check_both(sample_calls(), &options);
    check_both(sample_call_bursts(), &options);
    check_both(sample_empty(), &options);
    check_both(profile_new(), &options);
    for (uint64_t seed = 0; seed < 100; seed++) {
        options.by = (enum profile_by)(seed % 4);
        options.n = (unsigned)(seed % 7);
        check_both(sample_random(seed), &options);
    }
}

static void test_folded_names(void) {
    struct profile *names = sample_names();
    char *text = written("folded", names, &format_default_options);
    CHECK(strstr(text, "my app: v2;main;say \"hello\" \\ bye;a name with spaces_12 100\n") != NULL);
    CHECK(strstr(text, ";<alloc::vec::Vec<[u8: 16]> as core::iter::Extend<T>>::extend 50\n") !=
          NULL);
    CHECK(strstr(text, ";naïve_größe;日本語の関数 30\n") != NULL);
    CHECK(strstr(text, ";line break tab; [31mred 20\n") != NULL);
    CHECK(strstr(text, "my app: v2;[truncated];main 3\n") != NULL);
    free(text);
    profile_free(names);
}

static void test_json_names(void) {
    struct profile *names = sample_names();
    char *text = written("json", names, &format_default_options);
    CHECK(strstr(text, "\"say \\\"hello\\\" \\\\ bye\"") != NULL);
    CHECK(strstr(text, "日本語の関数") != NULL);
    CHECK(strstr(text, "line\\nbreak\\ttab") != NULL);
    for (const char *at = text; *at != '\0'; at += utf8_length(at))
        if (utf8_length(at) == 0) {
            CHECK(!"JSON is UTF-8");
            break;
        }
    free(text);
    profile_free(names);
}

/* Calls that were seen in bursts stand beside what they stand for; others stand alone. */
static void test_json_scaled(void) {
    struct profile *calls = sample_calls(), *bursts = sample_call_bursts();
    char *text = written("json", calls, &format_default_options);
    CHECK(strstr(text, "\"scale") == NULL);
    CHECK(strstr(text, "\"collector\":\"calls\"") != NULL);
    CHECK(strstr(text, "\"jumped\":12") != NULL);
    free(text);
    text = written("json", bursts, &format_default_options);
    CHECK(strstr(text, "\"scale\":17.77777") != NULL);
    /* 906506 * 4000 / 225 */
    CHECK(strstr(text, "\"inclusive\":906506,\"inclusive_upper\":907201,\"scaled\":16115662,"
                       "\"half_width\":") != NULL);
    free(text);
    profile_free(calls);
    profile_free(bursts);
}

static void test_hottest(void) {
    struct profile *shell = sample_shell();
    struct format_options options = format_default_options;
    char *text;
    options.n = 2;
    text = written("folded", shell, &options);
    CHECK(strstr(text, ";sqlite3VdbeExec 3412000000\n") != NULL);
    CHECK(strstr(text, ";memcmp 1204000000\n") != NULL);
    CHECK(strstr(text, ";[~];whereLoopAddBtree ") != NULL);
    CHECK(strstr(text, "sqlite3;[~];") != NULL);
    free(text);
    profile_free(shell);
}

static void test_formats(void) {
    struct profile *shell = sample_shell();
    FILE *full;
    CHECK_STR(formats[0].name, "text");
    CHECK(format_find("pprof")->binary);
    CHECK(format_find("nothing") == NULL);
    CHECK(format_by_suffix("dir/x.pb.gz") == format_find("pprof"));
    CHECK(format_by_suffix("x.folded") == format_find("folded"));
    CHECK(format_by_suffix("x.unknown") == NULL);
    CHECK(format_by_suffix(".json") == NULL);
    CHECK(format_by_suffix("dir/callgrind.out.12") == format_find("callgrind"));
    CHECK(format_by_suffix("callgrind.out.json") == format_find("json"));
    CHECK(format_by_suffix("callgrind.out/12") == NULL);
    full = fopen("/dev/full", "w");
    for (const struct format *format = formats; full != NULL && format->name != NULL; format++) {
        CHECK(!format->write(full, shell, &format_default_options));
        clearerr(full);
    }
    if (full != NULL)
        fclose(full);
    profile_free(shell);
}

/* The list for people has each format that is meant for them, and no other. */
static void test_names(void) {
    char names[] = FORMAT_NAMES;
    size_t n = 0;
    for (char *name = strtok(names, ", "); name != NULL; name = strtok(NULL, ", "))
        n += strcmp(name, "or") != 0 && format_find(name) != NULL ? 1 : 0;
    for (const struct format *format = formats; format->name != NULL; format++)
        n -= strcmp(format->name, "page-data") != 0;
    CHECK_UINT(n, 0);
}

static void test_deep(void) {
    struct profile *deep = sample_deep(2000);
    check_both(deep, &format_default_options);
}

/* What a reader of callgrind's format adds up for a function. */
struct read_function {
    uint64_t self, self_error, inclusive, inclusive_error;
};

static void read_callgrind(char *text, struct read_function *functions) {
    unsigned context[2 * FOREST_CONTEXTS] = {0}, number = 0; /* by number of the function */
    bool is_call = false;
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        unsigned long position, weight, error;
        unsigned named, which;
        if (sscanf(line, "fn=(%u) f%u", &named, &which) == 2 ||
            sscanf(line, "cfn=(%u) f%u", &named, &which) == 2)
            context[named] = which;
        if (sscanf(line, "fn=(%u)", &named) == 1)
            number = named;
        if (strncmp(line, "calls=", 6) == 0) {
            is_call = true;
            continue;
        }
        if (sscanf(line, "%lu %lu %lu", &position, &weight, &error) != 3)
            continue;
        struct read_function *it = &functions[context[number]];

        it->self += is_call ? 0 : weight;
        it->self_error += is_call ? 0 : error;
        it->inclusive += weight;
        it->inclusive_error += error;
        is_call = false;
    }
}

/* Each function's true weights are within what the rows of the file and their bounds say. */
static void test_callgrind_bounds(uint64_t *seed, unsigned pruned, unsigned missing) {
    const struct forest_view viewed = {
        .collector = "calls", .exe = "/opt/a/app", .pruned = pruned, .missing = missing};
    struct forest forest;
    struct read_function functions[FOREST_CONTEXTS] = {0};
    unsigned wrong = 0;
    forest_grow(&forest, seed, 1000);
    struct profile *profile = forest_profile(&forest, &viewed, seed);
    char *text = written("callgrind", profile, &format_default_options);

    read_callgrind(text, functions);
    for (uint32_t i = 1; i < FOREST_CONTEXTS; i++) {
        const struct read_function *it = &functions[i];
        uint64_t self = forest.weight[i], inclusive = forest_inclusive(&forest, i);
        if (it->inclusive == 0 && it->inclusive_error == 0)
            continue; /* the file does not have it */
        wrong += self < it->self || self > it->self + it->self_error;
        wrong += inclusive < it->inclusive || inclusive > it->inclusive + it->inclusive_error;
    }
    CHECK_UINT(wrong, 0);
    free(text);
    profile_free(profile);
}

/* Titles say what the weights of viewers can't; what bursts have seen is no number of calls. */
static void test_titles(void) {
    static const char *const words[] = {"every context is counted exactly",
                                        "true weights are larger by at most ",
                                        "what was seen of each context is counted exactly"};
    uint64_t seed = 3;
    struct forest forest;
    const struct forest_view exact = {.collector = "calls", .exe = "/opt/a/app"};
    const struct forest_view pruned = {.collector = "calls", .exe = "/opt/a/app", .pruned = 50};
    forest_grow(&forest, &seed, 1000);
    for (int i = 0; i < 3; i++) {
        struct profile *profile = forest_profile(&forest, i == 1 ? &pruned : &exact, &seed);
        if (i == 2)
            profile->processes[1].burst_period_ns = 20000000;
        for (int k = 0; k < 2; k++) {
            char *text =
                written(k == 0 ? "speedscope" : "firefox", profile, &format_default_options);
            for (int w = 0; w < 3; w++)
                CHECK((strstr(text, words[w]) != NULL) == (w == i));
            free(text);
        }
        profile_free(profile);
    }
}

int main(void) {
    uint64_t seed = 5;
    for (unsigned i = 0; i < 60; i++)
        test_callgrind_bounds(&seed, i % 3 * 25, i / 3 % 3 * 15);
    test_titles();
    test_sums();
    test_folded_names();
    test_json_names();
    test_json_scaled();
    test_hottest();
    test_formats();
    test_names();
    test_deep();
    return check_report();
}
