/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * main.c - hcct-remote COMMAND: what hcct runs for "hcct push" and "hcct fleet".
 */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "client/remote/remote.h"
#include "common/base/options.h"
#include "common/base/roomy_stack.h"

static int remote_main(int argc, char **argv) {
    options_program = "hcct";
    setlocale(LC_CTYPE, "");
    if (argc > 1 && strcmp(argv[1], "push") == 0)
        return cmd_push(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "fleet") == 0)
        return cmd_fleet(argc - 1, argv + 1);
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("hcct %s\n", HCCT_VERSION);
        return HCCT_EXIT_OK;
    }
    complain("this is a part of hcct: run 'hcct push' or 'hcct fleet'");
    return HCCT_EXIT_USAGE;
}

int main(int argc, char **argv) {
    return roomy_stack_run(remote_main, argc, argv);
}
