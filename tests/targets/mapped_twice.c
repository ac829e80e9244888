/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * mapped_twice.c - mapped_twice SECONDS: maps a page of its own file a second time, and spends CPU
 * time in the function that is there, at the address that no loader knows.
 */
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096u

/* It calls nothing, so that it does the same wherever it stands. */
__attribute__((noinline, aligned(PAGE))) static uint64_t turn(uint64_t times) {
    volatile uint64_t sum = 0;
    for (uint64_t i = 0; i < times; i++)
        sum += i * i;
    return sum;
}

struct sought {
    uint64_t address, offset;
};

/* The program is the first object. */
static int find_offset(struct dl_phdr_info *info, size_t size, void *arg) {
    struct sought *sought = arg;
    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && sought->address - start < p->p_filesz)
            sought->offset = p->p_offset + (sought->address - start);
    }
    return 1;
}

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
    struct sought sought = {.address = (uint64_t)turn};
    int fd = open("/proc/self/exe", O_RDONLY);
    if (argc != 2 || fd < 0)
        return 1;
    dl_iterate_phdr(find_offset, &sought);
    void *second = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, (off_t)sought.offset);
    if (second == MAP_FAILED)
        return 1;
    close(fd);
    uint64_t (*copy)(uint64_t) = (uint64_t(*)(uint64_t))(uintptr_t)second;
    double end = cpu_seconds() + atof(argv[1]);
    uint64_t sum = 0;
    while (cpu_seconds() < end)
        sum += copy(100000);
    printf("%s\n", sum != 0 ? "turned" : "not");
    return 0;
}
