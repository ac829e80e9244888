/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * nearest.h - which word somebody may have meant who has mistyped one.
 */
#ifndef HCCT_NEAREST_H
#define HCCT_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/* The closest of the words that were offered so far. All zero at first, but for `typed`. */
struct nearest {
    const char *typed; /* terminated, or ... */
    size_t length;     /* ... of so many bytes; 0: terminated */
    const char *word;  /* NULL: none is close */
    unsigned distance;
};

/* Letters that are missing, too many, wrong, or two in each other's place count one each; one may
 * be in a word of four letters, two in longer ones. Also close is a word that begins with what was
 * typed. `word` must live as long as the struct. */
void nearest_offer(struct nearest *nearest, const char *word);

#endif
