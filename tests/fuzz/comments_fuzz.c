/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * comments_fuzz.c - any text as the comments of a profile: what is taken from it is written and
 * read back as the same.
 */
#include <stdbool.h>
#include <stdio.h>

#include "common/render/pprof_comments.h"
#include "tests/fuzz/fuzz.h"

static void check_same(char *(*write)(const struct profile *, uint32_t), uint32_t process,
                       const struct profile *profile, const struct profile *back) {
    char *first = write(profile, process), *second = write(back, process);
    if (strcmp(first, second) != 0)
        fprintf(stderr, "%s\nis read as\n%s\n", first, second);
    fuzz_must(strcmp(first, second) == 0);
    free(first);
    free(second);
}

static char *write_profile(const struct profile *profile, uint32_t unused) {
    (void)unused;
    return comment_profile(profile);
}

static void read_back(struct profile *back, char *comment) {
    int version;
    fuzz_must(comment_read(back, comment, &version));
    free(comment);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_input input = {data, size};
    struct profile *profile = profile_new(), *back = profile_new();
    char *text = fuzz_take_text(&input);
    int version = 0;
    for (char *line = text, *next; line != NULL; line = next) {
        next = strchr(line, '\n');
        if (next != NULL)
            *next++ = '\0';
        comment_read(profile, line, &version);
    }
    read_back(back, comment_profile(profile));
    check_same(write_profile, 0, profile, back);
    for (uint32_t i = 1; i < profile->n_processes; i++) {
        free(comment_process_label(profile, i));
        read_back(back, comment_process(profile, i));
        check_same(comment_process, i, profile, back);
    }
    free(text);
    profile_free(profile);
    profile_free(back);
    return 0;
}

const struct fuzz_target fuzz_target = {.name = "comments", .mutations = 20000};
