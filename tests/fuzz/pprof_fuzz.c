/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * pprof_fuzz.c - any bytes as a profile file: a sentence, or a profile that every format can be
 * written of, that can be compared, added up, and read back.
 */
#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>

#include "common/profile/diff.h"
#include "common/profile/merge.h"
#include "common/render/format.h"
#include "tests/fuzz/fuzz.h"

#define JSON_DEPTH 64

struct text {
    char *bytes;
    size_t n;
};

static FILE *open_text(struct text *text) {
    FILE *out = open_memstream(&text->bytes, &text->n);
    fuzz_must(out != NULL);
    return out;
}

static void check_json(const struct text *text) {
    struct json_tokener *tokener = json_tokener_new_ex(JSON_DEPTH);
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    struct json_object *root = json_tokener_parse_ex(tokener, text->bytes, (int)text->n);
    fuzz_must(root != NULL);
    json_object_put(root);
    json_tokener_free(tokener);
}

static void write_one(const struct format *format, const struct profile *profile,
                      const struct format_options *options) {
    struct text text;
    FILE *out = open_text(&text);
    fuzz_must(format_write(format, out, profile, options));
    fuzz_must(fclose(out) == 0);
    if (strcmp(format->mime, "application/json") == 0)
        check_json(&text);
    free(text.bytes);
}

static void write_all(const struct profile *profile, unsigned choice) {
    struct format_options options = format_default_options;
    options.by = choice % 4;
    options.cut = (choice & 4) != 0 ? 0 : options.cut;
    options.color = (choice & 8) != 0;
    options.width = (choice & 16) != 0 ? 40 + choice % 60 : 0;
    options.n = (choice & 32) != 0 ? 2 : 0;
    options.focus = (choice & 64) != 0 ? "a" : NULL;
    options.ignore = (choice & 128) != 0 ? "b" : NULL;
    for (const struct format *format = formats; format->name != NULL; format++)
        write_one(format, profile, &options);
}

static void write_and_read(const struct profile *profile) {
    char error[256] = "";
    struct text text;
    FILE *out = open_text(&text);
    fuzz_must(write_pprof(out, profile, &format_default_options) && fclose(out) == 0);
    struct profile *back = read_pprof(text.bytes, text.n, error, sizeof error);
    if (back == NULL)
        fprintf(stderr, "what was written can't be read: %s\n", error);
    fuzz_must(back != NULL && profile_total(back) == profile_total(profile));
    profile_free(back);
    free(text.bytes);
}

static void compare(const struct profile *profile) {
    const struct diff_options how = {.by = PROFILE_BY_FUNCTION};
    struct format_options options = format_default_options;
    char error[256] = "";
    struct diff diff;
    struct text text;
    options.all = true;
    if (!diff_make(&diff, profile, profile, &how, error, sizeof error)) {
        fuzz_must(error[0] != '\0');
        return;
    }
    fuzz_must(diff.beyond == 0); /* it has not changed since */
    FILE *out = open_text(&text);
    fuzz_must(write_text_diff(out, &diff, &options) && fclose(out) == 0);
    free(text.bytes);
    out = open_text(&text);
    fuzz_must(write_json_diff(out, &diff, &options) && fclose(out) == 0);
    check_json(&text);
    free(text.bytes);
    diff_free(&diff);
}

static void add_up(const struct profile *profile) {
    const struct profile *const twice[] = {profile, profile};
    char error[256] = "";
    size_t bad;
    struct profile *sum = merge_profiles(twice, 2, &bad, error, sizeof error);
    fuzz_must(sum != NULL ? profile_total(sum) == 2 * profile_total(profile) : error[0] != '\0');
    profile_free(sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char error[256] = "";
    struct profile *profile = read_pprof(data, size, error, sizeof error);
    if (profile == NULL) {
        fuzz_must(error[0] != '\0');
        return 0;
    }
    write_all(profile, data[size - 1]);
    write_and_read(profile);
    compare(profile);
    add_up(profile);
    profile_free(profile);
    return 0;
}

const struct fuzz_target fuzz_target = {.name = "pprof", .mutations = 1500};
