/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * attach.h - what is said to an agent that is loaded into a process that runs already.
 *
 * Its library has one function of this name. The caller's request lies on the stack of the thread
 * that runs it, and so does the answer. It is called between two instructions of the application.
 */
#ifndef HCCT_WIRE_ATTACH_H
#define HCCT_WIRE_ATTACH_H

#include <stdatomic.h>
#include <stdint.h>

#include "common/wire/paths.h"
#include "common/wire/tags.h"
#include "common/wire/wire.h"

#define WIRE_ATTACH_FUNCTION "hcct_attach"
#define WIRE_ATTACH_VERSION  7u
#define WIRE_ATTACH_THREADS  256u /* that are named; others are found later */

/* Parts of the library's code that the application calls in place of libc's malloc and locks: a
 * thread there holds nothing of the agent's. A function of this name is a table of them. */
#define WIRE_ATTACH_PARTS_FUNCTION "hcct_attach_parts"
#define WIRE_ATTACH_PARTS          2u
struct wire_attach_part {
    int32_t from, to; /* from the table's address on */
};

enum wire_attach_what {
    WIRE_ATTACH_BEGIN, /* sampling begins, at the first tick of any thread */
    WIRE_ATTACH_END,   /* no signal of ours comes any more, and the session is given back */
    WIRE_ATTACH_WAKE,  /* the named threads, which sleep, are woken: `unread` has asked for it */
};

enum wire_attach_answer {
    WIRE_ATTACH_UNSAID, /* the function was not called, or has not returned */
    WIRE_ATTACH_DONE,
    WIRE_ATTACH_OTHER_VERSION,
    WIRE_ATTACH_ALREADY,   /* BEGIN: it is attached */
    WIRE_ATTACH_NOT,       /* END, WAKE: it is not attached */
    WIRE_ATTACH_NO_MEMORY, /* no mapping can be made */
    WIRE_ATTACH_NO_LIBC,   /* another C library, or one that is too old */
    WIRE_ATTACH_NO_SIGNAL, /* the application uses all signals */
    WIRE_ATTACH_NO_TIMER,  /* no timer can be made (RLIMIT_SIGPENDING) */
    WIRE_ATTACH_REST,      /* END: no thread is sampled, but some have yet to learn it: once more.
                            * WAKE: another thread is at it: once more */
    WIRE_ATTACH_NOT_BOUND, /* the words by which objects call libc can't be changed (late_bind.h) */
};

/* What has become of a thread that was named. */
enum wire_attach_fate {
    WIRE_ATTACH_SAMPLED,
    WIRE_ATTACH_CLOSED,    /* it blocks the agent's signal, or libc has not made it */
    WIRE_ATTACH_TIMERLESS, /* no timer can be made (RLIMIT_SIGPENDING) */
    WIRE_ATTACH_ROOMLESS,  /* no memory can be mapped (RLIMIT_AS) */
    WIRE_ATTACH_FATES
};

/* For BEGIN with the signals that it blocks. For WAKE with how often it had gone to sleep when it
 * was in a call that can be made again: as long as it sleeps and that number is the same, it is
 * there still. */
struct wire_attach_thread {
    int32_t tid;       /* as the process itself numbers it */
    int32_t waits_on;  /* as below */
    uint64_t blocked;  /* signals */
    uint64_t switches; /* that were voluntary */
};

struct wire_attach {
    uint32_t version;
    uint32_t what;    /* enum wire_attach_what */
    uint32_t rate;    /* samples per second of CPU time */
    uint32_t clock;   /* enum wire_clock: CPU, WALL or OFF */
    uint32_t waits;   /* 1: the thread that is called on is in a call that can be made again */
    int32_t waits_on; /* by that (waits.h), or with this descriptor; -1: on none */
    uint32_t lines;
    uint32_t threads;
    uint32_t python;
    uint32_t leaves;  /* 1: the agent detaches itself when its daemon has gone */
    uint32_t metrics; /* that are counted, at least one; WIRE_COLLECT_WALKS is time by that clock */
    uint32_t metric[WIRE_METRICS_MAX]; /* enum wire_collector, all but calls */
    uint32_t n_threads;
    uint32_t bell; /* the agent sends this signal to its thread when all is done, for who traces it:
                    * one whose default is to be ignored, and that has no handler; 0: none */
    char socket[PATHS_SOCKET_MAX];
    char tags[TAGS_ROOM];
    _Atomic uint32_t answer;                   /* enum wire_attach_answer */
    _Atomic uint32_t fates[WIRE_ATTACH_FATES]; /* how many threads of each */
    _Atomic uint32_t unread; /* BEGIN: 1: threads that sleep are to be woken, and the process may
                              * not ask the kernel where they do: it has changed its user */
    struct wire_attach_thread thread[WIRE_ATTACH_THREADS];
};

#endif
