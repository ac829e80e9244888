/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * wire.h - what the agent and the daemon agree on: handshake, session memory, events.
 *
 * This header is the specification. Both sides run on one machine, so all integers are in the
 * machine's own order; a trace or profile file has its own format.
 *
 * Handshake, over a SOCK_STREAM Unix socket:
 *
 *   agent                                 daemon
 *     | -- struct wire_hello --------------> |   first 8 bytes tell an agent from an HTTP client
 *     | <- struct wire_welcome, 2 fds ------ |   SCM_RIGHTS: session memory, table arena
 *     | close                          close |
 *
 * Then both share two memory objects, and no descriptor:
 *
 *   session memory, one for each process, written by both, sealed against resizing:
 *     [ struct wire_session | modules ... | blocks | slots ... | contexts ... ]
 *     The agent touches slot i only when i < slots_ready, module j only when j < modules_ready, and
 *     context k only when k < contexts_ready: just these pages have been allocated, the rest are
 *     holes, and touching a hole when memory is full would be SIGBUS. The blocks are there where
 *     the heap is sampled. Where address space is limited the agent has no contexts.
 *   table arena, one for many processes, written by the daemon, mapped read-only by agents:
 *     [ struct wire_arena | unwind tables (unwind_table.h) at offsets that wire_module.table names
 * ]
 *
 * The end of a session: the daemon sets WIRE_CONTROL_GONE and wakes who waits for it, reads the
 * rings for the last time, and sets WIRE_CONTROL_READ. When it is killed, the kernel says so in
 * wire_arena.daemon. When it only stands still, its heartbeat grows old. The agent leaves the
 * session at the first of these.
 *
 * Who writes a field is said beside it. The daemon trusts nothing that an agent can write: each
 * index is reduced to its range before use, each size is checked, each string is bounded.
 *
 * How to evolve: a field is added in the padding, at the end of a struct; anything else raises
 * WIRE_VERSION. A daemon refuses another version by WIRE_STATUS_VERSION, and the agent says so.
 */
#ifndef HCCT_WIRE_H
#define HCCT_WIRE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/wire/counters.h"
#include "common/wire/tags.h"

#define WIRE_VERSION       26u
#define WIRE_HELLO_MAGIC   "HCCTAGNT"
#define WIRE_SESSION_MAGIC 0x7353746363680001ull

#define WIRE_CACHE_LINE         64
#define WIRE_PAGE               4096
#define WIRE_PAGE_MOST          65536u /* of any kernel: what is mapped by itself begins at one */
#define WIRE_WHOLE_PAGES(bytes) (((bytes) + WIRE_PAGE_MOST - 1) / WIRE_PAGE_MOST * WIRE_PAGE_MOST)

/* ---- handshake ---- */

#define WIRE_HELLO_NO_FOLLOW 1u /* not to be profiled when its parent is */
#define WIRE_HELLO_LINES     2u /* walks: the leaf pc is sent, too (LEAF_PC) */
#define WIRE_HELLO_THREADS   4u /* contexts begin with the name of their thread */
#define WIRE_HELLO_ATTACHED  8u /* somebody has asked for this process, whatever its parent is */
#define WIRE_HELLO_BUDGET_SHIFT                                                                    \
    8u /* calls: from this bit on, what profiling may cost, in parts per                           \
        * million of the CPU time; 0: no matter */

/* What weights are, and what triggers a sample. */
enum wire_clock {
    WIRE_CLOCK_CPU = 0,  /* CPU time, on a timer of the thread's CPU clock */
    WIRE_CLOCK_WALL = 1, /* elapsed time: sleeping threads are seen too */
    /* 2: CPU time by another timer, in files of earlier versions */
    WIRE_CLOCK_OFF = 3, /* elapsed time less CPU time: asleep, or waiting for a processor */
    WIRE_CLOCKS
};

/* Threads are sampled while they are off the processor. */
static inline bool wire_clock_sleeps(uint32_t clock) {
    return clock == WIRE_CLOCK_WALL || clock == WIRE_CLOCK_OFF;
}

/* How contexts are found. */
enum wire_collector {
    WIRE_COLLECT_WALKS = 0, /* stack walks, weights are times */
    WIRE_COLLECT_CALLS = 1, /* instrumented calls and returns, weights are numbers of calls */
    /* sampled allocations; contexts are of stack walks */
    WIRE_COLLECT_ALLOC = 2, /* weights are bytes that were allocated ... */
    WIRE_COLLECT_ALLOC_OBJECTS = 3,
    WIRE_COLLECT_HEAP = 4, /* ... that are allocated now */
    WIRE_COLLECT_HEAP_OBJECTS = 5,
    /* sampled waits for locks that another thread had; contexts are of stack walks */
    WIRE_COLLECT_LOCK = 6, /* weights are times */
    WIRE_COLLECT_LOCK_WAITS = 7,
    /* page faults since the sample before, at samples of time; contexts are of stack walks */
    WIRE_COLLECT_FAULTS = 8, /* weights are their numbers */
    /* the same waits for locks, at who has them meanwhile, when it gives them back */
    WIRE_COLLECT_LOCK_HELD = 9, /* weights are times */
    WIRE_COLLECTORS
};

/* Samples come by what the program does, not by time. */
static inline bool wire_of_events(uint32_t collector) {
    return (collector >= WIRE_COLLECT_ALLOC && collector <= WIRE_COLLECT_LOCK_WAITS) ||
           collector == WIRE_COLLECT_LOCK_HELD;
}

/* Allocations are sampled. */
static inline bool wire_of_blocks(uint32_t collector) {
    return collector >= WIRE_COLLECT_ALLOC && collector <= WIRE_COLLECT_HEAP_OBJECTS;
}

/* Of these, those that have not been freed. */
static inline bool wire_of_heap(uint32_t collector) {
    return collector == WIRE_COLLECT_HEAP || collector == WIRE_COLLECT_HEAP_OBJECTS;
}

/* Waits for locks are sampled, by who waits ... */
static inline bool wire_of_waits(uint32_t collector) {
    return collector == WIRE_COLLECT_LOCK || collector == WIRE_COLLECT_LOCK_WAITS;
}

/* ... or by who lets them wait. */
static inline bool wire_of_held(uint32_t collector) {
    return collector == WIRE_COLLECT_LOCK_HELD;
}

static inline bool wire_of_locks(uint32_t collector) {
    return wire_of_waits(collector) || wire_of_held(collector);
}

/* Events weigh one each, not what they are long; and so do page faults. */
static inline bool wire_of_numbers(uint32_t collector) {
    return collector == WIRE_COLLECT_ALLOC_OBJECTS || collector == WIRE_COLLECT_HEAP_OBJECTS ||
           collector == WIRE_COLLECT_LOCK_WAITS || collector == WIRE_COLLECT_FAULTS;
}

/* Which edges of the tree gain when a context is sampled (the ACCT report's comparison). */
enum wire_credit {
    WIRE_CREDIT_LAST = 0, /* the last one: the context itself */
    WIRE_CREDIT_NEW = 1,  /* all that have come since the last sample */
    WIRE_CREDITS
};

#define WIRE_EVERY_EACH                                                                            \
    0x80000000u /* in wire_hello.every: of each routine, not of all together                       \
                 */

/* Metrics of one session. Each has slots of its own: of n metrics, slot i is one of metric i % n,
 * in the order of the hello. So a thread has a ring, a cursor and counters for each, and modules,
 * tables and all else once. */
#define WIRE_METRICS_MAX 7u

struct wire_hello {
    char magic[8];    /* WIRE_HELLO_MAGIC, not terminated */
    uint32_t version; /* WIRE_VERSION */
    uint32_t size;    /* sizeof(struct wire_hello) */
    uint32_t pid;     /* as the agent sees itself; the daemon goes by SO_PEERCRED */
    uint32_t rate;    /* samples per second of CPU time that the user asked for */
    uint32_t flags;   /* WIRE_HELLO_* */
    uint16_t clock;   /* enum wire_clock */
    uint16_t credit;  /* enum wire_credit */
    uint64_t burst_length_ns, burst_period_ns; /* of CPU time; 0, 0: uniform sampling */
    uint8_t collector;                         /* enum wire_collector: of the first metric ... */
    uint8_t more;                         /* ... and so many others, below WIRE_METRICS_MAX ... */
    uint8_t others[WIRE_METRICS_MAX - 1]; /* ... each enum wire_collector */
    uint32_t every;    /* calls: one of so many is counted, 1: all; and WIRE_EVERY_EACH */
    uint32_t sessions; /* that this program has had, before this one: 0 after exec */
};

enum wire_status {
    WIRE_STATUS_OK = 0,
    WIRE_STATUS_VERSION = 1,      /* another WIRE_VERSION */
    WIRE_STATUS_FULL = 2,         /* the daemon has as many processes as it may */
    WIRE_STATUS_FAILED = 3,       /* the daemon could not make the session memory */
    WIRE_STATUS_NOT_FOLLOWED = 4, /* WIRE_HELLO_NO_FOLLOW, and the parent is profiled */
};

struct wire_welcome {
    char magic[8];          /* WIRE_HELLO_MAGIC */
    uint32_t version;       /* the daemon's WIRE_VERSION */
    uint32_t status;        /* enum wire_status; descriptors come with WIRE_STATUS_OK only */
    uint64_t session_bytes; /* size of the session memory */
    uint64_t arena_bytes;   /* size of the table arena */
    uint64_t slot_bytes;    /* size of each slot */
    uint64_t reserved[3];
};

/* ---- session memory ---- */

#define WIRE_SLOTS_MAX    4096u    /* threads of one process that are profiled at the same time */
#define WIRE_SLOT_BYTES   65536u   /* slot header and ring, for walks */
#define WIRE_CALLS_BYTES  1048576u /* the same, for calls: a millisecond of a fast program */
#define WIRE_MODULES_MAX  2048u
#define WIRE_MODULE_BYTES 512u
#define WIRE_HEADER_BYTES 4096u
#define WIRE_MAX_FRAMES   16384u /* deepest stack that an agent follows */

#define WIRE_BLOCKS       16384u /* sampled blocks of the heap that are known at the same time */
#define WIRE_BLOCKS_SHIFT 14u
#define WIRE_BLOCKS_MEAN  16384u  /* bytes between two samples of a thread, at least */
#define WIRE_LOCKS_MEAN   500000u /* nanoseconds of a thread's waiting between two samples */
#define WIRE_LOCKS_BESIDE 5000u   /* where waits are counted the clock has so much more for each */

#define WIRE_MODULES_OFFSET WIRE_HEADER_BYTES
/* From there on parts are mapped by themselves, too. */
#define WIRE_BLOCKS_OFFSET                                                                         \
    WIRE_WHOLE_PAGES(WIRE_MODULES_OFFSET + WIRE_MODULES_MAX * WIRE_MODULE_BYTES)
#define WIRE_BLOCKS_BYTES (WIRE_BLOCKS * 16u)
#define WIRE_SLOTS_OFFSET WIRE_WHOLE_PAGES(WIRE_BLOCKS_OFFSET + WIRE_BLOCKS_BYTES)
#define WIRE_CONTEXTS     (1u << 20) /* with a number, of one process; 0 is none */
#define WIRE_CONTEXTS_OFFSET(slot_bytes)                                                           \
    (WIRE_SLOTS_OFFSET + (uint64_t)WIRE_SLOTS_MAX * (slot_bytes))
#define WIRE_SESSION_BYTES(slot_bytes)                                                             \
    (WIRE_CONTEXTS_OFFSET(slot_bytes) + WIRE_CONTEXTS * sizeof(struct wire_context))

/* What the agent counts, for each thread, since the thread began: WIRE_WALKS and so on
 * (counters.h). */
enum wire_counter {
#define PLACE(NAME, place, ...) WIRE_##NAME = (place),
    THREAD_COUNTERS(PLACE, PLACE, NO_COUNTER)
#undef PLACE
#define ONE(...) +1
        WIRE_COUNTERS = 0 THREAD_COUNTERS(ONE, ONE, NO_COUNTER)
#undef ONE
};

#define BIT(NAME, place, ...) +(1ull << (place))
_Static_assert((THREAD_COUNTERS(BIT, BIT, NO_COUNTER)) == (2ull << (WIRE_COUNTERS - 1)) - 1,
               "each counter has a place of its own, and no place is empty");
#undef BIT

enum wire_slot_state {
    WIRE_SLOT_FREE = 0,  /* daemon, when a slot has been drained; agent may claim it by CAS */
    WIRE_SLOT_OWNED = 1, /* agent: a thread writes here */
    WIRE_SLOT_ENDED = 2, /* agent: the thread is gone; nothing more will be written */
};

/* A thread's slot: header, then the ring (ring.h) fills the rest of the slot's bytes. */
struct wire_slot {
    _Atomic uint32_t state; /* enum wire_slot_state */
    uint32_t tid;           /* agent */
    char name[16];          /* agent: thread name, at the claim */
    uint8_t pad0[WIRE_CACHE_LINE - 24];
    _Atomic uint64_t head; /* agent: words written, ever */
    uint8_t pad1[WIRE_CACHE_LINE - 8];
    _Atomic uint64_t tail;    /* daemon: words read, ever */
    _Atomic uint32_t waiting; /* agent: 1, and a futex: it sleeps until the daemon has read */
    uint8_t pad2[WIRE_CACHE_LINE - 12];
    _Atomic uint64_t counter[WIRE_COUNTERS]; /* agent */
    uint8_t pad3[-8 * WIRE_COUNTERS & (WIRE_CACHE_LINE - 1)];
};

#define WIRE_RING_WORDS(slot_bytes) (((slot_bytes) - sizeof(struct wire_slot)) / 8)

enum {
    WIRE_TABLE_PENDING = 0, /* the daemon has not read it yet */
    WIRE_TABLE_NONE = 1,    /* there is none, and there will be none */
};

/* One mapped ELF object, or, where it is empty, one that had gone before it was written down.
 * Entries are appended and never changed. Where two overlap, addresses in a stream belong to the
 * later one whose generation is not above the stream's (MAP). */
struct wire_module {
    uint64_t start; /* agent: first address of the mapping, and the first after it */
    uint64_t end;
    uint64_t bias;           /* agent: run-time address minus the address in the file */
    _Atomic uint64_t table;  /* daemon: WIRE_TABLE_*, or an offset in the arena (>= 64) */
    _Atomic uint32_t filled; /* agent: set last; until then the entry says nothing */
    uint8_t is_vdso;         /* agent */
    uint8_t build_id_len;    /* agent: 0 when there is none */
    uint16_t path_len;       /* agent */
    uint8_t build_id[20];    /* agent: first bytes of the GNU build-id */
    uint32_t generation;     /* agent: of the map, from which on the entry is valid (MAP) */
    _Atomic uint64_t sites;  /* daemon: WIRE_TABLE_*, or an offset in the arena (call_sites.h) */
    uint8_t want_sites;      /* agent: its call sites are asked for, before `filled` is set */
    _Atomic uint8_t verdict; /* agent: enum calls_verdict, when it has seen the sites */
    uint8_t pad[2];
    _Atomic uint32_t redirected; /* agent: sites that lead to stubs; before `verdict` */
    uint64_t missed_from_ns; /* agent, CLOCK_MONOTONIC: calls of it were missed from here on ... */
    _Atomic uint64_t missed_to_ns;     /* ... up to here; 0: until now. `from` 0: none were */
    char path[WIRE_MODULE_BYTES - 96]; /* agent: not terminated, cut when longer */
};

/* A sampled block that has not been freed, agent. Its place in the table is part of its number, by
 * which the ring names its context (BLOCK): numbers rise, and no two blocks of a session have the
 * same. Whoever reads looks at the number, at the weight and at the number again. */
struct wire_block {
    _Atomic uint64_t number; /* 0: there is none */
    _Atomic uint64_t weight; /* WIRE_BLOCK_WEIGHT */
};

/* By which R a block was drawn, WIRE_BLOCKS_MEAN doubled so many times, and by which those are that
 * are allocated where little is (preload/blocks/sites.h). */
#define WIRE_DOUBLED_BITS 5u
#define WIRE_DOUBLED_MAX  31u
#define WIRE_DRAWN(doubled, usual)                                                                 \
    ((uint64_t)(usual) << WIRE_DOUBLED_BITS | ((uint64_t)(doubled)&WIRE_DOUBLED_MAX))

/* Bytes or blocks, and WIRE_DRAWN. */
#define WIRE_BLOCK_BITS 54
#define WIRE_BLOCK_MASK ((1ull << WIRE_BLOCK_BITS) - 1)
#define WIRE_BLOCK_WEIGHT(weight, drawn)                                                           \
    ((uint64_t)(drawn) << WIRE_BLOCK_BITS | ((weight)&WIRE_BLOCK_MASK))

static inline uint64_t wire_blocks_mean(uint64_t drawn) {
    return (uint64_t)WIRE_BLOCKS_MEAN << (drawn & WIRE_DOUBLED_MAX);
}

static inline uint64_t wire_blocks_usual_mean(uint64_t drawn) {
    return wire_blocks_mean(drawn >> WIRE_DOUBLED_BITS);
}

/* Where numbers of blocks are asked for the clock of points has so many bytes more for each. */
#define WIRE_BLOCKS_BESIDE 1024u

/* What a block may weigh at most that a point of mean distance `mean` has fallen on by chance. */
static inline uint64_t wire_rarest_block(uint64_t mean, bool number) {
    return number ? mean / WIRE_BLOCKS_BESIDE : mean;
}

#define WIRE_BLOCK_PLACE(number) ((uint32_t)((number) & (WIRE_BLOCKS - 1)))

/* A moment that the program has marked (hcct.h), agent. Mark n, from 1 on, has place
 * (n - 1) % WIRE_MARKS: whoever reads looks at the number, at the rest and at the number again. */
#define WIRE_MARKS     32u
#define WIRE_MARK_ROOM 48u /* bytes of a name, its NUL included */

#define WIRE_MARK_WRITING UINT64_MAX

struct wire_mark {
    _Atomic uint64_t number;  /* 0: there was none yet; WIRE_MARK_WRITING: by one thread alone */
    _Atomic uint64_t time_ns; /* the daemon's CLOCK_MONOTONIC */
    char name[WIRE_MARK_ROOM];
};

/* A context that the program has asked the number of (hcct.h), or one of its callers: agent.
 * Entries are appended, from contexts_first on, and never changed. */
struct wire_context {
    uint64_t pc;     /* a return address, or one of these; 0: never used */
    uint32_t parent; /* the caller's, a lower number; of a root 0 */
    uint32_t module; /* of the module log, from 1 on, that the address is in; 0: in none */
};

#define WIRE_CONTEXT_EXACT  (1ull << 63) /* where a signal came: no return address */
#define WIRE_CONTEXT_THREAD (1ull << 61) /* the parent has created a thread, which begins here */
#define WIRE_CONTEXT_ROOT   (1ull << 60) /* no caller; the rest means nothing to others */

/* Bytes of a command's name, its NUL included; longer ones are cut. */
#define WIRE_COMMAND_ROOM 128

enum wire_control {
    WIRE_CONTROL_ON = 1u,   /* daemon: profile; otherwise the agent stays idle */
    WIRE_CONTROL_GONE = 2u, /* daemon: it ends, or has another session with this process; what is
                             * written from now on may be lost */
    WIRE_CONTROL_READ = 4u, /* daemon, as its last word: no ring of this session is read any more */
};

/* Time of threads for which the agent did not sample them, by the clock of samples, agent. */
struct wire_unsampled {
    _Atomic uint64_t lost_ns;    /* they were to be, but the daemon had fallen silent */
    _Atomic uint64_t unasked_ns; /* there was no daemon, or sampling was paused */
};

struct wire_session {
    /* written by the daemon before the agent sees it */
    uint64_t magic; /* WIRE_SESSION_MAGIC */
    uint32_t version;
    uint32_t pid;
    uint8_t pad0[WIRE_CACHE_LINE - 16];
    /* written by the daemon as it goes */
    _Atomic uint64_t heartbeat_ns; /* CLOCK_MONOTONIC, several times a second */
    _Atomic uint32_t control;      /* enum wire_control */
    _Atomic uint32_t rate;         /* samples per second of CPU time */
    _Atomic uint32_t slots_ready;
    _Atomic uint32_t modules_ready;
    _Atomic uint32_t max_frames; /* deeper stacks are cut at the root's end */
    uint32_t clock;              /* enum wire_clock, as asked */
    _Atomic uint64_t burst_length_ns, burst_period_ns;
    _Atomic uint64_t reading_ns; /* CPU time of the daemon for this process, under a budget */
    _Atomic uint32_t contexts_ready;
    uint8_t pad1[WIRE_CACHE_LINE - 60];
    /* written by the agent; its counters are those of counters.h */
    _Atomic uint32_t modules_used;
    _Atomic uint32_t slots_used; /* one more than the highest slot ever claimed */
#define IN_MEMORY_AGENT(member, type) _Atomic type member;
#define IN_MEMORY_DAEMON(member, type)
#define IN_MEMORY(member, by, shown, name, type) IN_MEMORY_##by(member, type)
    FIRST_PROCESS_COUNTERS(IN_MEMORY)
    _Atomic uint32_t signal; /* the signal in use */
    LATER_PROCESS_COUNTERS(IN_MEMORY)
#undef IN_MEMORY
#undef IN_MEMORY_DAEMON
#undef IN_MEMORY_AGENT
    char tags[TAGS_ROOM]; /* tags.h; before the first module is sent. Empty: none */
    _Atomic uint64_t
        lost_ns[WIRE_METRICS_MAX];   /* weights of samples of threads that found no slot */
    char command[WIRE_COMMAND_ROOM]; /* the name that the program was executed by, as tags. A slash
                                        before it: of a file or link, and no script. Empty: that of
                                        its file */
    _Atomic uint64_t lost; /* calls that stood in rings of earlier sessions and were never read */
    uint64_t earlier_ns;   /* CPU time of the process before it executed this program, as tags */
    uint64_t before_ns;    /* ... and after that, before this session; as tags */
    struct wire_unsampled between; /* since the last session of this program, until this one; as
                                    * tags */
    struct wire_unsampled after; /* since the agent has left this one: all of it is in `between` of
                                  * the next one, if there is one */
    uint32_t is_child;           /* 1: it is one itself, and has called no exec; as tags */
    _Atomic uint32_t left;   /* 1, as its last word: the agent has left a process that goes on */
    _Atomic uint64_t cpu_ns; /* CPU time of the process when it ended orderly; 0: not known */
    _Atomic uint32_t blocks_doubled; /* WIRE_BLOCKS_MEAN, so many times at most up to now */
    _Atomic uint32_t stopped;        /* 1: the program has asked not to be sampled (hcct.h) */
    _Atomic uint64_t marks;          /* that were set, ever */
    struct wire_mark mark[WIRE_MARKS];
    /* struct wire_context: the upper half of their numbers (0: there are none), the first entry of
     * this session, how many entries are asked for, and one more than the last that was sent */
    _Atomic uint32_t contexts_tag, contexts_first, contexts_wanted, contexts_used;
};

/* The first page of the table arena. */
struct wire_arena {
    /* daemon: its thread, as the owner of a robust futex (set_robust_list(2)): however that thread
     * ends, the kernel adds FUTEX_OWNER_DIED. 0: there are no such futexes here */
    _Atomic uint32_t daemon;
};

/* A child of fork attaches at its first sample, which costs a millisecond. One that calls exec soon
 * has used no more than a fraction of one: so one in many of them pays, where a sample of less
 * weight than this has it by a coin (WIRE_ATTACHED). */
#define WIRE_ATTACH_NS 20000000u

#define WIRE_HEARTBEAT_DEAD_NS 3000000000ull /* a daemon silent for so long is dead */

/* clang-format off */
/* ---- events ----
 *
 * A thread's ring is a stream of 64-bit words. The four highest bits are the verb, the rest its
 * operand; PUSH has one more word. A cursor in the tree starts at the root for each thread.
 *
 *   POP n             the n innermost frames are gone
 *   PUSH routine site a frame was entered. routine: the function's entry, for walks the start of
 *                     the unwind entry that covers the pc. site (second word, raw): the return
 *                     address in the caller, 0 for an outermost frame. A routine below
 *                     WIRE_PSEUDO_MAX is a mark, not an address; one of WIRE_SYSTEM_CALL and a number
 *                     is that system call, which the frame above has made. One of WIRE_PYTHON and
 *                     the address of a code object is a function of Python, and so is a site. One of
 *                     WIRE_NAME or WIRE_LABEL enters nothing
 *   PUSH LEAF_PC pc   one level more, innermost, where lines were asked for (WIRE_HELLO_LINES): no
 *                     routine, but the pc in the one under the cursor at which the thread was
 *                     interrupted. It is popped as a frame is
 *   PUSH NAME n code  the function of Python whose code object stands at `code`, or the label of
 *                     that number (WIRE_LABEL), goes by a name of n bytes from here on, which
 *                     follow, eight to a word. The cursor does not move
 *   PUSH LABEL n      n words follow, each the number of a label: those that the thread has from
 *                     here on, outermost first, in place of those that it had. They stand at the
 *                     root of its contexts, above frames that PUSH enters, of which there are none
 *                     now; POP does not count them. Contexts of RAW_STACK begin with them, too
 *   CREDIT w          weight w (for walks: ns of CPU time) to the context under the cursor. With
 *                     WIRE_SAME_BURST in w, the sample is of the burst of the one before; with
 *                     WIRE_ATTACHED, a child of fork has attached by it, as a coin said: it stands
 *                     for others, which had none; with WIRE_STEPS, its weight is that of the points
 *                     that were reached, one or several: it stands for no others
 *   MAP g             addresses from here on are those of generation g of the module log
 *   REPEAT n          the frame under the cursor was entered n times more (recursion): n times the
 *                     PUSH that made it
 *   BURST k           a burst of calls begins: what is credited from here on counts k times, as k
 *                     such bursts would see it together (1 at first)
 *   BLOCK number      where the heap is sampled, in place of CODE: what is credited next is that
 *                     block (struct wire_block). Where all allocations are: it was drawn so,
 *                     WIRE_DRAWN
 *   CODE base         routines and sites of CALL events are offsets from there on
 *   CALL routine site as POP n, PUSH and CREDIT 1, in one word. Its highest bit alone is the verb;
 *                     n has 7 bits, each offset 28
 *   RAW_STACK w       weight w, as of CREDIT, to a context that the daemon finds by unwinding a
 *                     copy of the stack. The cursor does not move. Raw words follow:
 *                     WIRE_RAW_STACK_SIZES, the pc, the address at which unwinding goes on, which
 *                     registers are known there (bit n: the one of DWARF number n), all registers
 *                     by DWARF number, the frames that the agent has found below that
 *                     address (routine and site of each, innermost first), and a copy of the stack,
 *                     from the stack pointer up. Without such frames unwinding begins at the pc;
 *                     with them the address is a return address,
 *                     unless the only one is a system call
 */
/* clang-format on */
#define WIRE_VERB_SHIFT   60
#define WIRE_OPERAND_MASK ((1ull << WIRE_VERB_SHIFT) - 1)
#define WIRE_SAME_BURST   (1ull << 59) /* of a CREDIT or RAW_STACK; the weight is the rest */
#define WIRE_ATTACHED     (1ull << 58) /* the same */
#define WIRE_STEPS        (1ull << 57) /* the same */
#define WIRE_WEIGHT_BITS  57
#define WIRE_WEIGHT_MASK  (WIRE_STEPS - 1)
#define WIRE_CALL         (1ull << 63)
#define WIRE_POPS_SHIFT   56 /* of a CALL */
#define WIRE_POPS_MAX     127u
#define WIRE_CODE_SHIFT   28 /* of its routine; the site is in the lowest bits */
#define WIRE_CODE_BYTES   (1ull << WIRE_CODE_SHIFT)

#define WIRE_BURST_MAX 1000000u /* k of a BURST, which is at least 1: no word of zeros is one */

enum wire_verb {
    WIRE_BURST = 0,
    WIRE_POP = 1,
    WIRE_PUSH = 2,
    WIRE_CREDIT = 3,
    WIRE_MAP = 4,
    WIRE_REPEAT = 5,
    WIRE_RAW_STACK = 6,
    WIRE_CODE = 7,
    WIRE_BLOCK = WIRE_CODE,
};

/* Numbers of frames, of registers, and of words of the stack. */
#define WIRE_RAW_STACK_SIZES(frames, registers, stack)                                             \
    ((uint64_t)(frames) << 48 | (uint64_t)(uint16_t)(registers) << 32 | (uint32_t)(stack))
#define WIRE_RAW_STACK_FRAMES(sizes)    ((uint32_t)((sizes) >> 48))
#define WIRE_RAW_STACK_REGISTERS(sizes) ((uint32_t)(uint16_t)((sizes) >> 32))
#define WIRE_RAW_STACK_WORDS(sizes)     ((uint32_t)(sizes))
#define WIRE_RAW_STACK_FRAMES_MAX       512u
#define WIRE_RAW_STACK_MAX              7168u /* words of a stack that are copied at most */

/* In the place of a routine: a system call of the machine's kernel, by its number. The site is
 * behind the instruction that made it, 0: not known. */
#define WIRE_SYSTEM_CALL  (1ull << 59)
#define WIRE_SYSTEM_CALLS 1024u /* numbers are below */
#define WIRE_SYSTEM_CALL_UNKNOWN                                                                   \
    WIRE_SYSTEM_CALLS /* but this one: it is not known which                                       \
                       */

static inline bool wire_is_system_call(uint64_t routine) {
    return (routine & WIRE_SYSTEM_CALL) != 0;
}

/* In the place of a routine, or of a site: an interpreter's function, by the address of its code
 * object. Its name comes before, as NAME. */
#define WIRE_PYTHON   (1ull << 58)
#define WIRE_NAME     (1ull << 57) /* in the place of a routine: the rest is the name's bytes */
#define WIRE_NAME_MAX 256u         /* so many at most */

static inline bool wire_is_python(uint64_t word) {
    return (word & ~(WIRE_PYTHON - 1)) == WIRE_PYTHON;
}

static inline bool wire_is_name(uint64_t routine) {
    return (routine & ~(WIRE_NAME - 1)) == WIRE_NAME;
}

/* In the place of a routine: the rest is how many labels a thread has. In the place of a code
 * object that is named, or of a frame's routine: the rest is a label's number. */
#define WIRE_LABEL      (1ull << 56)
#define WIRE_LABELS     4u    /* of a thread, at most */
#define WIRE_LABEL_IDS  1024u /* numbers are below; 0 is none */
#define WIRE_LABEL_ROOM 120u  /* bytes of a label, its NUL included */

static inline bool wire_is_label(uint64_t routine) {
    return (routine & ~(WIRE_LABEL - 1)) == WIRE_LABEL;
}

/* In the place of a routine: the second word is the pc itself, not a return address. */
#define WIRE_LEAF_PC 0u

/* Marks that stand in the place of a routine, outermost, where a walk did not reach the root. */
enum wire_pseudo {
    WIRE_PSEUDO_TRUNCATED = 1, /* deeper than the limit */
    WIRE_PSEUDO_NO_MODULE = 2, /* as the counters above */
    WIRE_PSEUDO_NO_RULE = 3,
    WIRE_PSEUDO_BAD_STACK = 4,
    WIRE_PSEUDO_SHORT_COPY = 5, /* of a stack that was copied: it goes on above the copy */
    WIRE_PSEUDO_LOST = 6,       /* all of it: of a block that is there, in any context */
    WIRE_PSEUDO_MAX = 16,
};

static inline uint64_t wire_word(enum wire_verb verb, uint64_t operand) {
    return (uint64_t)verb << WIRE_VERB_SHIFT | (operand & WIRE_OPERAND_MASK);
}

/* Each operand is known to fit. */
static inline uint64_t wire_call(uint64_t pops, uint64_t routine, uint64_t site) {
    return WIRE_CALL | pops << WIRE_POPS_SHIFT | routine << WIRE_CODE_SHIFT | site;
}

_Static_assert(sizeof(struct wire_hello) == 64,
               "hello is 64 bytes: those of other versions are, too");
_Static_assert(sizeof(struct wire_welcome) == 64, "welcome is 64 bytes");
_Static_assert(offsetof(struct wire_slot, counter) == 3 * WIRE_CACHE_LINE, "slot header");
_Static_assert(sizeof(struct wire_slot) % WIRE_CACHE_LINE == 0, "ring begins on a cache line");
_Static_assert(sizeof(struct wire_module) == WIRE_MODULE_BYTES, "module record");
_Static_assert(sizeof(struct wire_block) * WIRE_BLOCKS == WIRE_BLOCKS_BYTES &&
                   WIRE_BLOCKS == 1u << WIRE_BLOCKS_SHIFT,
               "block table");
_Static_assert(sizeof(struct wire_context) == 16, "context record");
_Static_assert(WIRE_SLOT_BYTES % WIRE_PAGE_MOST == 0 && WIRE_CALLS_BYTES % WIRE_PAGE_MOST == 0,
               "a slot can be mapped by itself");
_Static_assert(sizeof(struct wire_session) <= WIRE_HEADER_BYTES, "session header");
_Static_assert(sizeof(struct wire_arena) <= WIRE_PAGE, "arena header");

#endif
