/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * system_call.h - the names of system calls, as profiles have them: "[write(2)]".
 */
#ifndef HCCT_SYSTEM_CALL_H
#define HCCT_SYSTEM_CALL_H

#include <stdbool.h>
#include <stdint.h>

/* Of a number of this machine's kernel; "[system call]" of one that is not known. Never freed. */
const char *system_call_name(uint64_t number);

/* Whether a function's name is that of a system call. */
bool system_call_is_name(const char *name);

#endif
