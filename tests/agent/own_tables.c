/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * own_tables.c - a table is made from the file that the loader has mapped. The objects of a test
 * stay loaded, so that their start tells them apart.
 */
#include "tests/agent/own_tables.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/code/module_open.h"
#include "common/code/unwind_compile.h"

static struct {
    uint64_t start;
    void *table;
} tables[64];
static unsigned n_tables;

/* The kernel's own object, which is in no file, has the frame of signals on some machines. */
static int open_object(const char *path, uint64_t start) {
    if (start == getauxval(AT_SYSINFO_EHDR))
        return module_open_vdso();
    return open(path[0] != '\0' ? path : "/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

static void *compile_object(const char *path, uint64_t start) {
    size_t bytes = 0;
    int fd = open_object(path, start);
    if (fd < 0)
        return NULL;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    void *table = elf != NULL ? unwind_compile(elf, &bytes, NULL) : NULL;
    elf_end(elf);
    close(fd);
    return table;
}

static const struct unwind_table *table_of(const struct dl_find_object *found) {
    uint64_t start = (uintptr_t)found->dlfo_map_start;
    const char *path = found->dlfo_link_map->l_name;
    for (unsigned i = 0; i < n_tables; i++)
        if (tables[i].start == start)
            return tables[i].table;
    if (n_tables == sizeof tables / sizeof tables[0])
        return NULL;
    tables[n_tables].start = start;
    tables[n_tables].table = compile_object(path, start);
    return tables[n_tables++].table;
}

bool own_tables_find(void *arg, uint64_t pc, struct unwind_module *module) {
    struct dl_find_object found;
    (void)arg;
    if (_dl_find_object((void *)(uintptr_t)pc, &found) != 0)
        return false;
    *module = (struct unwind_module){.start = (uintptr_t)found.dlfo_map_start,
                                     .end = (uintptr_t)found.dlfo_map_end,
                                     .bias = found.dlfo_link_map->l_addr,
                                     .table = table_of(&found)};
    return true;
}

void own_tables_free(void) {
    while (n_tables > 0)
        free(tables[--n_tables].table);
}

bool own_read(void *arg, uint64_t address, uint64_t *word) {
    struct iovec to = {word, sizeof *word}, from = {(void *)(uintptr_t)address, sizeof *word};
    (void)arg;
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)sizeof *word;
}

void own_stack(uint64_t *low, uint64_t *high) {
    pthread_attr_t attributes;
    void *start = NULL;
    size_t bytes = 0;
    *low = *high = 8; /* no word is within */
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &start, &bytes) == 0) {
        *low = (uintptr_t)start;
        *high = (uintptr_t)start + bytes;
    }
    pthread_attr_destroy(&attributes);
}
