/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * options.c - a table of options to getopt_long's arrays, to --help, and to sentences when a value
 * can't be.
 */
#include "common/base/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/nearest.h"
#include "common/base/utf8.h"

const char *options_program = "hcct";

/* getopt_long's values: above all letters, so that an option without a letter has one too. */
enum { VALUE_FIRST = 256, VALUE_HELP = 1024, VALUE_VERSION };

void complain(const char *format, ...) {
    char line[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    utf8_clean(line); /* it may name what others have named */
    fprintf(stderr, "%s: %s\n", options_program, line);
}

/* ---- values ---- */

static bool parse_unsigned(const char *text, double min, double max, unsigned *value) {
    char *end;
    errno = 0;
    unsigned long n = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0)
        return false;
    if ((double)n < min || (double)n > max)
        return false;
    *value = (unsigned)n;
    return true;
}

static bool parse_double(const char *text, double *value) {
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*value);
}

static bool parse_size(const char *text, double min, double max, uint64_t *value) {
    static const char units[] = "KMGT";
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || errno != 0)
        return false;
    unsigned shift = 0;
    if (*end != '\0') {
        const char *unit = strchr(units, *end >= 'a' ? *end - 'a' + 'A' : *end);
        if (unit == NULL || end[1] != '\0')
            return false;
        shift = 10 * (unsigned)(unit - units + 1);
    }
    if (n > UINT64_MAX >> shift || (double)(n << shift) < min || (double)(n << shift) > max)
        return false;
    *value = n << shift;
    return true;
}

/* False: the text is not a value of this option; nothing is stored then. */
static bool store(const struct option_spec *spec, const char *text, void *into) {
    void *member = (char *)into + spec->offset;
    double number;
    switch (spec->kind) {
    case OPTION_FLAG:
        *(bool *)member = true;
        return true;
    case OPTION_STRING:
        *(const char **)member = text;
        return true;
    case OPTION_UNSIGNED:
        return parse_unsigned(text, spec->min, spec->max, member);
    case OPTION_SIZE:
        return parse_size(text, spec->min, spec->max, member);
    case OPTION_FRACTION:
    case OPTION_SHARE:
        if (!parse_double(text, &number) || number < spec->min || number >= spec->max)
            return false;
        if (spec->kind == OPTION_FRACTION && number <= spec->min)
            return false;
        *(double *)member = number;
        return true;
    }
    return false;
}

static void size_text(char *text, size_t bytes, uint64_t size) {
    static const char *const units[] = {"", "K", "M", "G", "T"};
    size_t unit = 0;
    while (unit + 1 < HCCT_ARRAY_LEN(units) && size >= 1024 && size % 1024 == 0) {
        size /= 1024;
        unit++;
    }
    snprintf(text, bytes, "%llu%s", (unsigned long long)size, units[unit]);
}

static void complain_value(const struct option_spec *spec, const char *text) {
    char min[32], max[32];
    switch (spec->kind) {
    case OPTION_UNSIGNED:
        complain("--%s '%s': it must be a whole number from %.0f to %.0f", spec->name, text,
                 spec->min, spec->max);
        break;
    case OPTION_SIZE:
        size_text(min, sizeof min, (uint64_t)spec->min);
        size_text(max, sizeof max, (uint64_t)spec->max);
        complain("--%s '%s': it must be a size from %s to %s, such as 64M", spec->name, text, min,
                 max);
        break;
    case OPTION_SHARE:
        complain("--%s '%s': it must be a number from %g up to %g", spec->name, text, spec->min,
                 spec->max);
        break;
    default:
        complain("--%s '%s': it must be a number above %g and below %g", spec->name, text,
                 spec->min, spec->max);
    }
}

/* ---- help ---- */

static void print_option(char letter, const char *name, const char *arg, const char *help) {
    char left[64];
    char dash[] = {'-', letter, ',', '\0'};
    snprintf(left, sizeof left, "  %3s --%s%s%s", letter != '\0' ? dash : "", name,
             arg != NULL ? " " : "", arg != NULL ? arg : "");
    if (strlen(left) <= 26)
        printf("%-26s %s\n", left, help);
    else
        printf("%s\n%27s%s\n", left, "", help);
}

static void print_help(const struct option_command *command) {
    printf("usage: %s\n\n%s\n\noptions:\n", command->usage, command->about);
    for (const struct option_spec *spec = command->options; spec->name != NULL; spec++)
        print_option(spec->letter, spec->name, spec->arg, spec->help);
    print_option('h', "help", NULL, "this text");
    print_option('\0', "version", NULL, "the version");
    if (command->examples != NULL)
        printf("\nexamples:\n%s", command->examples);
}

/* ---- getopt_long ---- */

struct arrays {
    struct option longs[OPTIONS_MAX + 3];
    char letters[2 * OPTIONS_MAX + 8];
};

static void add_letter(struct arrays *arrays, char letter, bool takes_value) {
    size_t n = strlen(arrays->letters);
    arrays->letters[n++] = letter;
    if (takes_value)
        arrays->letters[n++] = ':';
    arrays->letters[n] = '\0';
}

static size_t make_arrays(const struct option_command *command, struct arrays *arrays) {
    const struct option_spec *specs = command->options;
    size_t n = 0;
    /* "+": stop at the first other word; ":": tell a missing value apart */
    strcpy(arrays->letters, command->takes_command ? "+:" : ":");
    for (; specs[n].name != NULL; n++) {
        if (n == OPTIONS_MAX)
            abort(); /* a table of ours is too long: no option may be missing silently */
        bool takes_value = specs[n].kind != OPTION_FLAG;
        arrays->longs[n] =
            (struct option){specs[n].name, takes_value ? required_argument : no_argument, NULL,
                            VALUE_FIRST + (int)n};
        if (specs[n].letter != '\0')
            add_letter(arrays, specs[n].letter, takes_value);
    }
    arrays->longs[n] = (struct option){"help", no_argument, NULL, VALUE_HELP};
    arrays->longs[n + 1] = (struct option){"version", no_argument, NULL, VALUE_VERSION};
    arrays->longs[n + 2] = (struct option){NULL, 0, NULL, 0};
    add_letter(arrays, 'h', false);
    return n;
}

/* The option that getopt_long's value or letter stands for; NULL: none. */
static const struct option_spec *find(const struct option_spec *specs, size_t n, int value) {
    if (value >= VALUE_FIRST)
        return (size_t)(value - VALUE_FIRST) < n ? &specs[value - VALUE_FIRST] : NULL;
    for (size_t i = 0; i < n; i++)
        if (value != '\0' && specs[i].letter == value)
            return &specs[i];
    return NULL;
}

/* The words before the options in the usage line: "hcct hot". */
static int command_words(const struct option_command *command) {
    const char *usage = command->usage;
    size_t length = 0;
    while (usage[length] != '\0' && usage[length] != '[' && usage[length] != '-' &&
           (usage[length] < 'A' || usage[length] > 'Z'))
        length++;
    while (length > 0 && usage[length - 1] == ' ')
        length--;
    return (int)length;
}

/* " (did you mean --rate?)", or nothing. `word`: --option, or --option=value. */
static void guess(const struct option_command *command, const char *word, char *text,
                  size_t bytes) {
    struct nearest nearest = {.typed = word + strspn(word, "-")};
    nearest.length = strcspn(nearest.typed, "=");
    for (const struct option_spec *spec = command->options; spec->name != NULL; spec++)
        nearest_offer(&nearest, spec->name);
    *text = '\0';
    if (nearest.word != NULL)
        snprintf(text, bytes, " (did you mean --%s?)", nearest.word);
}

_Noreturn static void complain_option(const struct option_command *command, int value, char **argv,
                                      const struct option_spec *spec) {
    const char *word = argv[optind - 1];
    if (value == ':')
        complain("%s needs a value: see '%.*s --help'", word, command_words(command),
                 command->usage);
    else if (spec != NULL)
        complain("--%s takes no value", spec->name);
    else if (optopt > 0 && optopt < VALUE_FIRST)
        complain("there is no option -%c: see '%.*s --help'", optopt, command_words(command),
                 command->usage);
    else {
        char meant[64];
        guess(command, word, meant, sizeof meant);
        complain("there is no option %s%s: see '%.*s --help'", word, meant, command_words(command),
                 command->usage);
    }
    exit(HCCT_EXIT_USAGE);
}

void options_parse(const struct option_command *command, int argc, char **argv, void *into,
                   int *rest) {
    struct arrays arrays;
    size_t n = make_arrays(command, &arrays);
    int value;
    opterr = 0;
    optind = 0; /* forget an earlier parse */
    while ((value = getopt_long(argc, argv, arrays.letters, arrays.longs, NULL)) != -1) {
        if (value == 'h' || value == VALUE_HELP) {
            print_help(command);
            exit(HCCT_EXIT_OK);
        }
        if (value == VALUE_VERSION) {
            printf("%s %s\n", options_program, HCCT_VERSION);
            exit(HCCT_EXIT_OK);
        }
        if (value == '?' || value == ':')
            complain_option(command, value, argv, find(command->options, n, optopt));
        const struct option_spec *spec = find(command->options, n, value);
        if (!store(spec, optarg, into)) {
            complain_value(spec, optarg);
            exit(HCCT_EXIT_USAGE);
        }
    }
    *rest = optind;
}

void options_no_more(const struct option_command *command, int argc, char **argv, int rest) {
    if (rest >= argc)
        return;
    complain("unexpected argument '%s': see '%.*s --help'", argv[rest], command_words(command),
             command->usage);
    exit(HCCT_EXIT_USAGE);
}
