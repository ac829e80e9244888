/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * remote.c - commands that speak to other machines: hcct-remote has them, so that libcurl and what
 * it needs are not loaded for all others.
 */
#include "client/command.h"
#include "client/locate.h"
#include "common/base/options.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define WORDS_MAX 1000

/* Does not come back but with the reason. */
static int run_remote(int argc, char **argv) {
    char path[PATH_MAX], *words[WORDS_MAX + 2] = {path};
    if (argc > WORDS_MAX) {
        complain("%d words are too many", argc);
        return HCCT_EXIT_USAGE;
    }
    if (!locate_remote(path))
        return HCCT_EXIT_FAILURE;
    memcpy(words + 1, argv, (size_t)argc * sizeof *words);
    execv(path, words);
    complain("%s can't be run: %s", path, strerror(errno));
    return HCCT_EXIT_FAILURE;
}

int cmd_push(int argc, char **argv) {
    return run_remote(argc, argv);
}

int cmd_fleet(int argc, char **argv) {
    return run_remote(argc, argv);
}
