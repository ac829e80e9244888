/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * broken_python.c - has the symbols of CPython 3.11, and in its structures whatever may stand
 * there: chains without an end, addresses of nothing, of pages that come and go, names of any
 * length.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define WORDS 256

const unsigned long Py_Version = 0x030b02f0;
uint64_t _PyRuntime[WORDS], PyCode_Type[8], PyUnicode_Type[8];
static uint64_t state[WORDS], object[8][WORDS];
static uint64_t random_state = 1;
static volatile uint64_t sum;

uint64_t _PyEval_EvalFrameDefault(uint64_t end_ns);

static uint64_t draw(uint64_t n) {
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return (random_state >> 33) % n;
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A page that is there now and then. */
static uint64_t *passing_page(void) {
    static uint64_t *page;
    if (page == NULL)
        page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(page, 4096, draw(2) != 0 ? PROT_READ | PROT_WRITE : PROT_NONE);
    return page;
}

static uint64_t any_word(void) {
    switch (draw(12)) {
    case 0:
        return 0;
    case 1:
        return draw(1 << 16);
    case 2:
        return UINT64_MAX - draw(256);
    case 3:
        return 0x7fff00000000ull + draw(1ull << 30);
    case 4:
        return (uint64_t)passing_page() + draw(512) * 8;
    case 5:
        return (uint64_t)PyCode_Type;
    case 6:
        return (uint64_t)PyUnicode_Type;
    case 7:
        return (uint64_t)&sum + draw(64);
    default:
        return (uint64_t)object[draw(8)] + 8 * draw(4);
    }
}

static void spoil(void) {
    for (unsigned i = 0; i < 8; i++) {
        for (unsigned k = 0; k < 24; k++)
            object[i][k] = any_word();
        object[i][1] = (uint64_t)(draw(2) != 0 ? PyCode_Type : PyUnicode_Type);
        if (draw(2) != 0) { /* a text of any length */
            object[i][2] = draw(2) != 0 ? draw(100) : any_word();
            object[i][4] = draw(256);
        }
    }
    state[7] = draw(4) != 0 ? (uint64_t)object[draw(8)] : any_word(); /* cframe */
}

/* A chain that makes sense, but for its end: functions on a stack that is this one's. */
static void repeat(uint64_t *cframe) {
    memset(object, 0, sizeof object);
    object[0][1] = (uint64_t)PyCode_Type;
    object[0][14] = object[0][16] = (uint64_t)object[1];
    object[1][1] = (uint64_t)PyUnicode_Type;
    object[1][2] = 1ull << 60;
    object[1][4] = 4 << 2 | 1 << 5;
    object[2][4] = (uint64_t)object[0];
    object[2][6] = (uint64_t)object[2]; /* its own caller */
    object[2][8] = draw(2) << 32;
    cframe[1] = (uint64_t)object[2];
    cframe[2] = (uint64_t)cframe;
    state[7] = (uint64_t)cframe;
}

uint64_t _PyEval_EvalFrameDefault(uint64_t end_ns) {
    uint64_t cframe[3] = {0}, n = 0;
    for (; now_ns() < end_ns; n++) {
        if (n % 64 == 0)
            repeat(cframe);
        else
            spoil();
        for (unsigned i = 0; i < 2000; i++)
            sum += i;
    }
    return n;
}

int main(int argc, char **argv) {
    pthread_key_t key;
    if (argc != 2 || pthread_key_create(&key, NULL) != 0)
        return 1;
    pthread_setspecific(key, state);
    state[19] = (uint64_t)pthread_self();
    /* behind two locks of libc's */
    _PyRuntime[(512 + 2 * sizeof(pthread_mutex_t)) / 8] = 1 | (uint64_t)key << 32;
    uint64_t end = now_ns() + (uint64_t)(atof(argv[1]) * 1e9);
    return _PyEval_EvalFrameDefault(end) > 0 ? 0 : 1;
}
