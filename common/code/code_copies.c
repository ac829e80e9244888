/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * code_copies.c - pairs of executable mappings of /proc/PID/maps that have bytes of a file in
 * common.
 */
#include "common/code/code_copies.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"

#define LINES_MAX   4096u
#define LINE_BYTES  512 /* what follows the numbers does not matter */
#define FILES_MAX   128u
#define COPIES_MAX  64u
#define READ_NS     1000000000ull /* between readings, at first */
#define DOUBLED_MAX 5u

struct mapping {
    uint64_t start, end, offset, inode;
    unsigned major, minor;
};

struct copy {
    uint64_t start, end, original;
};

struct code_copies {
    pid_t pid;
    uint32_t n;
    unsigned doubled; /* so often was the time between readings */
    uint64_t due_ns;
    struct copy copy[COPIES_MAX];
};

struct code_copies *code_copies_new(pid_t pid) {
    struct code_copies *copies = calloc(1, sizeof *copies);
    if (copies != NULL)
        copies->pid = pid;
    return copies;
}

void code_copies_free(struct code_copies *copies) {
    free(copies);
}

/* Executable, and of a file. */
static bool parse(const char *line, struct mapping *m) {
    char rights[5];
    return sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64, &m->start,
                  &m->end, rights, &m->offset, &m->major, &m->minor, &m->inode) == 7 &&
           rights[2] == 'x' && m->inode != 0 && m->end > m->start;
}

static bool is_same_file(const struct mapping *a, const struct mapping *b) {
    return a->inode == b->inode && a->major == b->major && a->minor == b->minor;
}

/* What is at `m` as far as `other` has it, too, from the beginning of `m` on. */
static void add(struct code_copies *copies, const struct mapping *m, const struct mapping *other) {
    uint64_t bytes = m->end - m->start, others = other->end - other->start;
    uint64_t into = m->offset - other->offset;
    if (m == other || !is_same_file(m, other) || into >= others || copies->n == COPIES_MAX)
        return;
    if (bytes > others - into)
        bytes = others - into;
    copies->copy[copies->n++] = (struct copy){m->start, m->start + bytes, other->start + into};
}

static void pair(struct code_copies *copies, const struct mapping *mappings, uint32_t n) {
    copies->n = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < n; k++)
            add(copies, &mappings[i], &mappings[k]);
}

static void read_all(struct code_copies *copies) {
    struct mapping mappings[FILES_MAX];
    char path[64], line[LINE_BYTES];
    uint32_t n = 0;
    bool begins = true; /* the next piece does, with a line */
    snprintf(path, sizeof path, "/proc/%d/maps", (int)copies->pid);
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return; /* what was there is still the best that is known */
    for (unsigned lines = 0; lines < LINES_MAX && n < FILES_MAX; lines++) {
        if (fgets(line, sizeof line, f) == NULL)
            break;
        n += begins && parse(line, &mappings[n]);
        begins = strchr(line, '\n') != NULL;
    }
    fclose(f);
    pair(copies, mappings, n);
}

static uint64_t find(const struct code_copies *copies, uint64_t address) {
    for (uint32_t i = 0; i < copies->n; i++)
        if (address >= copies->copy[i].start && address < copies->copy[i].end)
            return copies->copy[i].original + (address - copies->copy[i].start);
    return 0;
}

uint64_t code_copies_find(struct code_copies *copies, uint64_t address) {
    uint64_t found = find(copies, address), now;
    if (found != 0 || (now = clock_now()) < copies->due_ns)
        return found;
    read_all(copies);
    copies->due_ns = now + (READ_NS << copies->doubled);
    copies->doubled += copies->doubled < DOUBLED_MAX;
    return find(copies, address);
}
