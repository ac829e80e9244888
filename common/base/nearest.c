/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * nearest.c - the optimal string alignment distance, with three rows of its table.
 */
#include "common/base/nearest.h"

#include <string.h>

#define LENGTH_MAX 32 /* longer words have no mistyped neighbours among ours */

static unsigned least(unsigned a, unsigned b) {
    return a < b ? a : b;
}

static unsigned distance(const char *a, size_t n, const char *b, size_t m) {
    unsigned rows[3][LENGTH_MAX + 1];
    for (size_t k = 0; k <= m; k++)
        rows[0][k] = (unsigned)k;
    for (size_t i = 1; i <= n; i++) {
        unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t k = 1; k <= m; k++) {
            row[k] =
                least(least(above[k] + 1, row[k - 1] + 1), above[k - 1] + (a[i - 1] != b[k - 1]));
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
                row[k] = least(row[k], two_above[k - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

static unsigned allowed(size_t length) {
    return length < 3 ? 0 : length < 5 ? 1 : 2;
}

void nearest_offer(struct nearest *nearest, const char *word) {
    size_t n = nearest->length != 0 ? nearest->length : strlen(nearest->typed), m = strlen(word);
    if (n == 0 || n > LENGTH_MAX || m > LENGTH_MAX)
        return;
    unsigned apart = distance(nearest->typed, n, word, m);
    if (n >= 3 && strncmp(nearest->typed, word, n) == 0)
        apart = least(apart, 1);
    if (apart > allowed(m) || (nearest->word != NULL && nearest->distance <= apart))
        return;
    nearest->word = word;
    nearest->distance = apart;
}
