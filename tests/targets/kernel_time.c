/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * kernel_time.c - spends equal parts of its CPU time in the kernel, by several roads, and one in
 * its own code.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CHECK_EVERY 4

static char bytes[1 << 20];
static int file;

static uint64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The agent makes this call with its signal blocked. */
__attribute__((noinline)) static void in_write(void) {
    lseek(file, 0, SEEK_SET);
    if (write(file, bytes, sizeof bytes) < 0)
        abort();
}

__attribute__((noinline)) static void in_pread(void) {
    if (pread(file, bytes, sizeof bytes, 0) < 0)
        abort();
}

__attribute__((noinline)) static void in_syscall(void) {
    if (syscall(SYS_pread64, file, bytes, sizeof bytes, 0L) < 0)
        abort();
}

/* By an instruction of its own, as some runtimes have it. */
__attribute__((noinline)) static void in_instruction(void) {
#if defined(__x86_64__)
    long result;
    register long offset __asm__("r10") = 0;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_pread64), "D"(file), "S"(bytes), "d"(sizeof bytes), "r"(offset)
                     : "rcx", "r11", "memory");
    if (result < 0)
        abort();
#elif defined(__aarch64__)
    register long number __asm__("x8") = SYS_pread64;
    register long result __asm__("x0") = file; /* and first argument */
    register char *into __asm__("x1") = bytes;
    register long n __asm__("x2") = sizeof bytes, offset __asm__("x3") = 0;
    __asm__ volatile("svc #0"
                     : "+r"(result)
                     : "r"(number), "r"(into), "r"(n), "r"(offset)
                     : "memory");
    if (result < 0)
        abort();
#endif
}

__attribute__((noinline)) static void in_own_code(void) {
    for (volatile int i = 0; i < 100000; i++)
        ;
}

int main(int argc, char **argv) {
    static void (*const parts[])(void) = {in_write, in_pread, in_syscall, in_instruction,
                                          in_own_code};
    uint64_t part = (uint64_t)(atof(argc > 1 ? argv[1] : "1") * 1e9 / 5);
    file = memfd_create("bytes", 0);
    in_write();
    for (unsigned i = 0; i < sizeof parts / sizeof parts[0]; i++)
        for (uint64_t begin = cpu_ns(); cpu_ns() - begin < part;)
            for (int n = 0; n < CHECK_EVERY; n++)
                parts[i]();
    return 0;
}
