/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * fleet_fuzz.c - any rows as what ClickHouse answers to hcct fleet: a sentence, or a profile, a
 * list, a screen, of which nothing steers a terminal.
 *
 * The first byte says what is asked. Then lines: the first character of each tells which question
 * it answers, the rest is a row of the answer. transfer_post() is ours here.
 */
#include <stdbool.h>
#include <stdio.h>

#include "client/remote/fleet_query.h"
#include "client/remote/fleet_source.h"
#include "common/base/memory.h"
#include "common/base/options.h"
#include "common/base/utf8.h"
#include "common/render/format.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/whole.h"

#define REFUSED '!' /* a row that begins so: the server does not answer at all */
#define COLUMNS 100u
#define DAY_S   86400u

enum asked { ASKED_PROFILE, ASKED_LIST, ASKED_CONTEXTS, ASKED_PROCESSES, ASKED };

/* By which words a question is known; the first that it has. */
static const struct {
    char letter;
    const char *word;
} questions[] = {
    {'n', " AS now "},          {'c', "system.columns"}, {'g', "SELECT hour, sum(contexts)"},
    {'p', "SELECT hour, sum("}, {'s', "system_names"},   {'w', " AS cell"},
    {'l', " AS name, metric"},  {'h', "SELECT host, "},  {'t', ""},
};

static struct {
    char *text;
    size_t bytes;
} given;

static char letter_of(const char *question) {
    size_t i = 0;
    while (strstr(question, questions[i].word) == NULL)
        i++;
    return questions[i].letter;
}

void transfer_set_parameters(struct transfer *transfer, const char *parameters) {
    (void)transfer;
    fuzz_must(parameters != NULL);
}

enum transfer_result transfer_post(struct transfer *transfer, const char *url, const char *type,
                                   const void *body, size_t bytes, struct transfer_answer *answer,
                                   char *error, size_t error_bytes) {
    char letter = letter_of(body);
    bool refused = false;
    FILE *out = memory_stream("an answer");
    (void)transfer;
    (void)type;
    fuzz_must(strlen(body) == bytes && utf8_is_valid(body, bytes));
    for (const char *line = given.text, *end = line + given.bytes, *next; line < end; line = next) {
        next = memchr(line, '\n', (size_t)(end - line));
        next = next != NULL ? next + 1 : end;
        if (*line == letter)
            fwrite(line + 1, 1, (size_t)(next - line) - 1, out);
        refused |= *line == letter && next - line > 1 && line[1] == REFUSED;
    }
    answer->status = 200;
    answer->body = memory_stream_end(out, &answer->bytes, "an answer");
    if (!refused)
        return TRANSFER_DONE;
    answer->body[answer->bytes = 0] = '\0';
    snprintf(error, error_bytes, "%s does not answer", url);
    return TRANSFER_LATER;
}

static void check_list(const struct fleet_server *server, const struct fleet_choice *choice) {
    FILE *terminal = stdout;
    char *text;
    size_t bytes;
    stdout = open_memstream(&text, &bytes);
    fuzz_must(stdout != NULL);
    int status = fleet_list(server, choice, choice->by == FLEET_BY_HOST, false);
    fuzz_must(fclose(stdout) == 0);
    stdout = terminal;
    fuzz_must((status == HCCT_EXIT_OK) == (server->error[0] == '\0'));
    must_be_quiet(text, bytes);
    free(text);
}

static void check_profile(const struct fleet_server *server, const struct fleet_choice *choice) {
    struct profile *profile;
    uint64_t frameless = 0;
    int status = fleet_profile(server, choice, &profile, &frameless);
    fuzz_must((status == HCCT_EXIT_OK) == (server->error[0] == '\0'));
    if (status != HCCT_EXIT_OK)
        return;
    must_be_whole(profile);
    must_be_written(profile, "text");
    must_be_written(profile, "pprof");
    profile_free(profile);
}

static void check_screen(const struct fleet_server *server, const struct fleet_choice *choice,
                         enum top_what what, unsigned steps) {
    static struct top_request request; /* which has a path, as long as these may be */
    struct top_response response;
    struct fleet_source source;
    request = (struct top_request){.what = what,
                                   .window = (steps & 1) != 0 ? "60s" : NULL,
                                   .columns = (steps & 2) != 0 ? COLUMNS : 0,
                                   .choose = (steps & 4) != 0,
                                   .by = PROFILE_BY_FUNCTION};
    fleet_source_make(&source, server, choice);
    top_client_once(&source.source, &request, &response);
    if (response.outcome == TOP_ANSWERED)
        fuzz_must((response.model != NULL) == (what == TOP_REQUEST_CONTEXTS));
    else
        fuzz_must(response.sentence[0] != '\0');
    top_response_clear(&response);
}

static void ask_for(enum asked asked, const struct fleet_server *server,
                    struct fleet_choice *choice, unsigned how) {
    if (asked == ASKED_CONTEXTS || asked == ASKED_PROCESSES) {
        check_screen(server, choice,
                     asked == ASKED_CONTEXTS ? TOP_REQUEST_CONTEXTS : TOP_REQUEST_PROCESSES, how);
        return;
    }
    if (fleet_set_span(server, choice) != HCCT_EXIT_OK)
        fuzz_must(server->error[0] != '\0');
    else if (asked == ASKED_LIST)
        check_list(server, choice);
    else
        check_profile(server, choice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_input input = {data, size};
    char error[FLEET_ERROR_ROOM] = "";
    const struct fleet_server server = {
        .url = "http://db:8123", .database = "hcct", .error = error};
    unsigned asked = fuzz_take_byte(&input), how = fuzz_take_byte(&input);
    struct fleet_choice choice = {.by = (enum fleet_by)(how % 3),
                                  .since_s = (how & 8) != 0 ? DAY_S : 600,
                                  .until_s = (how & 16) != 0 ? 60 : 0,
                                  .host = (how & 32) != 0 ? "web1" : NULL,
                                  .service = (how & 64) != 0 ? "shop" : NULL,
                                  .metric = (how & 128) != 0 ? "cpu" : NULL};
    choice.labels_only = choice.by == FLEET_BY_HOST && (how & 4) != 0;
    given.bytes = input.size;
    given.text = fuzz_take_text(&input);
    ask_for((enum asked)(asked % ASKED), &server, &choice, asked / ASKED);
    free(given.text);
    return 0;
}

const struct fuzz_target fuzz_target = {.name = "fleet", .mutations = 4000};
