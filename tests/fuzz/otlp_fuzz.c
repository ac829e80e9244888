/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * otlp_fuzz.c - any bytes as a profile of OpenTelemetry: a sentence, or a profile that is the same
 * when it has been written as one and read back. What can be done with any profile is pprof_fuzz's.
 */
#include <stdbool.h>
#include <stdio.h>

#include "common/render/format.h"
#include "tests/fuzz/fuzz.h"

struct text {
    char *bytes;
    size_t n;
};

static struct text write_as(bool (*write)(FILE *out, const struct profile *profile,
                                          const struct format_options *options),
                            const struct profile *profile) {
    struct text text;
    FILE *out = open_memstream(&text.bytes, &text.n);
    fuzz_must(out != NULL);
    fuzz_must(write(out, profile, &format_default_options));
    fuzz_must(fclose(out) == 0);
    return text;
}

/* Whoever reads a file finds out by itself what it is. */
static struct profile *read_back(const struct text *text) {
    char error[256] = "";
    struct profile *profile = format_read(text->bytes, text->n, error, sizeof error);
    if (profile == NULL)
        fprintf(stderr, "what was written can't be read: %s\n", error);
    fuzz_must(profile != NULL);
    return profile;
}

/* What was written once is written the same ever after. */
static void write_and_read(const struct profile *profile) {
    struct text first = write_as(write_otlp, profile);
    struct profile *back = read_back(&first);
    struct text second = write_as(write_otlp, back);
    struct profile *again = read_back(&second);
    struct text third = write_as(write_otlp, again);
    fuzz_must(profile_total(back) == profile_total(profile));
    fuzz_must(back->n_processes == again->n_processes && back->n_nodes == again->n_nodes);
    fuzz_must(second.n == third.n && memcmp(second.bytes, third.bytes, third.n) == 0);
    free(first.bytes);
    free(second.bytes);
    free(third.bytes);
    profile_free(back);
    profile_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char error[256] = "";
    struct profile *profile = read_otlp(data, size, error, sizeof error);
    if (profile == NULL) {
        fuzz_must(error[0] != '\0');
        return 0;
    }
    struct text shown = write_as(write_text, profile);
    free(shown.bytes);
    write_and_read(profile);
    profile_free(profile);
    return 0;
}

const struct fuzz_target fuzz_target = {.name = "otlp", .mutations = 3000};
