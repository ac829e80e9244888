/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * calls_count.h - a program counts the calls of its own functions, in a file that outlives it.
 *
 * The file, whose name is in CALLS_COUNT, is mapped and shared by all processes and by all the
 * program's objects, so that what children and the last destructors do is in it, too. It is a table
 * of records by hash of the name: the count, the hash, the name. Without CALLS_COUNT nothing is
 * counted. All of this may run in signal handlers and in many threads; none of it is instrumented.
 */
#ifndef CALLS_COUNT_H
#define CALLS_COUNT_H

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NOT_REPORTED __attribute__((no_instrument_function))

enum { COUNT_RECORDS = 512, COUNT_NAME = 48 };

struct count_record {
    uint64_t calls, hash;
    char name[COUNT_NAME];
};

NOT_REPORTED static inline struct count_record *count_table(void) {
    static struct count_record *table;
    struct count_record *known = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
    const char *path = getenv("CALLS_COUNT");
    if (known != NULL || path == NULL)
        return known;
    size_t bytes = COUNT_RECORDS * sizeof(struct count_record);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0)
        abort();
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (memory == MAP_FAILED)
        abort();
    __atomic_store_n(&table, (struct count_record *)memory, __ATOMIC_RELEASE);
    return (struct count_record *)memory;
}

NOT_REPORTED static inline uint64_t count_hash(const char *name) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *name != '\0'; name++)
        hash = (hash ^ (uint64_t)(unsigned char)*name) * 0x100000001b3u;
    return hash | 1; /* 0: unused */
}

NOT_REPORTED static inline uint64_t *count_place(const char *name) {
    static uint64_t nowhere;
    struct count_record *table = count_table();
    uint64_t hash = count_hash(name);
    if (table == NULL)
        return &nowhere;
    for (uint64_t i = hash >> 8;; i++) {
        struct count_record *record = &table[i % COUNT_RECORDS];
        uint64_t found = 0;
        if (__atomic_compare_exchange_n(&record->hash, &found, hash, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            strncpy(record->name, name, COUNT_NAME - 1);
        else if (found != hash)
            continue;
        return &record->calls;
    }
}

#define COUNT_CALL_AS(name)                                                                        \
    do {                                                                                           \
        static uint64_t *place_;                                                                   \
        uint64_t *p_ = __atomic_load_n(&place_, __ATOMIC_RELAXED);                                 \
        if (p_ == NULL) {                                                                          \
            p_ = count_place(name);                                                                \
            __atomic_store_n(&place_, p_, __ATOMIC_RELAXED);                                       \
        }                                                                                          \
        __atomic_fetch_add(p_, 1, __ATOMIC_RELAXED);                                               \
    } while (0)

/* First thing in a function; C names of functions only. */
#define COUNT_CALL() COUNT_CALL_AS(__func__)

#endif
