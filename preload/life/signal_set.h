/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * signal_set.h - sets of signals, without libc's functions, whose names a program may have given to
 * functions of its own. Any context. Numbers are 1 to 64.
 */
#ifndef HCCT_SIGNAL_SET_H
#define HCCT_SIGNAL_SET_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Of these libc makes sets of 1,024; the kernel has one word. */
static inline uint64_t signal_set_word(const sigset_t *set) {
    uint64_t word;
    memcpy(&word, set, sizeof word);
    return word;
}

static inline void signal_set_put(sigset_t *set, uint64_t word) {
    memcpy(set, &word, sizeof word);
}

static inline bool signal_set_has(const sigset_t *set, int number) {
    return (signal_set_word(set) >> (number - 1) & 1) != 0;
}

static inline void signal_set_add(sigset_t *set, int number) {
    signal_set_put(set, signal_set_word(set) | 1ull << (number - 1));
}

static inline void signal_set_remove(sigset_t *set, int number) {
    signal_set_put(set, signal_set_word(set) & ~(1ull << (number - 1)));
}

#endif
