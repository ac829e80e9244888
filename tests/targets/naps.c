/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * naps.c - computes for some microseconds between naps.
 *
 *   usage: naps COUNT MICROSECONDS
 */
#include <stdlib.h>
#include <time.h>

static volatile unsigned sink;

int main(int argc, char **argv) {
    if (argc < 3)
        return 2;
    const struct timespec nap = {0, 1000 * atol(argv[2])};
    for (long i = atol(argv[1]); i > 0; i--) {
        nanosleep(&nap, NULL);
        for (unsigned k = 0; k < 5000; k++)
            sink += k;
    }
    return 0;
}
