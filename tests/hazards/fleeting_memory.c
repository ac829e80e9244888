/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * fleeting_memory.c - code without unwind entries uses the frame pointer as it likes: it leads to
 * memory that is there at one moment and not at the next, as another thread takes it away.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define ROUNDS 400
#define TURNS  1000000u

static void *region;
static void (*turn)(void *frame, uint32_t turns);
static _Atomic int working;

#if defined(__x86_64__)
static const uint8_t code[] = {
    0x55,             /* push %rbp */
    0x48, 0x89, 0xfd, /* mov %rdi,%rbp */
    0xff, 0xce,       /* dec %esi */
    0x75, 0xfc,       /* jne back */
    0x5d,             /* pop %rbp */
    0xc3,             /* ret */
};
#else
static const uint32_t code[] = {
    0xf81f0ffd, /* str x29, [sp, #-16]! */
    0xaa0003fd, /* mov x29, x0 */
    0x71000421, /* subs w1, w1, #1 */
    0x54ffffe1, /* b.ne back */
    0xf84107fd, /* ldr x29, [sp], #16 */
    0xd65f03c0, /* ret */
};
#endif

static void *work(void *arg) {
    for (int i = 0; i < ROUNDS; i++)
        turn((char *)region + 64, TURNS);
    working--;
    return arg;
}

static void *take_away(void *arg) {
    while (working > 0) {
        mprotect(region, 4096, PROT_NONE);
        mprotect(region, 4096, PROT_READ | PROT_WRITE);
    }
    return arg;
}

int main(void) {
    pthread_t worker, taker;
    void *text = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    region = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (text == MAP_FAILED || region == MAP_FAILED)
        return 2;
    memcpy(text, code, sizeof code);
    if (mprotect(text, 4096, PROT_READ | PROT_EXEC) != 0)
        return 2;
    __builtin___clear_cache((char *)text, (char *)text + sizeof code);
    memcpy(&turn, &text, sizeof turn);
    working = 1;
    if (pthread_create(&worker, NULL, work, NULL) != 0 ||
        pthread_create(&taker, NULL, take_away, NULL) != 0)
        return 2;
    pthread_join(worker, NULL);
    pthread_join(taker, NULL);
    puts("done");
    return 0;
}
