/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * families.h - what children of processes have used while no hcctd saw them.
 *
 * What a hcctd has counted after its last checkpoint is gone when it is killed, and until the next
 * one nobody counts. A program that was there before and after is counted by its clock (resume.h).
 * Those that began and ended in between are known by their parents alone: the kernel adds the CPU
 * time of a child to that of its parent when that has waited for it. So a checkpoint keeps that sum
 * for each process, and the next hcctd reads that of all processes when it begins: by what a sum
 * has grown since then, less what the checkpoint has of children that are in it, programs have run
 * that are in no context.
 *
 * It is not known which they were, and those that would not have been profiled (static ones, say)
 * are among them. Nothing is known of those whose parent has ended as well, unless an ancestor of
 * both was profiled and waits; nor where a parent ignores SIGCHLD.
 */
#ifndef HCCT_FAMILIES_H
#define HCCT_FAMILIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process;

/* As /proc says at one moment. */
struct family {
    pid_t parent;         /* 0: it has none that /proc shows */
    uint64_t own_ns;      /* CPU time of the process since it was made, over each exec; 0: nothing
                           * is known */
    uint64_t children_ns; /* of children that it has waited for, and theirs */
};

/* False: it is gone. */
bool family_read(pid_t pid, struct family *family);

/* ---- when hcctd begins, and goes on from a checkpoint; by one thread, before there are others
 * ---- */

/* Reads of all processes what /proc says. */
void families_read_all(void);
/* Adds what was missed to the processes of a checkpoint (gap_ns, gap_children_ns), of which those
 * that were live have a family. */
void families_add_missed(struct process *const *list, size_t n);

/* ---- later: by the thread that adopts processes ---- */

/* The process was there when hcctd began, and nobody has asked for it yet: it has begun after the
 * checkpoint. *children_ns: what children had used by then. */
bool families_missed(pid_t pid, uint64_t start_ticks, uint64_t *children_ns);

/* ---- the parts, for tests ---- */

struct family_member {
    pid_t pid;
    bool there;           /* it still is, now */
    struct family then;   /* as the checkpoint says */
    uint64_t children_ns; /* now */
    uint64_t missed_ns;   /* of its children: families_balance() says it */
};

/* `member` is sorted by pid, each of which it has once. */
void families_balance(struct family_member *member, size_t n);

#endif
