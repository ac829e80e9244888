/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * process.h - one profiled process: its shared memory, its threads' rings, its tree.
 *
 * Reference counted. Everything but the immutable fields is used under `lock`; process_* take it
 * themselves unless they say otherwise.
 */
#ifndef HCCT_PROCESS_H
#define HCCT_PROCESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/trace/trace_writer.h"
#include "common/tree/mcct.h"
#include "common/tree/scatter.h"
#include "common/tree/subwindows.h"
#include "daemon/ingest/addresses.h"
#include "daemon/ingest/arena.h"
#include "daemon/ingest/families.h"
#include "daemon/ingest/followed.h"
#include "daemon/ingest/identity.h"
#include "daemon/ingest/numbered.h"
#include "daemon/ingest/process_stats.h"
#include "daemon/ingest/raw_sample.h"
#include "daemon/ingest/reader.h"
#include "daemon/ingest/session_memory.h"

/* What a session that begins has behind it, and by what the time since then is known. */
enum before_by {
    BEFORE_BY_SESSION, /* the program has just begun, or its last session is at an end here:
                        * `between` of the session has it (wire.h) */
    BEFORE_BY_GAP,     /* it goes on from a checkpoint: gap_ns has it */
    BEFORE_BY_CLOCK,   /* another hcctd has seen it: nothing of it was to be seen here, unless that
                        * is `missed` */
    BEFORE_BY_OTHER,   /* as BEFORE_BY_SESSION, but an earlier session is a process of its own */
};

struct before {
    enum before_by by;
    uint64_t earlier_ns; /* CPU time of programs that the process had executed before, and that are
                          * known here; BEFORE_BY_OTHER: that of the other process */
};

/* hcctd goes on from a checkpoint, and this process began after that, and before hcctd. */
struct missed {
    bool so;              /* what came before this session is a gap */
    uint64_t children_ns; /* CPU time of its children, before hcctd began */
};

struct process {
    /* immutable */
    uint64_t
        number; /* in the order in which they were made, from 1 on: no two ever have the same */
    pid_t pid;  /* 0: several finished processes folded into one */
    uid_t uid;
    struct process_identity identity;
    const char *exe;       /* owned */
    char *_Atomic command; /* owned: what it was executed by; NULL: not known (yet) */
    _Atomic bool linked;   /* the command is a name of exe, maybe a link's, and no script */
    char *_Atomic tags; /* owned; NULL: none, or not known yet. Both are set once, under the lock */
    uint64_t since_ns;  /* wall clock, since 1970 */
    uint64_t since_mono_ns;
    struct session_sampling sampling;

    struct process *next; /* registry's, as the following: in one of its lists ... */
    unsigned listed;      /* ... which is this one */
    unsigned refs;
    _Atomic bool waiting; /* from a checkpoint, and it may still be running */
    _Atomic int pidfd;    /* its end is watched by it; -1: gone, or there are none */

    pthread_mutex_t lock;
    _Atomic bool live; /* written under the lock */
    uint32_t runs;
    uint32_t threads_open; /* of ended.threads, those that lived when the session ended */
    uint64_t ended_mono_ns;
    struct session_memory memory; /* while live */
    bool shares;                  /* the memory is another's, who sees to tables (beside) */
    struct arena *arena;
    struct mcct *tree;         /* of all that was credited; process_tree() is what there is now */
    struct heap *heap;         /* of sampled blocks, where they were allocated; NULL: no such */
    struct frame_user *frames; /* the ids in it (code/frame.h) are that user's */
    struct subwindows
        *_Atomic subwindows;       /* windows.h; NULL: there are none. Written under the lock */
    struct process_counts counted; /* is in the sub-windows, and those before them */
    struct addresses *addresses;
    struct scatter *scatter;        /* of walks, while live ... */
    struct scatter_effects effects; /* ... and what it reported at the end, and before */
    struct numbered numbered;       /* of the first metric: contexts that have numbers */
    struct followed followed;       /* of calls: modules that do not report theirs */
    struct trace_process *trace;    /* what is applied to the tree is kept, too; NULL: it is not */
    void (*_Atomic finished)(struct process *); /* see process_say_finished; NULL: nobody asks */
    struct reader *readers[WIRE_SLOTS_MAX];     /* by slot, made on first use */
    uint32_t modules_seen;                      /* of the module log */
    uint64_t marks_seen;                        /* of the session's marks ... */
    uint64_t marks_wait_ns;                     /* ... the next is waited for since then */
    bool names_taken;                           /* tags and command are what they will be */
    struct process_stats ended;                 /* of threads that are gone, and of the past */
    struct before before;                       /* this session */
    _Atomic bool fills_soon;                    /* rings fill quickly: sweep again at once */
    _Atomic uint64_t
        copied_mono_ns;      /* when copies of stacks came last: each takes a good part of a ring */
    _Atomic bool undrained;  /* a drain left words in the rings, to go on later */
    bool said_goodbye;       /* under the lock */
    bool over;               /* the same: it ends without another session of the same program */
    bool executed;           /* the same: another program runs in the process by now */
    bool reads_no_more;      /* the same: its agent knows it */
    uint64_t goodbye_cpu_ns; /* its CPU time then: what comes after it nobody has seen */

    /* deferred_unwind.h; written under the lock */
    struct raw_sample_list deferred_read;            /* not queued yet */
    uint64_t deferred_bytes;                         /* queued or being unwound */
    _Atomic uint64_t deferred_queued, deferred_done; /* ever; in this order */
    _Atomic uint32_t deferred_strikes;               /* times that the worker failed */
    struct trace_thread deferred_trace;

    struct family family; /* at the last checkpoint, of one that was live; for who writes and reads
                           * checkpoints */
    struct missed missed; /* this session */
};

/* Windows are kept: of what grows with time, and may be cut into pieces. */
static inline bool process_keeps_windows(uint32_t collector) {
    return collector != WIRE_COLLECT_CALLS && !wire_of_heap(collector);
}

/* Weight of one sample, by its kind; 0: there are none, or they have no usual weight. */
uint64_t process_period(const struct session_sampling *sampling, uint64_t rate);

struct process_params {
    pid_t pid;
    uid_t uid;
    struct session_sampling sampling;
    struct session_needs needs;
    const struct process *beside; /* of the same session, for another metric; NULL: none */
    struct mcct_params tree;
};

/* What lies between two samples of events, of allocations at least, in bytes or nanoseconds; 0: it
 * samples none. */
static inline uint64_t process_events_mean(uint32_t collector) {
    if (!wire_of_events(collector))
        return 0;
    return wire_of_locks(collector) ? WIRE_LOCKS_MEAN : WIRE_BLOCKS_MEAN;
}

/* Sums of draws are in units of many bytes or nanoseconds; numbers are small. */
static inline unsigned process_draws_shift(const struct process *process) {
    return wire_of_numbers(process->sampling.collector) ? DRAWS_UNIT_SHIFT : 0;
}

/* A new live process with one reference; NULL: no memory. */
struct process *process_new(const struct process_params *params);

/* Its tags (common/wire/tags.h), empty where there are none. Any thread with a reference. */
static inline const char *process_tags(const struct process *process) {
    const char *tags = process->tags;
    return tags != NULL ? tags : "";
}

/* Its name for people: that of the link or script that was executed, until that is known the last
 * part of exe. Any byte but NUL and a slash may be in it. Any thread with a reference. */
const char *process_command(const struct process *process);

/* A finished process with one reference, as a checkpoint says: what stands in `like` from pid to
 * since_mono_ns, its runs, frames, `ended`, threads_open and ended_mono_ns; takes over its exe,
 * command, tags, `followed` and tree, but not when it fails (NULL: no memory). */
struct process *process_new_finished(const struct process *like);
void process_free(struct process *process); /* the registry's, when no reference is left */

/* Learns how many bytes there were between two of its sampled blocks at most. Its lock is held. */
void process_see_mean(struct process *process);

/* Which sampled blocks have not been freed, as its memory has them now: process_tree() is of them
 * from now on. Where they come from is in its rings, to be read next. Does nothing for one that has
 * no heap, or has ended. Its lock is held. */
void process_see_blocks(struct process *process);

/* Its tree: of sampled blocks one that is made for this, of those that were there when they were
 * seen last. When it has ended, and nothing is to be credited to it any more, that is its last one,
 * and others may be added to it. Its lock is held. */
struct mcct *process_tree(struct process *process);

/* All but its tree and what is counted goes. Its lock is held, or nobody knows it any more. */
void process_give_back(struct process *process);

/* Takes over what an agent says before its first module, by which it is known to be whole: tags and
 * command, once. The process's lock is held. */
void process_take_names(struct process *process);

/* A table of module log entry `index`. */
struct module_table {
    uint32_t index, module;
    enum table_kind kind;
    uint64_t table; /* an offset in the process's arena, or WIRE_TABLE_NONE */
};

/* Publishes where the table is. Call sites that are not to be redirected are no agent's business:
 * to it there are none. */
void process_publish_table(struct process *process, const struct module_table *table);
/* The same; the process's lock is held. */
void process_publish_table_locked(struct process *process, const struct module_table *table);

/* hcctd ends, and the process goes on: its agent is notified, threads that wait for room are woken,
 * and write no more. False: its lock is held, and it was not to `wait` for that. */
bool process_say_goodbye(struct process *process, bool wait);
/* What its rings had was read; of what is written to them from now on nothing will be. Where calls
 * are counted, the agent takes that for lost. */
void process_say_read(struct process *process);
/* The same; the process's lock is held, and it is live. */
void process_stop_reading(struct process *process);
/* The agent has left it, and it goes on. */
bool process_has_left(struct process *process);

/* Whether stacks are still to be credited. */
static inline bool process_has_deferred(const struct process *process) {
    return process->deferred_queued != process->deferred_done;
}

/* Nothing will be credited to the process any more: calls process->finished, once. Without the
 * lock. */
void process_say_finished(struct process *process);

/* So much CPU time was used to read what the process has sent: its agent is to know. */
void process_count_reading(struct process *process, uint64_t ns);

void process_get_stats(struct process *process, struct process_stats *stats);
/* Modules whose calls were to be followed, as a text (profile/call_modules.h), malloc'ed; NULL:
 * none. The process's lock is held. */
char *process_call_modules_locked(const struct process *process);
/* Design effects of functions, which the caller frees. The process's lock is held. */
struct scatter_effects process_effects_locked(struct process *process);
/* The same; the process's lock is held. */
void process_stats_locked(struct process *process, struct process_stats *stats);

#endif
