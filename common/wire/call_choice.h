/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_choice.h - which modules' calls are followed: as the user says, else all but those that
 * belong to the C library and the compiler.
 */
#ifndef HCCT_CALL_CHOICE_H
#define HCCT_CALL_CHOICE_H

#include <stdbool.h>

#define CALL_CHOICE_ROOM 1024 /* for patterns, the NUL included */

/* Is the module of that path chosen? `patterns`, divided by commas: * stands for any characters, ?
 * for one; a pattern with a slash is for the whole path, another one for its last part. NULL or
 * empty: as above. Any context. */
bool call_choice(const char *patterns, const char *path);

#endif
