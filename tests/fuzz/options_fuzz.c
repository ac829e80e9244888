/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * options_fuzz.c - any words as a command line, and as a burst: values within their ranges, or the
 * exit status of a usage error.
 *
 * options_parse() ends the program on an error; here it comes back instead.
 */
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>

#include "tests/fuzz/fuzz.h"

_Noreturn static void come_back(int status);
#define exit come_back
#include "common/base/options.c"
#undef exit

#include "common/wire/burst.h"
#include "common/wire/percent.h"

#define WORDS_MAX  16
#define NUMBER_MAX 10000
#define SIZE_MIN   1024
#define SIZE_LIMIT (1024.0 * 1024 * 1024)

struct values {
    bool flag;
    const char *text;
    unsigned number;
    double fraction, share;
    uint64_t size;
};

static const struct option_spec specs[] = {
    {"flag", 'f', OPTION_FLAG, NULL, offsetof(struct values, flag), 0, 0, "a flag"},
    {"text", 't', OPTION_STRING, "WORD", offsetof(struct values, text), 0, 0, "a word"},
    {"number", 'n', OPTION_UNSIGNED, "N", offsetof(struct values, number), 1, NUMBER_MAX, "number"},
    {"fraction", 0, OPTION_FRACTION, "F", offsetof(struct values, fraction), 0, 1, "a fraction"},
    {"share", 0, OPTION_SHARE, "S", offsetof(struct values, share), 0, 1, "a share"},
    {"size", 's', OPTION_SIZE, "SIZE", offsetof(struct values, size), SIZE_MIN, SIZE_LIMIT, "size"},
    OPTIONS_END,
};

static jmp_buf back;
static int status;

_Noreturn static void come_back(int with) {
    status = with;
    longjmp(back, 1);
}

static void check(const struct values *values, int argc, char **argv, int rest) {
    fuzz_must(rest >= 1 && rest <= argc && argv[argc] == NULL);
    fuzz_must(values->number >= 1 && values->number <= NUMBER_MAX);
    fuzz_must(values->fraction > 0 && values->fraction < 1);
    fuzz_must(values->share >= 0 && values->share < 1);
    fuzz_must(values->size >= SIZE_MIN && (double)values->size <= SIZE_LIMIT);
    fuzz_must(values->text != NULL);
}

static void parse(int argc, char **argv, bool takes_command) {
    const struct option_command command = {.usage = "tool try [options] -- CMD...",
                                           .about = "Tries options.",
                                           .options = specs,
                                           .takes_command = takes_command};
    static struct values values; /* outlives the jump */
    static int rest;
    values = (struct values){.text = "", .number = 1, .fraction = 0.5, .size = SIZE_MIN};
    status = -1;
    if (setjmp(back) == 0) {
        options_parse(&command, argc, argv, &values, &rest);
        check(&values, argc, argv, rest);
        options_no_more(&command, argc, argv, rest);
    }
    fuzz_must(status == -1 || status == HCCT_EXIT_OK || status == HCCT_EXIT_USAGE);
}

static void check_burst(const char *text) {
    uint64_t length = 0, period = 0;
    if (burst_parse(text, &length, &period))
        fuzz_must(length >= BURST_LENGTH_MIN_NS && length <= period &&
                  period <= BURST_PERIOD_MAX_NS);
    else
        fuzz_must(length == 0 && period == 0);
    bool plain = length != 0;
    uint32_t error = 0;
    if (burst_parse_adaptive(text, &length, &period, &error))
        fuzz_must(plain ? error == 0 : error >= PERCENT_MIN_PPM && error <= PERCENT_MAX_PPM);
    else
        fuzz_must(!plain && error == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_input input = {data, size};
    static char name[] = "try";
    char *argv[WORDS_MAX + 1] = {name};
    int argc = 1;
    bool takes_command = (fuzz_take_byte(&input) & 1) != 0;
    static FILE *nowhere;
    if (nowhere == NULL)
        stdout = stderr = nowhere = fopen("/dev/null", "we");
    char *text = fuzz_take_text(&input);
    for (char *word = text, *next; word != NULL && argc < WORDS_MAX; word = next) {
        next = strchr(word, '\n');
        if (next != NULL)
            *next++ = '\0';
        check_burst(word);
        argv[argc++] = word;
    }
    parse(argc, argv, takes_command);
    free(text);
    return 0;
}

const struct fuzz_target fuzz_target = {.name = "options", .mutations = 20000};
