/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_files.h - the files that a program consists of, and what can become of their calls.
 */
#ifndef HCCT_CALL_FILES_H
#define HCCT_CALL_FILES_H

#include <stdbool.h>

#include "common/wire/call_sites.h"

struct call_file {
    const char *path;
    bool is_program;            /* else a library that it is linked with */
    enum calls_verdict verdict; /* CALLS_FOLLOWED: as far as its headers say */
};

typedef void call_file_visit(void *arg, const struct call_file *file);

/* Visits the program that the command stands for, then what the dynamic loader lists as its
 * libraries; what it loads later, and what it starts, is not known. Runs the loader, not the
 * program. False: not all are known, as it is not there, no ELF file of this machine, or statically
 * linked. */
bool call_files_visit(const char *command, call_file_visit *visit, void *arg);

/* The table of a file's call sites, malloc'ed; NULL: there is none. */
struct call_sites *call_file_sites(const char *path);

/* Can no call be counted: neither the program nor any library reports its calls itself, and those
 * that the patterns choose (call_choice.h) can't be followed? `path` (PATH_MAX bytes) gets the
 * program's then. False also when that is not known. */
bool call_files_hopeless(const char *command, const char *patterns, char *path);

#endif
