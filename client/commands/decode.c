/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * decode.c - the paths of contexts by the numbers that hcct_context() has given (hcct.h), from a
 * running hcctd or from a profile.
 */
#include "client/ask.h"
#include "client/command.h"
#include "client/profile_file.h"
#include "common/base/options.h"
#include "common/base/utf8.h"
#include "common/profile/numbers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE    64 /* numbers in a request */
#define HEX_DIGITS 16

struct decode_options {
    const char *socket;
};

static const struct option_spec specs[] = {
    SOCKET_SPEC(decode_options, socket),
    OPTIONS_END,
};

static const struct option_command command = {
    .usage = "hcct decode [options] [FILE] NUMBER...",
    .about =
        "Prints the calling contexts that have these numbers, as hcct_context() of hcct.h has\n"
        "given them to programs: from hcctd, or from FILE, a profile.",
    .examples = "  hcct decode 0x5c0ffee000000017\n"
                "  hcct decode hcct.pb.gz 5c0ffee000000017 6633159379870089239\n",
    .options = specs,
};

/* ---- numbers ---- */

/* 0x and hexadecimal digits, 16 of these alone, or a decimal number. */
static bool parse(const char *text, uint64_t *number) {
    size_t length = strlen(text);
    bool marked = strncmp(text, "0x", 2) == 0;
    bool hex = marked || length == HEX_DIGITS;
    const char *digits = marked ? text + 2 : text;
    char *end;
    if (digits[strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789")] != '\0' ||
        *digits == '\0')
        return false;
    errno = 0;
    *number = strtoull(digits, &end, hex ? 16 : 10);
    return errno == 0;
}

static bool parse_all(char *const *texts, size_t n, uint64_t *numbers) {
    for (size_t i = 0; i < n; i++)
        if (!parse(texts[i], &numbers[i])) {
            complain("'%s' is no number of a context: it is 16 hexadecimal digits, as in "
                     "0x5c0ffee000000017, or a decimal number",
                     texts[i]);
            return false;
        }
    return true;
}

/* ---- what is printed ---- */

static void print_word(const char *before, const char *text, const char *after) {
    char *word = strdup(text);
    if (word != NULL)
        utf8_clean(word); /* names are other programs' words */
    printf("%s%s%s", before, word != NULL ? word : "?", after);
    free(word);
}

static void print_line(const struct profile *profile, const struct profile_location *at,
                       uint32_t k) {
    const struct profile_function *function = &profile->functions[at->lines[k].function];
    const char *module = profile_basename(profile->modules[at->module].path);
    print_word("  ", function->name, "");
    if (k + 1 < at->n_lines)
        printf(" [inlined]");
    if (*function->file != '\0' && at->lines[k].line != 0) {
        print_word(" (", function->file, "");
        printf(":%" PRIu32 ")", at->lines[k].line);
    } else if (*module != '\0') {
        print_word(" (", module, ")");
    }
    putchar('\n');
}

static void print_place(const struct profile *profile, uint32_t location) {
    const struct profile_location *at = &profile->locations[location];
    for (uint32_t k = at->n_lines; k-- > 0;)
        print_line(profile, at, k);
}

/* From the outermost caller on. False: no memory. */
static bool print_path(const struct profile *profile, uint32_t place) {
    uint32_t depth = 0, i = 0;
    for (uint32_t at = place; at != 0; at = profile->numbers[at].parent)
        depth++;
    uint32_t *path = calloc(depth, sizeof *path);
    if (path == NULL) {
        complain("there is no memory for a path of %" PRIu32 " calls", depth);
        return false;
    }
    printf("0x%016" PRIx64 "\n", profile->numbers[place].number);
    for (uint32_t at = place; at != 0; at = profile->numbers[at].parent)
        path[i++] = profile->numbers[at].location;
    while (i > 0)
        print_place(profile, path[--i]);
    free(path);
    return true;
}

static int print_all(const struct profile *profile, const uint64_t *numbers, size_t n,
                     const char *where) {
    int status = HCCT_EXIT_OK;
    uint32_t *sorted = numbers_sort(profile);
    for (size_t i = 0; i < n && status != HCCT_EXIT_FAILURE; i++) {
        uint32_t place = numbers_find(profile, sorted, numbers[i]);
        if (place == 0) {
            complain("0x%016" PRIx64 " is not known%s%s", numbers[i], where,
                     numbers[i] == 0 ? ": 0 means that there was no number to be had" : "");
            status = HCCT_EXIT_NO_DATA;
        } else if (!print_path(profile, place)) {
            status = HCCT_EXIT_FAILURE;
        }
    }
    free(sorted);
    return status;
}

/* ---- where they are known ---- */

static int decode_file(const char *name, const uint64_t *numbers, size_t n) {
    char where[256];
    size_t bytes;
    char *data = profile_file_load(name, &bytes);
    struct profile *profile = data != NULL ? profile_file_parse(name, data, bytes) : NULL;
    free(data);
    if (profile == NULL)
        return HCCT_EXIT_FAILURE;
    snprintf(where, sizeof where, " to %.200s", name);
    int status = print_all(profile, numbers, n, where);
    profile_free(profile);
    return status;
}

static int decode_some(const char *socket, const uint64_t *numbers, size_t n) {
    char list[AT_ONCE * (HEX_DIGITS + 1) + 1] = "";
    struct http_answer answer;
    struct query query;
    size_t used = 0;
    for (size_t i = 0; i < n; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%016" PRIx64, i > 0 ? "," : "",
                                 numbers[i]);
    query_start(&query, "/v1/contexts");
    query_add(&query, "number", list);
    int status = ask(socket, "GET", query.text, &answer);
    if (status != HCCT_EXIT_OK)
        return status;
    struct profile *profile = profile_file_parse("the answer", answer.body, answer.bytes);
    free(answer.body);
    if (profile == NULL)
        return HCCT_EXIT_FAILURE;
    status = print_all(profile, numbers, n, " to hcctd");
    profile_free(profile);
    return status;
}

static int decode_live(const char *override, const uint64_t *numbers, size_t n) {
    char socket[PATHS_SOCKET_MAX];
    int worst = ask_socket(socket, override);
    if (worst != HCCT_EXIT_OK)
        return worst;
    for (size_t i = 0; i < n && (worst == HCCT_EXIT_OK || worst == HCCT_EXIT_NO_DATA);
         i += AT_ONCE) {
        int status = decode_some(socket, numbers + i, n - i < AT_ONCE ? n - i : AT_ONCE);
        worst = status != HCCT_EXIT_OK ? status : worst;
    }
    return worst;
}

int cmd_decode(int argc, char **argv) {
    struct decode_options options = {0};
    uint64_t first;
    int rest;
    options_parse(&command, argc, argv, &options, &rest);
    const char *file = rest < argc && !parse(argv[rest], &first) ? argv[rest++] : NULL;
    if (rest >= argc && file != NULL)
        complain("'%s' is no number of a context, and behind a file's name one is missing: 'hcct "
                 "decode FILE NUMBER...'",
                 file);
    else if (rest >= argc)
        complain("say which contexts are meant: 'hcct decode NUMBER...'");
    if (rest >= argc)
        return HCCT_EXIT_USAGE;
    size_t n = (size_t)(argc - rest);
    uint64_t *numbers = calloc(n, sizeof *numbers);
    if (numbers == NULL) {
        complain("there is no memory for %zu numbers", n);
        return HCCT_EXIT_FAILURE;
    }
    int status = HCCT_EXIT_USAGE;
    if (parse_all(argv + rest, n, numbers))
        status =
            file != NULL ? decode_file(file, numbers, n) : decode_live(options.socket, numbers, n);
    free(numbers);
    return status;
}
