/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * redirect_own.c - has changed one of its own calls before anybody else runs: it leads to another
 * function than in the file. Says which is called, and whether its code is mapped from a file.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static volatile int called;

__attribute__((noinline)) static void first(void) {
    called = 1;
}

__attribute__((noinline)) static void second(void) {
    called = 2;
}

__attribute__((noinline)) static void work(void) {
    first();
    __asm__ volatile("");
}

static void change(void) {
    unsigned char *code = (unsigned char *)(uintptr_t)work;
    uintptr_t page = (uintptr_t)code & ~(uintptr_t)4095;
    int32_t distance;
    mprotect((void *)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
    for (int i = 0; i < 32; i++) {
        memcpy(&distance, code + i + 1, sizeof distance);
        if (code[i] != 0xe8 ||
            (uintptr_t)(code + i + 5) + (uintptr_t)(intptr_t)distance != (uintptr_t)first)
            continue;
        distance = (int32_t)((uintptr_t)second - (uintptr_t)(code + i + 5));
        memcpy(code + i + 1, &distance, sizeof distance);
    }
    mprotect((void *)page, 8192, PROT_READ | PROT_EXEC);
}

__attribute__((section(".preinit_array"), used)) static void (*const earliest)(void) = change;

int main(void) {
    char line[4096];
    int copied = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        copied |= strstr(line, "hcct-text") != NULL;
    if (maps != NULL)
        fclose(maps);
    work();
    if (called == 0)
        second();
    printf("%s, %s\n", called == 2 ? "second" : "first", copied ? "a copy" : "no copy");
    return 0;
}
