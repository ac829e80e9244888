/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * check.h - what a unit test needs: CHECK says what failed and where; main() ends with
 * check_report().
 */
#ifndef HCCT_CHECK_H
#define HCCT_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_done, check_failed;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        check_done++;                                                                              \
        if (!(condition)) {                                                                        \
            check_failed++;                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
        }                                                                                          \
    } while (0)

#define CHECK_UINT(got, want)                                                                      \
    do {                                                                                           \
        unsigned long long g_ = (unsigned long long)(got), w_ = (unsigned long long)(want);        \
        check_done++;                                                                              \
        if (g_ != w_) {                                                                            \
            check_failed++;                                                                        \
            fprintf(stderr, "%s:%d: %s is %llu, not %llu\n", __FILE__, __LINE__, #got, g_, w_);    \
        }                                                                                          \
    } while (0)

#define CHECK_STR(got, want)                                                                       \
    do {                                                                                           \
        const char *g_ = (got), *w_ = (want);                                                      \
        check_done++;                                                                              \
        if (g_ == NULL || strcmp(g_, w_) != 0) {                                                   \
            check_failed++;                                                                        \
            fprintf(stderr, "%s:%d: %s is \"%s\", not \"%s\"\n", __FILE__, __LINE__, #got,         \
                    g_ != NULL ? g_ : "(null)", w_);                                               \
        }                                                                                          \
    } while (0)

/* How often to try what is random; under a sanitizer, which makes all of it slow, one time in ten.
 */
static inline unsigned check_rounds(unsigned n) {
    const char *sanitizers = getenv("HCCT_SANITIZERS");
    return sanitizers == NULL || strcmp(sanitizers, "no") == 0 ? n : (n + 9) / 10;
}

/* The test's exit status: 0 all held, 1 not, 99 nothing was checked at all. */
static inline int check_report(void) {
    printf("%d checks, %d failed\n", check_done, check_failed);
    return check_done == 0 ? 99 : check_failed != 0;
}

#endif
