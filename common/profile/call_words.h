/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_words.h - what becomes of a module's calls, and why one is left out, in words.
 */
#ifndef HCCT_CALL_WORDS_H
#define HCCT_CALL_WORDS_H

#include "common/wire/call_sites.h"

/* For files: these words do not change. */
const char *call_verdict_key(enum calls_verdict verdict);
/* CALLS_VERDICTS: no verdict has that key. `length`: bytes of it. */
enum calls_verdict call_verdict_of_key(const char *key, size_t length);

/* For people: a half-sentence that is said of a module. */
const char *call_verdict_words(enum calls_verdict verdict);

/* For people, after that number: "indirect calls". */
const char *call_left_words(enum call_sites_left reason, uint64_t n);

#endif
