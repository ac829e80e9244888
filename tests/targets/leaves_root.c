/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * leaves_root.c - a program that changes its root directory first of all, to where there is
 * nothing, and computes there.
 *
 *   usage: leaves_root MILLISECONDS_OF_CPU
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv) {
    char directory[] = "/tmp/leaves_root.XXXXXX";
    volatile unsigned long sink = 0;
    clock_t end = (clock_t)(argc > 1 ? atol(argv[1]) : 100) * CLOCKS_PER_SEC / 1000;
    if (mkdtemp(directory) == NULL || chroot(directory) != 0) {
        perror("leaves_root");
        return 1;
    }
    while (clock() < end)
        for (unsigned i = 0; i < 100000; i++)
            sink += i;
    return 0;
}
