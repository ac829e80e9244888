/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * attach_library.c - a library that attach_storm loads and unloads, with a constructor that
 * allocates.
 */
#include <stdlib.h>

static void *kept;

__attribute__((constructor)) static void begin(void) {
    kept = malloc(100);
}

__attribute__((destructor)) static void end(void) {
    free(kept);
}

int attach_library_answer(void);
int attach_library_answer(void) {
    return kept != NULL ? 42 : 0;
}
