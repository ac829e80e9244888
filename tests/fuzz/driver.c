/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * driver.c - a fuzz target as a test: all inputs that are kept, then inputs made of them, always
 * the same ones.
 *
 * Kept are tests/fuzz/corpus/NAME (inputs that reach much of the code) and tests/fuzz/crashes/NAME
 * (inputs that once did harm). With arguments, only these files are tried. An input that the target
 * dies of is left behind in NAME.input.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

#define INPUTS_MAX    1024u
#define STALL_SECONDS 60 /* what takes so long with a few KB goes on for ever */
#define CHANGES_MAX   8  /* to one input at once */

/* A sanitizer, where there is one, says by this that it ends the program. */
extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

struct kept {
    uint8_t *bytes;
    size_t n;
};

static struct kept kept[INPUTS_MAX];
static size_t n_kept;

/* ---- death ---- */

static struct {
    const uint8_t *bytes;
    size_t n;
    char file[PATH_MAX];
} current;

/* In a signal handler. */
static void leave_input(void) {
    int fd = open(current.file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd >= 0 && write(fd, current.bytes, current.n) == (ssize_t)current.n) {
        static const char left[] = "the input is left behind in *.input\n";
        (void)!write(STDERR_FILENO, left, sizeof left - 1);
    }
    current.n = 0;
}

static void die(int signal) {
    leave_input();
    raise(signal); /* the handler is reset */
}

static void expect_death(void) {
    static const int signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM};
    struct sigaction action = {.sa_handler = die, .sa_flags = (int)SA_RESETHAND};
    snprintf(current.file, sizeof current.file, "%s.input", fuzz_target.name);
    if (__sanitizer_set_death_callback != NULL) {
        __sanitizer_set_death_callback(leave_input);
        sigaction(SIGALRM, &action, NULL);
        sigaction(SIGABRT, &action, NULL);
        return;
    }
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &action, NULL);
}

/* In memory of just its size, where a sanitizer sees what is read behind it. */
static void try(const uint8_t *bytes, size_t n) {
    uint8_t *copy = malloc(n > 0 ? n : 1);
    fuzz_must(copy != NULL);
    if (n > 0)
        memcpy(copy, bytes, n);
    current.bytes = copy;
    current.n = n;
    alarm(STALL_SECONDS);
    LLVMFuzzerTestOneInput(copy, n);
    alarm(0);
    free(copy);
}

/* ---- what is kept ---- */

static bool keep_file(const char *path) {
    FILE *file = fopen(path, "re");
    struct kept *input = &kept[n_kept];
    size_t room = 1u << 20;
    if (file == NULL || n_kept == INPUTS_MAX || (input->bytes = malloc(room)) == NULL) {
        fprintf(stderr, "%s can't be kept\n", path);
        return false;
    }
    input->n = fread(input->bytes, 1, room, file);
    fclose(file);
    n_kept++;
    return true;
}

static int is_visible(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

/* A directory that is not there has nothing in it. */
static bool keep_directory(const char *kind) {
    const char *sources = getenv("HCCT_SRCDIR");
    char directory[PATH_MAX / 2], path[PATH_MAX];
    struct dirent **entries;
    bool ok = true;
    snprintf(directory, sizeof directory, "%s/tests/fuzz/%s/%s", sources != NULL ? sources : ".",
             kind, fuzz_target.name);
    int n = scandir(directory, &entries, is_visible, alphasort);
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, entries[i]->d_name);
        ok = keep_file(path) && ok;
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return ok;
}

/* ---- what is made of it ---- */

struct made {
    uint8_t bytes[FUZZ_INPUT_MAX];
    size_t n;
};

/* A number between 0 and n - 1; 0 for none. */
static size_t below(uint64_t *random, size_t n) {
    return n > 0 ? (size_t)(fuzz_random(random) >> 16) % n : 0;
}

static void put_number(struct made *made, uint64_t *random) {
    static const uint64_t numbers[] = {0,
                                       1,
                                       0x7f,
                                       0x80,
                                       0xff,
                                       0xffff,
                                       INT32_MAX,
                                       (uint64_t)INT32_MAX + 1,
                                       UINT32_MAX,
                                       INT64_MAX,
                                       (uint64_t)INT64_MAX + 1,
                                       UINT64_MAX};
    size_t bytes = (size_t)1 << below(random, 4), at = below(random, made->n);
    uint64_t number = numbers[below(random, sizeof numbers / sizeof numbers[0])];
    if (at + bytes <= made->n)
        memcpy(made->bytes + at, &number, bytes);
}

/* Takes bytes out, or puts the same bytes in again elsewhere. */
static void cut(struct made *made, uint64_t *random) {
    size_t at = below(random, made->n), n = below(random, made->n - at) + 1;
    if (made->n == 0)
        return;
    memmove(made->bytes + at, made->bytes + at + n, made->n - at - n);
    made->n -= n;
}

static void insert(struct made *made, const uint8_t *bytes, size_t n, uint64_t *random) {
    size_t at = below(random, made->n + 1);
    if (n > FUZZ_INPUT_MAX - made->n)
        n = FUZZ_INPUT_MAX - made->n;
    memmove(made->bytes + at + n, made->bytes + at, made->n - at);
    memcpy(made->bytes + at, bytes, n);
    made->n += n;
}

static void again(struct made *made, uint64_t *random) {
    uint8_t copy[256];
    size_t at = below(random, made->n), n = below(random, made->n - at);
    n = n < sizeof copy ? n : sizeof copy;
    memcpy(copy, made->bytes + at, n);
    insert(made, copy, n, random);
}

static void join(struct made *made, uint64_t *random) {
    const struct kept *other = &kept[below(random, n_kept)];
    size_t at = below(random, other->n);
    insert(made, other->bytes + at, below(random, other->n - at), random);
}

static void change(struct made *made, uint64_t *random) {
    size_t at = below(random, made->n);
    switch (below(random, 8)) {
    case 0:
        put_number(made, random);
        break;
    case 1:
        cut(made, random);
        break;
    case 2:
        again(made, random);
        break;
    case 3:
        join(made, random);
        break;
    case 4:
        if (made->n > 0)
            made->bytes[at] = (uint8_t)below(random, 256);
        break;
    case 5:
        if (made->n > 0)
            made->bytes[at] = (uint8_t)(made->bytes[at] + below(random, 9) - 4);
        break;
    default:
        if (made->n > 0)
            made->bytes[at] ^= (uint8_t)(1u << below(random, 8));
    }
}

static void mutate(uint64_t *random) {
    static struct made made;
    const struct kept *from = &kept[below(random, n_kept)];
    made.n = from->n < FUZZ_INPUT_MAX ? from->n : FUZZ_INPUT_MAX;
    memcpy(made.bytes, from->bytes, made.n);
    for (size_t changes = 1 + below(random, CHANGES_MAX); changes > 0; changes--)
        change(&made, random);
    try(made.bytes, made.n);
}

static void make_up(uint64_t *random) {
    static uint8_t bytes[FUZZ_INPUT_MAX];
    try(bytes, fuzz_target.make_up(random, bytes));
}

int main(int argc, char **argv) {
    uint64_t random = 88172645463325252ull;
    FILE *out = stdout, *err = stderr; /* a target may keep what it tries from printing */
    bool ok = true;
    for (int i = 1; i < argc; i++)
        ok = keep_file(argv[i]) && ok;
    if (argc == 1)
        ok = keep_directory("corpus") && keep_directory("crashes");
    expect_death();
    for (size_t i = 0; i < n_kept; i++)
        try(kept[i].bytes, kept[i].n);
    unsigned made_up = argc == 1 ? fuzz_target.made_up : 0;
    unsigned mutations = argc == 1 && n_kept > 0 ? fuzz_target.mutations : 0;
    for (unsigned i = 0; i < made_up; i++)
        make_up(&random);
    for (unsigned i = 0; i < mutations; i++)
        mutate(&random);
    fprintf(out, "%zu inputs kept, %u made up, %u made of those kept\n", n_kept, made_up,
            mutations);
    for (size_t i = 0; i < n_kept; i++)
        free(kept[i].bytes);
    if (n_kept + made_up == 0)
        fprintf(err, "nothing was tried: tests/fuzz/corpus/%s is not there\n", fuzz_target.name);
    return ok && n_kept + made_up > 0 ? 0 : 1;
}
