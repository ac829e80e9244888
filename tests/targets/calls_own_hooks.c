/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * calls_own_hooks.c - built with -finstrument-functions, and has reporting functions of its own.
 */
#include <stdio.h>

#define SILENT __attribute__((no_instrument_function))

static unsigned reports;

SILENT void __cyg_profile_func_enter(void *function, void *site) {
    (void)function, (void)site;
    reports++;
}

SILENT void __cyg_profile_func_exit(void *function, void *site) {
    (void)function, (void)site;
}

__attribute__((noinline)) static void called(void) {
    __asm__ volatile("");
}

int main(void) {
    called();
    called();
    printf("%u\n", reports);
    return 7;
}
