/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * families.c - two readings of /proc, and what lies between them.
 */
#include "daemon/ingest/families.h"

#include <dirent.h>
#include <stdlib.h>

#include "common/base/array_grow.h"
#include "daemon/ingest/identity.h"
#include "daemon/ingest/proc_stat.h"
#include "daemon/ingest/process.h"

/* A process as it was when hcctd began. */
struct seen {
    pid_t pid;
    uint64_t start_ticks, own_ns, children_ns;
    bool known; /* the checkpoint has it, or it has come since */
};

static struct {
    struct seen *process; /* by pid */
    size_t n, room;
} there;

bool family_read(pid_t pid, struct family *family) {
    struct proc_stat stat;
    *family = (struct family){0};
    if (!proc_stat_read(pid, &stat))
        return false;
    *family = (struct family){stat.parent, stat.cpu_ns, stat.children_ns};
    return true;
}

/* ---- the second reading ---- */

static int by_pid(const void *a, const void *b) {
    pid_t i = ((const struct seen *)a)->pid, k = ((const struct seen *)b)->pid;
    return (i > k) - (i < k);
}

static void read_one(pid_t pid) {
    struct proc_stat stat;
    if (!proc_stat_read(pid, &stat) ||
        !array_grow(&there.process, there.n, &there.room, sizeof *there.process))
        return;
    there.process[there.n++] =
        (struct seen){pid, stat.start_ticks, stat.cpu_ns, stat.children_ns, false};
}

void families_read_all(void) {
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    if (proc == NULL)
        return;
    while ((entry = readdir(proc)) != NULL)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            read_one((pid_t)strtol(entry->d_name, NULL, 10));
    closedir(proc);
    if (there.n > 1)
        qsort(there.process, there.n, sizeof *there.process, by_pid);
}

static struct seen *find(pid_t pid, uint64_t start_ticks) {
    const struct seen key = {.pid = pid};
    struct seen *found =
        there.n == 0 ? NULL : bsearch(&key, there.process, there.n, sizeof *there.process, by_pid);
    return found != NULL && found->start_ticks == start_ticks ? found : NULL;
}

bool families_missed(pid_t pid, uint64_t start_ticks, uint64_t *children_ns) {
    struct seen *seen = find(pid, start_ticks);
    *children_ns = 0;
    if (seen == NULL || seen->known)
        return false;
    seen->known = true;
    *children_ns = seen->children_ns;
    return true;
}

/* ---- the difference ---- */

static int by_member(const void *a, const void *b) {
    pid_t i = ((const struct family_member *)a)->pid, k = ((const struct family_member *)b)->pid;
    return (i > k) - (i < k);
}

static struct family_member *find_member(struct family_member *member, size_t n, pid_t pid) {
    const struct family_member key = {.pid = pid};
    return bsearch(&key, member, n, sizeof *member, by_member);
}

/* Whose sum has what this one had used, now that it is gone: its parent's, or where that is gone,
 * too, an ancestor's. NULL: nobody's that is known. */
static struct family_member *heir(struct family_member *member, size_t n,
                                  const struct family_member *gone) {
    struct family_member *at = find_member(member, n, gone->then.parent);
    for (size_t i = 0; i < n && at != NULL && !at->there; i++)
        at = find_member(member, n, at->then.parent);
    return at != NULL && at->there ? at : NULL;
}

static void take_off(uint64_t *from, uint64_t ns) {
    *from -= ns < *from ? ns : *from;
}

void families_balance(struct family_member *member, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint64_t now = member[i].children_ns, then = member[i].then.children_ns;
        member[i].missed_ns = member[i].there && now > then ? now - then : 0;
    }
    for (size_t i = 0; i < n; i++) {
        struct family_member *by = member[i].there ? NULL : heir(member, n, &member[i]);
        if (by != NULL)
            take_off(&by->missed_ns, member[i].then.own_ns + member[i].then.children_ns);
    }
}

/* ---- of a checkpoint ---- */

/* Several metrics of one process are one member. */
static size_t take_members(struct process *const *list, size_t n, struct family_member *member) {
    size_t taken = 0;
    for (size_t i = 0; i < n; i++) {
        const struct process *p = list[i];
        if (p->family.own_ns == 0)
            continue;
        struct seen *now = find(p->pid, p->identity.start_ticks);
        if (now != NULL)
            now->known = true;
        member[taken++] = (struct family_member){.pid = p->pid,
                                                 .there = now != NULL,
                                                 .then = p->family,
                                                 .children_ns = now != NULL ? now->children_ns : 0};
    }
    if (taken > 1)
        qsort(member, taken, sizeof *member, by_member);
    size_t kept = 0;
    for (size_t i = 0; i < taken; i++)
        if (kept == 0 || member[kept - 1].pid != member[i].pid)
            member[kept++] = member[i];
    return kept;
}

/* Of its own up to now; what follows until its agent comes is added by resume(). */
static void add_own(struct process *p) {
    const struct seen *now = find(p->pid, p->identity.start_ticks);
    struct process_identity identity;
    if (now == NULL || !p->waiting || now->own_ns <= p->family.own_ns ||
        !identity_read(p->pid, &identity) || !identity_same(&identity, &p->identity))
        return;
    p->ended.cpu_ns += now->own_ns - p->family.own_ns;
    p->ended.gap_ns += now->own_ns - p->family.own_ns;
}

void families_add_missed(struct process *const *list, size_t n) {
    struct family_member *member = calloc(n + 1, sizeof *member);
    if (member == NULL)
        return; /* it is not said, then */
    size_t members = take_members(list, n, member);
    families_balance(member, members);
    for (size_t i = 0; i < n; i++) {
        struct process *p = list[i];
        if (p->family.own_ns == 0 || p->ended.off)
            continue;
        const struct family_member *its = find_member(member, members, p->pid);
        if (its != NULL && !p->sampling.alone)
            p->ended.gap_children_ns += its->missed_ns;
        add_own(p);
    }
    free(member);
}
