/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * leave_allocating.c - four threads allocate and free at full speed while main returns: what ends
 * with the process ends in the middle of malloc.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "busy.h"

static void *allocate(void *seed) {
    void *held[64] = {0};
    for (unsigned long i = (unsigned long)seed;; i = i * 6364136223846793005u + 1) {
        free(held[i >> 58]);
        held[i >> 58] = malloc(i >> 52 & 4095);
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    for (unsigned long i = 1; i <= 4; i++)
        pthread_create(&thread, NULL, allocate, (void *)i);
    busy_ms(20);
    puts("left");
    return 0;
}
