/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * system_call.c - the table is made from the system's header when hcct is built.
 */
#include "common/code/system_call.h"

#include <string.h>
#include <sys/syscall.h>

#include "common/wire/compiler.h"

#define UNKNOWN "[system call]"
#define END     "(2)]"

static const char *const names[] = {
#include "common/code/system_calls.inc"
};

const char *system_call_name(uint64_t number) {
    return number < HCCT_ARRAY_LEN(names) && names[number] != NULL ? names[number] : UNKNOWN;
}

bool system_call_is_name(const char *name) {
    size_t length = strlen(name);
    return strcmp(name, UNKNOWN) == 0 || (name[0] == '[' && length > sizeof END &&
                                          strcmp(name + length + 1 - sizeof END, END) == 0);
}
