/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * merge_metrics.c - a list of metrics, a sum for each, one file.
 */
#include "client/merge_metrics.h"

#include <stdlib.h>
#include <string.h>

#include "client/profile_file.h"
#include "common/base/memory.h"
#include "common/base/options.h"
#include "common/profile/merge.h"
#include "common/render/pprof_join.h"
#include "common/wire/metric.h"

#define METRICS_MOST 16u
#define WORD_ROOM    64

struct word {
    char text[WORD_ROOM];
};

struct words {
    struct word word[METRICS_MOST];
    unsigned n;
};

void merge_inputs_free(struct merge_input *inputs, size_t n) {
    for (size_t i = 0; i < n; i++) {
        free(inputs[i].data);
        profile_free(inputs[i].profile);
    }
    free(inputs);
}

bool merge_metrics_are_several(const struct merge_input *inputs, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (*inputs[i].profile->others != '\0')
            return true;
    return false;
}

/* ---- which there are ---- */

static bool has(const struct words *words, const char *text) {
    for (unsigned i = 0; i < words->n; i++)
        if (strcmp(words->word[i].text, text) == 0)
            return true;
    return false;
}

static void add(struct words *words, const char *text, size_t length) {
    struct word word = {""};
    if (length == 0 || length >= WORD_ROOM || words->n == METRICS_MOST)
        return;
    memcpy(word.text, text, length);
    if (!has(words, word.text))
        words->word[words->n++] = word;
}

/* Those of one input, behind those that are there: its own, and "heap, lock". */
static void add_metrics(struct words *words, const struct merge_input *input) {
    const char *own = metric_word_of_type(input->profile->type);
    add(words, own, strlen(own));
    for (const char *at = input->profile->others; *at != '\0';) {
        size_t length = strcspn(at, ",");
        add(words, at, length);
        at += length + strspn(at + length, ", ");
    }
}

bool merge_inputs_align(struct merge_input *inputs, size_t n) {
    for (size_t i = 1; i < n; i++) {
        struct merge_input *it = &inputs[i];
        const char *first = metric_word_of_type(inputs[0].profile->type);
        struct words words = {.n = 0};
        add_metrics(&words, it);
        if (it->data == NULL || !has(&words, first) || strcmp(words.word[0].text, first) == 0)
            continue;
        profile_free(it->profile);
        it->profile = profile_file_parse_metric(it->name, it->data, it->bytes, first);
        if (it->profile == NULL)
            return false;
    }
    return true;
}

/* A profile that has none of the metrics of the first one is of something else. */
static bool are_of_one_kind(const struct merge_input *inputs, size_t n) {
    struct words first = {.n = 0};
    add_metrics(&first, &inputs[0]);
    for (size_t i = 1; i < n; i++) {
        struct words own = {.n = 0};
        bool common = false;
        add_metrics(&own, &inputs[i]);
        for (unsigned k = 0; k < own.n; k++)
            common |= has(&first, own.word[k].text);
        if (!common) {
            complain("%s: it has no metric that %s has (%s)", inputs[i].name, inputs[0].name,
                     own.word[0].text);
            return false;
        }
    }
    return true;
}

/* ---- one of them ---- */

/* Those that have it, what they are called, and which of them were read for this. */
struct parts {
    const struct profile **profile;
    struct profile **read;
    const char **name;
    size_t n;
};

static void free_parts(struct parts *parts) {
    for (size_t i = 0; i < parts->n; i++)
        profile_free(parts->read[i]);
    free(parts->read);
    free((void *)parts->profile);
    free((void *)parts->name);
}

/* False: complained. */
static bool add_part(struct parts *parts, const struct merge_input *input, const char *metric) {
    struct profile *read = NULL;
    if (input->data != NULL) {
        read = profile_file_parse_metric(input->name, input->data, input->bytes, metric);
        if (read == NULL)
            return false;
    }
    parts->read[parts->n] = read;
    parts->profile[parts->n] = read != NULL ? read : input->profile;
    parts->name[parts->n++] = input->name;
    return true;
}

/* False: complained. */
static bool read_parts(const struct merge_input *inputs, size_t n, const char *metric,
                       struct parts *parts) {
    *parts = (struct parts){.profile = memory_new(n, sizeof *parts->profile, "profiles"),
                            .read = memory_new(n, sizeof *parts->read, "profiles"),
                            .name = memory_new(n, sizeof *parts->name, "profiles")};
    for (size_t i = 0; i < n; i++) {
        struct words own = {.n = 0};
        add_metrics(&own, &inputs[i]);
        if (has(&own, metric) && !add_part(parts, &inputs[i], metric))
            return false;
    }
    if (parts->n < n)
        complain("%s is in %zu of %zu profiles: its sum is of these", metric, parts->n, n);
    return true;
}

/* The sum as a file in memory, which the caller frees. */
static bool write_sum(const struct parts *parts, const struct view *view, double phi,
                      struct pprof_part *file, bool *failed) {
    char error[512], *data = NULL;
    size_t bad = 0, bytes = 0;
    struct profile *sum = merge_profiles(parts->profile, parts->n, &bad, error, sizeof error);
    if (sum == NULL) {
        complain("%s: %s", parts->name[bad], error);
        return false;
    }
    sum->others = "";
    FILE *stream = open_memstream(&data, &bytes);
    bool done =
        stream != NULL && profile_file_write(stream, sum, view->format, &view->options, phi);
    done &= stream != NULL && fclose(stream) == 0;
    profile_free(sum);
    *file = (struct pprof_part){data, bytes};
    *failed = !done;
    return done;
}

/* ---- all ---- */

static bool join(FILE *out, const struct pprof_part *files, unsigned n, bool *failed) {
    char error[512];
    if (!pprof_join(out, files, n, error, sizeof error)) {
        complain("the metrics can't be joined in one profile: %s", error);
        return false;
    }
    *failed = ferror(out) != 0;
    return !*failed;
}

bool merge_metrics_write(const struct merge_input *inputs, size_t n, const struct view *view,
                         double phi, FILE *out, bool *failed) {
    struct words words = {.n = 0};
    struct pprof_part files[METRICS_MOST] = {{NULL, 0}};
    *failed = false;
    bool done = are_of_one_kind(inputs, n);
    for (size_t i = 0; i < n; i++)
        add_metrics(&words, &inputs[i]);
    for (unsigned i = 0; i < words.n && done; i++) {
        struct parts parts;
        done = read_parts(inputs, n, words.word[i].text, &parts) &&
               write_sum(&parts, view, phi, &files[i], failed);
        free_parts(&parts);
    }
    done = done && join(out, files, words.n, failed);
    for (unsigned i = 0; i < words.n; i++)
        free((void *)files[i].data);
    return done;
}
