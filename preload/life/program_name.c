/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * program_name.c - of what the kernel and the caller of exec say, the first that is a name.
 */
#include "preload/life/program_name.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>

#include "common/wire/compiler.h"
#include "preload/wrap/libc.h"

/* Below these, a name is that of a descriptor or a link ("exe"), not of a program. */
static const char *const unnamed[] = {"/proc/", "/dev/fd/"};

static bool is_unnamed(const char *path) {
    for (size_t i = 0; i < HCCT_ARRAY_LEN(unnamed); i++)
        if (strncmp(path, unnamed[i], strlen(unnamed[i])) == 0)
            return true;
    return false;
}

/* As it was called: program_invocation_name, by the name that is left to libc. */
extern const char *__progname_full;

/* Empty: it says nothing. */
static const char *name_in(const char *path) {
    if (path == NULL || is_unnamed(path))
        return "";
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* An interpreter is called by its own name, and has been executed by that of its script. */
static bool is_link(const char *executed_by) {
    return executed_by[0] != '\0' && strcmp(executed_by, name_in(__progname_full)) == 0;
}

void program_name_read(char *name, size_t room) {
    const char *found = name_in((const char *)libc_getauxval(AT_EXECFN));
    size_t slash = is_link(found);
    if (found[0] == '\0')
        found = name_in(__progname_full);
    size_t length = strnlen(found, room - 1 - slash);
    memcpy(name, "/", slash);
    memcpy(name + slash, found, length);
    name[slash + length] = '\0';
}
