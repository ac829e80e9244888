/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * query_fuzz.c - any names and values as the parameters of a query: taken, and then within their
 * ranges, or refused with a sentence.
 */
#include <stdbool.h>

#include "daemon/answers/config.h"
#include "daemon/answers/query.h"
#include "tests/fuzz/fuzz.h"

#define SECONDS_MAX 3600ull

struct daemon_config config = {.phi = 0.001, .epsilon = 0.0001, .summary = "lazy-space-saving"};

static void check(const struct query *query) {
    fuzz_must(query->pid >= 0 && query->pid <= 1 << 22);
    fuzz_must(query->phi > 0 && query->phi < 1);
    fuzz_must(query->format != NULL && format_find(query->format->name) == query->format);
    fuzz_must(query->options.by <= PROFILE_BY_THREAD);
    fuzz_must(query->options.cut >= 0 && query->options.cut <= 1);
    fuzz_must(query->options.width <= 10000 && query->options.top <= 1000000);
    fuzz_must(query->options.n <= 1000000000);
    fuzz_must(query->window_ns <= SECONDS_MAX * 1000000000);
    fuzz_must(query->exe == NULL || query->exe[0] != '\0');
}

/* Lines of NAME=VALUE, or of a name alone. As in a URL, the first refusal ends it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_input input = {data, size};
    char *text = fuzz_take_text(&input);
    struct query query;
    query_init(&query, 1000);
    for (char *line = text, *next; line != NULL; line = next) {
        struct query_error error = {.text = ""};
        next = strchr(line, '\n');
        if (next != NULL)
            *next++ = '\0';
        char *value = strchr(line, '=');
        if (value != NULL)
            *value++ = '\0';
        if (query_set(&query, line, value, &error) != QUERY_OK) {
            fuzz_must(error.text[0] != '\0' && strlen(error.text) < sizeof error.text);
            break;
        }
        check(&query);
    }
    free(text);
    return 0;
}

const struct fuzz_target fuzz_target = {.name = "query", .mutations = 20000};
