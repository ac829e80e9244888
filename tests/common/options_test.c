/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * options_test.c - the option table: what it stores, what it refuses, and in which words.
 *
 * options_parse() ends the program on --help and on errors, so each case runs in a child whose
 * output and status are read back.
 */
#include "common/base/options.h"

#include <sys/wait.h>
#include <unistd.h>

#include "common/wire/compiler.h"
#include "tests/check.h"

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
    {"number", 'n', OPTION_UNSIGNED, "N", offsetof(struct values, number), 1, 10000, "a number"},
    {"fraction", 0, OPTION_FRACTION, "F", offsetof(struct values, fraction), 0, 1, "a fraction"},
    {"share", 0, OPTION_SHARE, "S", offsetof(struct values, share), 0, 1, "a share"},
    {"size", 's', OPTION_SIZE, "SIZE", offsetof(struct values, size), 1024, 1024.0 * 1024 * 1024,
     "a size"},
    OPTIONS_END,
};

static const struct option_command command = {
    .usage = "tool try [options] -- CMD...",
    .about = "Tries options.",
    .examples = "  tool try -f\n",
    .options = specs,
};

#define WORDS_MAX 8

static int count_words(char *const *argv) {
    int n = 0;
    while (n < WORDS_MAX && argv[n] != NULL)
        n++;
    return n;
}

/* Runs a parse in a child; its output (both streams) into `text`. Returns its exit status. */
static int run(char *const *words, char *text, size_t bytes) {
    int ends[2];
    char *argv[WORDS_MAX + 1] = {NULL};
    int argc = count_words(words);
    memcpy(argv, words, (size_t)argc * sizeof *argv);
    if (pipe(ends) != 0)
        abort();
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct values values = {0};
        int rest;
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        options_parse(&command, argc, argv, &values, &rest);
        options_no_more(&command, argc, argv, rest);
        exit(0);
    }
    close(ends[1]);
    size_t used = 0;
    ssize_t n;
    while ((n = read(ends[0], text + used, bytes - 1 - used)) > 0)
        used += (size_t)n;
    text[used] = '\0';
    close(ends[0]);
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Where the first other word ends the options, and where it does not. */
static void test_words_between(void) {
    char *argv[] = {"try", "a word", "-f", NULL};
    struct option_command running = command;
    struct values values = {0};
    int rest;
    running.takes_command = true;
    options_parse(&running, 3, argv, &values, &rest);
    CHECK(!values.flag);
    CHECK_UINT(rest, 1);
    options_parse(&command, 3, argv, &values, &rest);
    CHECK(values.flag);
    CHECK_UINT(rest, 2);
    CHECK_STR(argv[2], "a word");
}

static void test_stored(void) {
    char *argv[] = {"try",   "-f",   "--text=a b", "-n",     "42", "--fraction", "0.25",
                    "-s64M", "--sh", "0",          "a word", "-f", NULL};
    struct values values = {.share = 0.5};
    int rest;
    options_parse(&command, 12, argv, &values, &rest);
    CHECK(values.flag);
    CHECK_STR(values.text, "a b");
    CHECK_UINT(values.number, 42);
    CHECK(values.fraction == 0.25);
    CHECK(values.share == 0);
    CHECK_UINT(values.size, 64u << 20);
    CHECK_UINT(rest, 11);
}

static void test_defaults_and_end(void) {
    char *argv[] = {"try", "--", "-f", NULL};
    struct values values = {.number = 7};
    int rest;
    options_parse(&command, 3, argv, &values, &rest);
    CHECK(!values.flag);
    CHECK_UINT(values.number, 7);
    CHECK_UINT(rest, 2);
}

static void test_refused(void) {
    static const struct {
        char *argv[WORDS_MAX];
        const char *sentence;
    } cases[] = {
        {{"try", "--no-such"}, "tool: there is no option --no-such: see 'tool try --help'\n"},
        {{"try", "-x"}, "tool: there is no option -x: see 'tool try --help'\n"},
        {{"try", "--text"}, "tool: --text needs a value: see 'tool try --help'\n"},
        {{"try", "-n"}, "tool: -n needs a value: see 'tool try --help'\n"},
        {{"try", "--flag=1"}, "tool: --flag takes no value\n"},
        {{"try", "-n", "0"}, "tool: --number '0': it must be a whole number from 1 to 10000\n"},
        {{"try", "-n", "10001"},
         "tool: --number '10001': it must be a whole number from 1 to 10000\n"},
        {{"try", "-n", "-1"}, "tool: --number '-1': it must be a whole number from 1 to 10000\n"},
        {{"try", "-n", "5x"}, "tool: --number '5x': it must be a whole number from 1 to 10000\n"},
        {{"try", "-n", ""}, "tool: --number '': it must be a whole number from 1 to 10000\n"},
        {{"try", "-n", "99999999999999999999"},
         "tool: --number '99999999999999999999': it must be a whole number from 1 to 10000\n"},
        {{"try", "--fraction", "0"},
         "tool: --fraction '0': it must be a number above 0 and below 1\n"},
        {{"try", "--fraction", "1"},
         "tool: --fraction '1': it must be a number above 0 and below 1\n"},
        {{"try", "--fraction", "nan"},
         "tool: --fraction 'nan': it must be a number above 0 and below 1\n"},
        {{"try", "--fraction", "0.1%"},
         "tool: --fraction '0.1%': it must be a number above 0 and below 1\n"},
        {{"try", "--share", "1"}, "tool: --share '1': it must be a number from 0 up to 1\n"},
        {{"try", "-s", "1023"},
         "tool: --size '1023': it must be a size from 1K to 1G, such as 64M\n"},
        {{"try", "-s", "2G"}, "tool: --size '2G': it must be a size from 1K to 1G, such as 64M\n"},
        {{"try", "-s", "5Q"}, "tool: --size '5Q': it must be a size from 1K to 1G, such as 64M\n"},
        {{"try", "-s", "99999999999T"},
         "tool: --size '99999999999T': it must be a size from 1K to 1G, such as 64M\n"},
        {{"try", "-f", "word"}, "tool: unexpected argument 'word': see 'tool try --help'\n"},
    };
    for (size_t i = 0; i < HCCT_ARRAY_LEN(cases); i++) {
        char text[512];
        CHECK_UINT(run(cases[i].argv, text, sizeof text), HCCT_EXIT_USAGE);
        CHECK_STR(text, cases[i].sentence);
    }
}

static void test_help(void) {
    char text[2048];
    char *help[WORDS_MAX] = {"try", "--help"}, *letter[WORDS_MAX] = {"try", "-h"};
    char *version[WORDS_MAX] = {"try", "--version"};
    CHECK_UINT(run(help, text, sizeof text), 0);
    CHECK(strncmp(text, "usage: tool try [options] -- CMD...\n", 36) == 0);
    CHECK(strstr(text, "\n  -n, --number N           a number\n") != NULL);
    CHECK(strstr(text, "\n      --fraction F         a fraction\n") != NULL);
    CHECK(strstr(text, "\nexamples:\n  tool try -f\n") != NULL);
    CHECK_UINT(run(letter, text, sizeof text), 0);
    CHECK_UINT(run(version, text, sizeof text), 0);
    CHECK_STR(text, "tool " HCCT_VERSION "\n");
}

int main(void) {
    options_program = "tool";
    test_stored();
    test_words_between();
    test_defaults_and_end();
    test_refused();
    test_help();
    return check_report();
}
