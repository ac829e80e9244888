/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * program_file.h - the program file that a command stands for, and what it says about how the
 * dynamic loader will start it.
 */
#ifndef HCCT_PROGRAM_FILE_H
#define HCCT_PROGRAM_FILE_H

#include <limits.h>
#include <stdbool.h>

struct program_file {
    char path[PATH_MAX];
    bool is_elf, foreign_class; /* foreign_class: of another word size or machine than the agent */
    bool is_interpreter;        /* of a script, for which the command stands */
    bool is_privileged;         /* the loader ignores LD_PRELOAD */
    char loader[256];           /* "": none, it is statically linked */
};

/* Looks for the command as execvp() would, and for a script's interpreter in its place. False: it,
 * or its interpreter, can't be read; `path` then has that word. */
bool program_file_find(const char *command, struct program_file *program);

#endif
