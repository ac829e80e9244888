/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * plugin.c - what the target loads and unloads: code with a constructor, a destructor, calls of
 * _init and _fini, and calls back into the program.
 */
#include <stdlib.h>
#include <string.h>

int plugin_work(int (*callback)(int), int n);

static volatile int made;

__attribute__((constructor)) static void construct(void) {
    char *text = strdup("made");
    made = text != NULL ? (int)strlen(text) : 0;
    free(text);
}

__attribute__((destructor)) static void destroy(void) {
    made = 0;
}

/* What _init and _fini call: no unwind entry covers these. */
__attribute__((used)) static void called_by_init(void) {
    construct();
}

__attribute__((used)) static void called_by_fini(void) {
    destroy();
}

#if defined(__x86_64__)
#define CALL "call "
#else
#define CALL "bl "
#endif
__asm__(".section .init\n" CALL "called_by_init\n .previous\n"
        ".section .fini\n" CALL "called_by_fini\n .previous");

static int compare(const void *a, const void *b) {
    return *(const char *)a - *(const char *)b;
}

int plugin_work(int (*callback)(int), int n) {
    char text[] = "plugin";
    qsort(text, strlen(text), 1, compare);
    return callback(n) + text[0] + made;
}
