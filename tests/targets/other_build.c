/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * other_build.c - stands for libhcctblocks.so and libhcctlocks.so of another build: what they have
 * for the agent is made otherwise. Nothing may be written to it.
 */
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define BYTES 4096

uint8_t hcct_blocks_link[BYTES], hcct_locks_link[BYTES], hcct_held_link[BYTES];

static int is_touched(const uint8_t *link) {
    static const uint8_t none[BYTES];
    return memcmp(link, none, BYTES) != 0;
}

__attribute__((destructor)) static void look(void) {
    if (is_touched(hcct_blocks_link) || is_touched(hcct_locks_link) || is_touched(hcct_held_link))
        _exit(99);
}
