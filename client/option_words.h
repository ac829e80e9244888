/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * option_words.h - hcctd's sentences name the parameters of its protocol ("window=5x is not
 * possible"); people have typed options, or operands such as @5x, and read about these.
 */
#ifndef HCCT_OPTION_WORDS_H
#define HCCT_OPTION_WORDS_H

#include <stddef.h>

/* What a parameter was typed as. */
struct option_word {
    const char *parameter; /* NULL ends a table */
    const char *option;
    const char *before; /* of an operand: what its value stands behind; NULL: it is an option */
};

extern const struct option_word option_words[];  /* where time is given by options */
extern const struct option_word operand_words[]; /* ... as @TIME or @WHEN..WHEN */

/* The first line of `body`, as a string, in these words, with nothing in it that a terminal would
 * obey. What does not fit is cut. */
void option_words_say(char *line, size_t bytes, const char *body, const struct option_word *words);

#endif
