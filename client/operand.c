/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * operand.c - a file is read, "@..." is asked for.
 */
#include "client/operand.h"

#include <stdlib.h>
#include <string.h>

#include "client/command.h"
#include "client/processes.h"
#include "client/profile_file.h"
#include "common/base/memory.h"

/* Of what: a word, or else a range. */
struct part {
    const char *word;
    struct range_options range;
    bool rest;
    const char *operand; /* in which this was typed; NULL: by options */
};

/* "03:10..03:15" is a range; either side may be empty. `text` has its sides then. */
static void read_sides(struct part *part, char *text) {
    char *dots = strstr(text, "..");
    if (dots == NULL)
        return;
    *dots = '\0';
    part->range.since = *text != '\0' ? text : NULL;
    part->range.until = dots[2] != '\0' ? dots + 2 : NULL;
    part->word = NULL;
}

static int ask_profile(const struct part *part, const struct operand_options *options,
                       struct http_answer *answer) {
    struct query query;
    char path[PATHS_SOCKET_MAX];
    int status = ask_socket(path, options->socket);

    if (status != HCCT_EXIT_OK)
        return status;
    query_start(&query, "/v1/hot");
    query_add(&query, "format", "pprof");
    query_add(&query, "symbols", "complete"); /* contexts are matched by them */
    if (part->word != NULL && strcmp(part->word, "now") != 0)
        query_add(&query, "window", part->word);
    if (!range_add(&query, &part->range, part->rest, part->operand))
        return HCCT_EXIT_USAGE;
    if (options->exe != NULL)
        query_add(&query, "exe", options->exe);
    if (options->metric != NULL)
        query_add_metric(&query, options->metric);
    status = processes_query(&query, path, options->process);
    const struct option_word *words = part->operand != NULL ? operand_words : option_words;
    return status == HCCT_EXIT_OK ? ask_about(path, "GET", query.text, words, answer) : status;
}

static int read_part(const char *name, const struct part *part,
                     const struct operand_options *options, struct profile **profile) {
    struct http_answer answer;
    int status = ask_profile(part, options, &answer);
    *profile = NULL;
    if (status != HCCT_EXIT_OK)
        return status;
    *profile = profile_file_parse(name, answer.body, answer.bytes);
    free(answer.body);
    return *profile != NULL ? HCCT_EXIT_OK : HCCT_EXIT_FAILURE;
}

int operand_read_range(const struct range_options *range, bool rest,
                       const struct operand_options *options, struct profile **profile) {
    const struct part part = {.range = *range, .rest = rest};
    return read_part(rest ? "the rest" : "the range", &part, options, profile);
}

static int read_at(const char *word, const struct operand_options *options,
                   struct profile **profile) {
    char *text = strdup(word + 1);
    struct part part = {.word = word + 1, .operand = word};

    if (text == NULL)
        memory_die("an operand");
    read_sides(&part, text);
    int status = read_part(word, &part, options, profile);
    free(text);
    return status;
}

int operand_read(const char *word, const struct operand_options *options,
                 struct profile **profile) {
    *profile = NULL;
    if (word[0] == '@')
        return read_at(word, options, profile);
    size_t bytes;
    char *data = profile_file_load(word, &bytes);

    if (data != NULL)
        *profile = profile_file_parse_metric(word, data, bytes, options->metric);
    free(data);
    return *profile != NULL ? HCCT_EXIT_OK : HCCT_EXIT_FAILURE;
}
